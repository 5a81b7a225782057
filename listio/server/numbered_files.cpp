#include "listio/server/numbered_files.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "listio/server/shards.hpp"
#include "listio/server/small_files.hpp"

namespace strider::listio {
namespace {

constexpr rlim_t fewest_open = 8, most_open = 16384;

}  // namespace

// --- open files ---

std::size_t OpenFiles::files_to_keep_open() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return fewest_open;
  return std::clamp(limit.rlim_cur / 4, fewest_open, most_open);
}

OpenFiles::Handle OpenFiles::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(key);
  if (found == files_.end()) return {};
  order_.splice(order_.begin(), order_, found->second);
  return found->second->second;
}

OpenFiles::Handle OpenFiles::keep(const Key& key, Descriptor descriptor) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(key);
  if (found != files_.end()) return found->second->second;  // another thread opened it first
  order_.emplace_front(key, std::make_shared<const Descriptor>(std::move(descriptor)));
  files_[key] = order_.begin();
  if (order_.size() > most_) close_last();
  return order_.front().second;
}

bool OpenFiles::close_half() {
  const std::lock_guard lock(mutex_);
  const std::size_t kept = order_.size() / 2;
  if (order_.empty()) return false;
  while (order_.size() > kept) close_last();
  return true;
}

void OpenFiles::forget(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(key);
  if (found == files_.end()) return;
  order_.erase(found->second);
  files_.erase(found);
}

void OpenFiles::close_last() {
  files_.erase(order_.back().first);
  order_.pop_back();
}

// --- files of a folder ---

NumberedFiles::NumberedFiles(int parent, const char* name, std::shared_ptr<OpenFiles> open)
    : name_(name), open_(std::move(open)) {
  is_new_ = ::mkdirat(parent, name, 0700) == 0;
  if ((!is_new_ && errno != EEXIST) || (is_new_ && ::fsync(parent) != 0))
    throw std::system_error(errno, std::generic_category(), "making the folder " + name_);
  folder_ = Descriptor(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) throw std::system_error(errno, std::generic_category(), "opening the folder " + name_);
}

std::string NumberedFiles::name_of(FileId file) const { return name_ + "/" + shard_path(file); }

Errno NumberedFiles::open(FileId file, int flags, OpenFiles::Handle& handle) {
  const OpenFiles::Key key{this, file};
  handle = open_->find(key);
  if (handle) return 0;
  const std::string path = shard_path(file);
  const int all = flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  Descriptor descriptor = open_path(path, all);
  if (!descriptor && errno == ENOENT && (flags & O_CREAT) != 0) {
    const std::lock_guard lock(mutex_);  // a sync that sees the folder knows of it
    if (::mkdirat(folder_.get(), shard_name(shard_number(file)).c_str(), 0700) != 0 && errno != EEXIST) return errno;
    ++shards_made_;
    descriptor = open_path(path, all);
  }
  if (!descriptor) return errno;
  handle = open_->keep(key, std::move(descriptor));
  return 0;
}

/// Where descriptors are short, files that are open for later are closed.
Descriptor NumberedFiles::open_path(const std::string& path, int flags) {
  for (;;) {
    Descriptor descriptor(::openat(folder_.get(), path.c_str(), flags, 0600));
    if (descriptor || (errno != EMFILE && errno != ENFILE)) return descriptor;
    const int error = errno;
    if (!open_->close_half()) {
      errno = error;
      return descriptor;
    }
  }
}

Errno NumberedFiles::stat(FileId file, struct stat& found) const {
  return ::fstatat(folder_.get(), shard_path(file).c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0 ? errno : 0;
}

Errno NumberedFiles::sync_bytes(FileId file) {
  OpenFiles::Handle handle;
  const Errno error = open(file, 0, handle);
  if (error != 0) return error == ENOENT ? 0 : error;
  if (const Errno failure = earlier_failure(file); failure != 0) return failure;
  if (::fdatasync(handle->get()) == 0) return 0;
  const Errno failure = errno;
  const std::lock_guard lock(mutex_);
  failed_[file] = failure;
  return failure;
}

Errno NumberedFiles::earlier_failure(FileId file) {
  const std::lock_guard lock(mutex_);
  const auto found = failed_.find(file);
  return found == failed_.end() ? 0 : found->second;
}

Errno NumberedFiles::sync_name(FileId file) {
  // If nothing has changed there this is next to nothing.
  const Descriptor shard(
      ::openat(folder_.get(), shard_name(shard_number(file)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!shard) return errno == ENOENT ? 0 : errno;
  std::uint64_t made = 0;
  {
    const std::lock_guard lock(mutex_);
    if (folders_failed_ != 0) return folders_failed_;
    made = shards_made_;
  }
  if (::fsync(shard.get()) != 0 || (made != shards_synced_ && ::fsync(folder_.get()) != 0)) {
    const Errno failure = errno;
    const std::lock_guard lock(mutex_);
    return folders_failed_ = failure;
  }
  shards_synced_ = made;
  return 0;
}

Errno NumberedFiles::set_time(FileId file, std::int64_t modified_ns) {
  const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, time_of(modified_ns)};
  const int done = ::utimensat(folder_.get(), shard_path(file).c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
  return done != 0 && errno != ENOENT ? errno : 0;
}

Errno NumberedFiles::remove(FileId file) {
  open_->forget({this, file});
  {
    const std::lock_guard lock(mutex_);
    failed_.erase(file);
  }
  return ::unlinkat(folder_.get(), shard_path(file).c_str(), 0) != 0 && errno != ENOENT ? errno : 0;
}

Errno NumberedFiles::list(unsigned shard, std::vector<FileId>& files) const {
  Descriptor folder(::openat(folder_.get(), shard_name(shard).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return errno == ENOENT ? 0 : errno;
  const Errno error = each_name(std::move(folder), [&](std::string_view name) {
    FileId file = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), file, 16);
    if (read.ptr == name.data() + name.size() && file != 0) files.push_back(file);
  });
  if (error != 0) return error;
  std::sort(files.begin(), files.end());
  return 0;
}

DataStat data_stat_of(const struct stat& found) {
  return {static_cast<std::uint64_t>(found.st_size), ns_of(found.st_mtim)};
}

}  // namespace strider::listio
