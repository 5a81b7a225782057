#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "listio/client/client.hpp"
#include "listio/mount/locks.hpp"
#include "listio/mount/nodes.hpp"

struct fuse_lowlevel_ops;

namespace strider::listio {

/// Data of a mount in the kernel's page cache: none, so that all mounts see all completed writes; or data that
/// was read since a file was opened, so that they see files closed before.
enum class Caching { none, until_open };

struct MountOptions {
  Caching caching = Caching::none;
  /// Where the free space of the volume is looked up: a directory of the file system that keeps its data.
  std::filesystem::path space;
  Spreading spreading = {};  ///< of new files
};

/// A volume as a file system of the kernel: the operations for the requests of FUSE. One thread calls it.
///
/// A file that is removed while this mount has it open stays under a hidden name in the root directory, which is
/// removed when it is closed; a mount that is killed leaves it there. Other mounts find such a file gone.
class FileSystem {
 public:
  FileSystem(Client& client, MountOptions options);

  /// The callbacks of libfuse; their user data is a FileSystem.
  static const fuse_lowlevel_ops& operations();

  Client& client;
  const MountOptions options;
  Nodes nodes;
  /// Of the numbers of nodes, so that a handle (name_to_handle_at) of an earlier mount does not open another file.
  const std::uint32_t generation = std::random_device()();
  MountLocks locks{client};

  /// The type of a node now, and its path, even if another mount or client has renamed it. IoError: ESTALE of a file
  /// that was removed, ENOENT of a directory.
  struct Found {
    std::string path;
    FileStat stat;
  };
  Found look(Nodes::Number node);
  /// Of a file that this mount has open and that has no name any more: as it was, with the size that it has now.
  std::optional<FileStat> look_nameless(Nodes::Number node);
  static Nodes::Identity identity_of(const FileStat& found) {
    return {found.id != 0 ? found.id : found.inode, found.kind};
  }

  /// An open file.
  struct Handle {
    File file;
    Nodes::Number node = 0;
    FileStat stat{};                ///< when it was opened
    bool has_lost_data = false;     ///< which no sync of this handle has reported
    std::uint64_t name_losses = 0;  ///< those that were found when it was opened, or have been reported
  };
  std::uint64_t opened(File file, Nodes::Number node, const FileStat& stat);
  Handle& handle(std::uint64_t number) { return handles_.at(number); }
  /// Removes the file too if its name was removed before.
  void closed(std::uint64_t number);

  // A sync finds lost changes once. Each handle that is open then reports them, to its next sync, as the kernel does it
  // with errors of writing to a disk: with EIO, once.

  void sync_file(Handle& handle);
  /// `name_losses`: of an open directory, as in `Handle`.
  void sync_names(std::uint64_t& name_losses);
  /// How many syncs have found lost names.
  std::uint64_t name_losses() const { return name_losses_; }

  /// Also of files that are open here.
  void unlink(const std::string& path);
  void rename(const std::string& from, const std::string& to);
  /// Whether it is the hidden name of a removed file.
  static bool is_aside(const std::string& path);

  /// Memory for one read, until the next one.
  std::span<std::byte> buffer(std::size_t bytes);

 private:
  void remember(const LostChanges& lost, FileId file);
  /// Moves an open file to a hidden name, which is returned.
  std::string put_aside(const std::string& path);

  std::vector<std::byte> buffer_;
  std::map<std::uint64_t, Handle> handles_;
  std::uint64_t next_handle_ = 1;
  std::uint64_t name_losses_ = 0;
  std::optional<LostChanges> lost_;  ///< the last finding
  std::set<std::string> asides_;     ///< hidden names that this mount has made
};

}  // namespace strider::listio
