#pragma once
#include <cstdint>
#include <string>

#include "foundation/descriptor.hpp"
#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// Where a server may begin: anywhere, or only where it has kept something before.
enum class Folder { any, existing };

/// Whether data files have checksums.
enum class Checksums { off, crc32c };
const char* name_of(Checksums checksums);

/// The owner of a folder, and its content.
struct Label {
  VolumeState volume;
  std::uint32_t number = 0, servers = 1;
  Checksums checksums = Checksums::off;
  std::uint32_t copies = 1;
  std::uint32_t replaced = 0;  ///< how often an empty folder took the place of the server's
  bool operator==(const Label&) const = default;
};

/// The folder in which a server keeps everything: made, locked and labelled on first use; afterwards only good for the
/// same server of the same volume, in the state in which the volume's last start left it. The lock lasts as long as
/// the object.
class ServerFolder {
 public:
  /// `directory`/server-NUMBER, labelled with `label` from now on. InputError if it cannot be made or read, is of
  /// another volume, server or number of servers, with other checksums, of another start than the one before `label`'s,
  /// or has a damaged label; if another server uses it; or if it is to exist and does not. With `Folder::any`, a first
  /// start takes a folder in which the first start of another volume has kept nothing.
  ServerFolder(const std::string& directory, const Label& label, Folder folder);
  int descriptor() const { return folder_.get(); }
  const std::string& path() const { return path_; }

 private:
  void lock();
  void check(const std::string& text, const Label& wanted, Folder folder) const;
  /// Whether nothing was ever kept in it.
  bool is_unused() const;
  void write(const Label& label) const;

  std::string path_;
  Descriptor folder_, label_;
};

}  // namespace strider::listio
