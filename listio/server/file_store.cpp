#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <list>
#include <mutex>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "foundation/descriptor.hpp"
#include "foundation/whole_transfer.hpp"
#include "listio/server/data_store.hpp"
#include "listio/server/file_calls.hpp"

namespace strider::listio {
namespace {

constexpr rlim_t fewest_open = 8, most_open = 16384;
constexpr unsigned shards = 256;
constexpr std::size_t page_files = 2000;  // 16 bytes each: fits into a message

std::string shard_of(FileId file) {
  char text[8];
  std::snprintf(text, sizeof text, "%02x", static_cast<unsigned>(file % shards));
  return text;
}

std::string path_of(FileId file) {
  char text[32];
  std::snprintf(text, sizeof text, "%02x/%016llx", static_cast<unsigned>(file % shards),
                static_cast<unsigned long long>(file));
  return text;
}

/// How many data files stay open: a quarter of the descriptors that the process may have; connections need others.
std::size_t files_to_keep_open() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return fewest_open;
  return std::clamp(limit.rlim_cur / 4, fewest_open, most_open);
}

/// Open data files, the most recently used ones. A file stays open as long as somebody holds it.
class OpenFiles {
 public:
  using Handle = std::shared_ptr<const Descriptor>;

  Handle find(FileId file) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(file);
    if (found == files_.end()) return {};
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }
  Handle keep(FileId file, Descriptor descriptor) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(file);
    if (found != files_.end()) return found->second->second;  // somebody was faster
    order_.emplace_front(file, std::make_shared<const Descriptor>(std::move(descriptor)));
    files_[file] = order_.begin();
    if (order_.size() > most_) close_last();
    return order_.front().second;
  }
  /// Closes those that were not used for longest, the half of all. False where there is none.
  bool close_half() {
    const std::lock_guard lock(mutex_);
    const std::size_t kept = order_.size() / 2;
    if (order_.empty()) return false;
    while (order_.size() > kept) close_last();
    return true;
  }
  void forget(FileId file) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(file);
    if (found == files_.end()) return;
    order_.erase(found->second);
    files_.erase(found);
  }

 private:
  using Order = std::list<std::pair<FileId, Handle>>;
  void close_last() {
    files_.erase(order_.back().first);
    order_.pop_back();
  }

  const std::size_t most_ = files_to_keep_open();
  std::mutex mutex_;
  Order order_;  ///< most recently used first
  std::unordered_map<FileId, Order::iterator> files_;
};

class FileStore final : public DataStore {
 public:
  explicit FileStore(int folder) {
    const bool made = ::mkdirat(folder, "data", 0700) == 0;
    if ((!made && errno != EEXIST) || (made && ::fsync(folder) != 0))
      throw std::system_error(errno, std::generic_category(), "making the folder data");
    data_ = Descriptor(::openat(folder, "data", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!data_) throw std::system_error(errno, std::generic_category(), "opening the folder data");
  }

  Errno read(FileId file, std::span<const ByteRun> runs, std::span<std::byte> buffer, Extent& extent) override {
    OpenFiles::Handle handle;
    const Errno error = open(file, 0, handle);
    if (error != 0 && error != ENOENT) return error;
    FileCalls plan(runs, buffer);
    for (FileCall& call : plan.calls()) {
      const Transferred read = handle ? move(::preadv, *handle, call) : Transferred{};
      read_bytes_ += read.bytes;
      if (read.error_number != 0) return read.error_number;
      if (read.bytes == call.bytes) continue;
      extent = Extent::beyond_end;
      for (const iovec& piece : call.pieces) std::memset(piece.iov_base, 0, piece.iov_len);
    }
    return 0;
  }

  Errno write(FileId file, std::span<const ByteRun> runs, std::span<std::byte> buffer) override {
    OpenFiles::Handle handle;
    const Errno error = open(file, O_CREAT, handle);
    if (error != 0) return error;
    FileCalls plan(runs, buffer);
    for (FileCall& call : plan.calls()) {
      const Transferred written = move(::pwritev, *handle, call);
      written_bytes_ += written.bytes;
      if (written.error_number != 0) return written.error_number;
      if (written.bytes < call.bytes) return EIO;
    }
    return 0;
  }

  Errno sync(FileId file) override {
    OpenFiles::Handle handle;
    const Errno error = open(file, 0, handle);
    if (error != 0) return error == ENOENT ? 0 : error;
    if (::fdatasync(handle->get()) != 0) return errno;
    // That the file is there at all stands in its folder. If nothing has changed there this is next to nothing.
    const Descriptor shard(::openat(data_.get(), shard_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!shard || ::fsync(shard.get()) != 0) return errno;
    const std::uint64_t made = shards_made_;
    if (made == shards_synced_) return 0;
    if (::fsync(data_.get()) != 0) return errno;
    shards_synced_ = made;
    return 0;
  }

  Errno stat(FileId file, DataStat& stat) override {
    struct stat found{};
    if (::fstatat(data_.get(), path_of(file).c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
      stat = {};
      return errno == ENOENT ? 0 : errno;
    }
    stat.bytes = static_cast<std::uint64_t>(found.st_size);
    stat.modified_ns = ns_of(found.st_mtim);
    return 0;
  }

  Errno truncate(FileId file, std::uint64_t bytes) override {
    OpenFiles::Handle handle;
    const Errno error = open(file, bytes > 0 ? O_CREAT : 0, handle);
    if (error != 0) return error == ENOENT ? 0 : error;
    return ::ftruncate(handle->get(), static_cast<off_t>(bytes)) != 0 ? errno : 0;
  }

  Errno set_time(FileId file, std::int64_t modified_ns) override {
    const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, time_of(modified_ns)};
    if (::utimensat(data_.get(), path_of(file).c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
      return errno;
    return 0;
  }

  Errno remove(FileId file) override {
    files_.forget(file);
    if (::unlinkat(data_.get(), path_of(file).c_str(), 0) != 0 && errno != ENOENT) return errno;
    return 0;
  }

  /// By shard, and by number in each; the cookie is the last one.
  Errno list(std::uint64_t cookie, DataPage& page) override {
    for (auto shard = static_cast<unsigned>(cookie % shards); shard < shards; ++shard) {
      std::vector<FileId> files;
      const Errno error = list_shard(shard, files);
      if (error != 0) return error;
      const bool begun = cookie != 0 && shard == cookie % shards;
      for (const FileId file : files) {
        if (begun && file <= cookie) continue;
        DataStat found;
        if (const Errno failed = stat(file, found); failed != 0) return failed;
        page.files.push_back({file, found.bytes});
        page.cookie = file;
        if (page.files.size() == page_files) return 0;
      }
    }
    page.cookie = 0;
    return 0;
  }

  Counters counters() const override { return {read_bytes_, written_bytes_, calls_}; }

 private:
  /// What was not moved stays in the call's pieces.
  template <typename Vectored>
  Transferred move(const Vectored& vectored, const Descriptor& file, FileCall& call) {
    return transfer_pieces(call.pieces, call.offset, [&](const iovec* first, int count, std::uint64_t offset) {
      ++calls_;
      return moved_or_error(vectored(file.get(), first, count, static_cast<off_t>(offset)));
    });
  }

  Errno open(FileId file, int flags, OpenFiles::Handle& handle) {
    handle = files_.find(file);
    if (handle) return 0;
    const std::string path = path_of(file);
    const int all = flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    Descriptor descriptor = open_path(path, all);
    if (!descriptor && errno == ENOENT && (flags & O_CREAT) != 0) {
      if (::mkdirat(data_.get(), shard_of(file).c_str(), 0700) != 0 && errno != EEXIST) return errno;
      ++shards_made_;
      descriptor = open_path(path, all);
    }
    if (!descriptor) return errno;
    handle = files_.keep(file, std::move(descriptor));
    return 0;
  }

  /// Where descriptors are short, data files that are open for later are closed.
  Descriptor open_path(const std::string& path, int flags) {
    for (;;) {
      Descriptor descriptor(::openat(data_.get(), path.c_str(), flags, 0600));
      if (descriptor || (errno != EMFILE && errno != ENFILE)) return descriptor;
      const int error = errno;
      if (!files_.close_half()) {
        errno = error;
        return descriptor;
      }
    }
  }

  Errno list_shard(unsigned shard, std::vector<FileId>& files) const {
    const int descriptor = ::openat(data_.get(), shard_of(shard).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return errno == ENOENT ? 0 : errno;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(descriptor), ::closedir);
    if (!folder) return errno;
    while (const dirent* entry = ::readdir(folder.get())) {
      const std::string_view name = entry->d_name;
      FileId file = 0;
      const auto read = std::from_chars(name.data(), name.data() + name.size(), file, 16);
      if (read.ptr == name.data() + name.size() && file != 0) files.push_back(file);
    }
    std::sort(files.begin(), files.end());
    return 0;
  }

  Descriptor data_;
  OpenFiles files_;
  /// A server that ended before may have left shards that were not synced.
  std::atomic<std::uint64_t> shards_made_ = 1, shards_synced_ = 0;
  std::atomic<std::uint64_t> read_bytes_ = 0, written_bytes_ = 0, calls_ = 0;
};

}  // namespace

std::unique_ptr<DataStore> make_file_store(int folder) { return std::make_unique<FileStore>(folder); }

}  // namespace strider::listio
