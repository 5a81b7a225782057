#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "foundation/descriptor.hpp"
#include "foundation/whole_transfer.hpp"
#include "listio/server/data_store.hpp"
#include "listio/server/file_calls.hpp"

namespace strider::listio {

/// Open files, the most recently used ones of a server: a quarter of the descriptors that the process may have, since
/// connections need others. A file stays open as long as a caller holds it. For several threads at once.
class OpenFiles {
 public:
  using Handle = std::shared_ptr<const Descriptor>;
  /// Which folder, and which file in it.
  struct Key {
    const void* folder = nullptr;
    FileId file = 0;
    bool operator==(const Key&) const = default;
  };

  Handle find(const Key& key);
  Handle keep(const Key& key, Descriptor descriptor);
  /// Closes those that were not used for longest, the half of all. False where there is none.
  bool close_half();
  void forget(const Key& key);

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.folder) ^ std::hash<FileId>()(key.file);
    }
  };
  using Order = std::list<std::pair<Key, Handle>>;
  void close_last();
  static std::size_t files_to_keep_open();

  const std::size_t most_ = files_to_keep_open();
  std::mutex mutex_;
  Order order_;  ///< most recently used first
  std::unordered_map<Key, Order::iterator, Hash> files_;
};

/// Plain files by number: NAME/XX/XXXXXXXXXXXXXXXX, where XX are the last two of the 16 hexadecimal digits of the
/// file's number. For several threads at once.
class NumberedFiles {
 public:
  /// In the open directory `parent`. std::system_error if the folder cannot be made.
  NumberedFiles(int parent, const char* name, std::shared_ptr<OpenFiles> open);

  /// For reading and writing, with further `flags` of open(2). ENOENT if it is not there.
  Errno open(FileId file, int flags, OpenFiles::Handle& handle);
  /// ENOENT if it is not there.
  Errno stat(FileId file, struct stat& found) const;
  // Stable storage has its bytes, and that it is there. Nothing to do for a file that is not there.

  /// Once this has failed, the kernel may have dropped data: it fails for that file until it is removed.
  Errno sync_bytes(FileId file);
  /// As `sync_bytes`, but once this has failed, it fails for all files.
  Errno sync_name(FileId file);
  Errno set_time(FileId file, std::int64_t modified_ns);
  Errno remove(FileId file);
  /// In increasing order.
  Errno list(unsigned shard, std::vector<FileId>& files) const;
  /// Whether the folder was made, and had no files before.
  bool is_new() const { return is_new_; }
  /// As in messages: data/XX/XXXXXXXXXXXXXXXX.
  std::string name_of(FileId file) const;

 private:
  Descriptor open_path(const std::string& path, int flags);
  Errno earlier_failure(FileId file);

  std::string name_;
  Descriptor folder_;
  bool is_new_ = false;
  std::shared_ptr<OpenFiles> open_;
  /// A server that ended before may have left shards that were not synced.
  std::atomic<std::uint64_t> shards_made_ = 1, shards_synced_ = 0;
  std::mutex mutex_;
  std::unordered_map<FileId, Errno> failed_;  ///< files whose sync has failed, and how
  Errno folders_failed_ = 0;
};

/// Bytes that a store has moved, and the number of system calls.
struct Moved {
  std::atomic<std::uint64_t> read_bytes = 0, written_bytes = 0, calls = 0;
};

/// Reads or writes contiguous bytes of a file by `vectored`, preadv or pwritev. The rest stays in `pieces`.
template <typename Vectored>
Transferred move(const Vectored& vectored, const Descriptor& file, std::span<iovec>& pieces, std::uint64_t offset,
                 Moved& moved) {
  return transfer_pieces(pieces, offset, [&](const iovec* first, int count, std::uint64_t at) {
    ++moved.calls;
    return moved_or_error(vectored(file.get(), first, count, static_cast<off_t>(at)));
  });
}

/// Of a data file that is there.
DataStat data_stat_of(const struct stat& found);

}  // namespace strider::listio
