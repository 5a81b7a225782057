#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

namespace strider {

/// The directory that a run was given, as its starter found it: another user who may write to the target can put a
/// directory of the same name and the same marker in its place.
struct FolderIdentity {
  std::optional<uid_t> owner;
  std::optional<ino_t> inode;
  std::optional<dev_t> device;
  std::string host;  ///< of the starter: the name of the host and its boot id, "NAME/BOOT"; empty: unknown

  /// Reads "OWNER:INODE:DEVICE:HOST", of which each part may be empty. Throws InputError.
  static FolderIdentity parse(const std::string& text);
};

/// Whether the client of a file system numbers files itself: FUSE, SMB, 9P. Two hosts see different numbers of one file
/// then, and one host other numbers later.
bool has_numbers_of_its_client(const std::string& path);

/// How an open directory differs from the one that a run was given; empty where it does not.
std::string difference_from(const FolderIdentity& identity, int directory);

}  // namespace strider
