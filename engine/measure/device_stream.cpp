#include "measure/device_stream.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "foundation/clock.hpp"
#include "foundation/error.hpp"
#include "foundation/random.hpp"
#include "foundation/units.hpp"
#include "measure/page_cache.hpp"

namespace strider {
namespace {

constexpr std::uint64_t request_bytes = mib;
/// Requests in flight, so that the way to the device does not count with each.
constexpr unsigned streams = 4;
constexpr std::uint64_t most_bytes = 1024 * mib, most_buffered_bytes = 256 * mib, first_bytes = 8 * mib;
/// Of the free space, all streams together take no more than one part in so many.
constexpr std::uint64_t parts_of_space = 8;
constexpr std::align_val_t alignment{4096};

enum class Way { write, read };
enum class Caching { direct, buffered };

/// A file that is gone with the object.
class TemporaryFile {
 public:
  TemporaryFile(const DeviceStreamOptions& options, Caching caching)
      : folder_(options.folder),
        file_(open_file(folder_, options.path, O_RDWR | O_CREAT | O_TRUNC | flags(caching), 0600)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    const std::string path = file_.path();
    {
      const OpenFile closed = std::move(file_);
    }  // first: NFS keeps the name of an open file
    try {
      remove_file(folder_, path);
    } catch (const IoError&) {  // it goes with the folder
    }
  }
  int get() const { return file_.get(); }
  const std::string& path() const { return file_.path(); }
  void sync() const { file_.sync(); }

 private:
  static int flags(Caching caching) { return caching == Caching::direct ? O_DIRECT : 0; }
  RunFolder* folder_;
  OpenFile file_;
};

struct StreamAmount {
  std::uint64_t bytes = 0;
  double seconds = 0;
  double mib_s() const { return seconds > 0 ? static_cast<double>(bytes) / mib / seconds : 0; }
};

/// What the threads of a stream share.
struct Stream {
  const TemporaryFile& file;
  const DeviceStreamOptions& options;
  Way way;
  std::uint64_t size;  ///< the file from its beginning to here
  std::uint64_t end_ns;
  std::atomic<std::uint64_t> next{0}, bytes{0};
  std::atomic<int> error{0};
};

std::uint64_t data_word(std::uint64_t number) { return hash_numbers(number, 0x5eed); }

/// Takes the next request of the file again and again.
void move_requests(Stream& stream) {
  const auto release = [](std::byte* memory) { ::operator delete[](memory, alignment); };
  const std::unique_ptr<std::byte[], decltype(release)> memory(
      static_cast<std::byte*>(::operator new[](request_bytes, alignment)), release);
  // Noise, which no device can shorten.
  auto* words = reinterpret_cast<std::uint64_t*>(memory.get());
  for (std::uint64_t i = 0; i < request_bytes / sizeof *words; ++i) words[i] = data_word(i + stream.next);
  while (stream.error == 0 && monotonic_ns() < stream.end_ns && stream.options.go_on()) {
    const std::uint64_t offset = stream.next.fetch_add(request_bytes);
    if (offset >= stream.size) return;
    words[0] = offset;
    const auto place = static_cast<off_t>(offset);
    const ssize_t moved = stream.way == Way::write ? ::pwrite(stream.file.get(), memory.get(), request_bytes, place)
                                                   : ::pread(stream.file.get(), memory.get(), request_bytes, place);
    if (moved < 0) stream.error = errno;
    else stream.bytes += static_cast<std::uint64_t>(moved);
    if (moved >= 0 && static_cast<std::uint64_t>(moved) < request_bytes) return;
  }
}

StreamAmount move(const TemporaryFile& file, const DeviceStreamOptions& options, Way way, std::uint64_t size,
                  double seconds) {
  const std::uint64_t begin = monotonic_ns();
  Stream stream{file, options, way, size, begin + static_cast<std::uint64_t>(seconds * 1e9)};
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < streams; ++i) others.emplace_back(move_requests, std::ref(stream));
    move_requests(stream);
  }
  if (stream.error != 0) throw IoError({way == Way::write ? "pwrite" : "pread", file.path(), 0, 0, stream.error});
  return {stream.bytes, static_cast<double>(monotonic_ns() - begin) * 1e-9};
}

/// Bytes that may be written: nothing where there is no room.
std::uint64_t room(const std::string& path, std::size_t sharers, std::uint64_t most) {
  struct statvfs status{};
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  if (::statvfs(folder.c_str(), &status) != 0) return most;
  const std::uint64_t free_bytes = static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
  return std::min(most, free_bytes / parts_of_space / sharers / request_bytes * request_bytes);
}

Ceiling unmeasured(const char* name, const std::string& why) {
  return {name, "MiB/s", std::nullopt, std::nullopt, why};
}

std::string amount(const StreamAmount& moved) {
  return std::to_string(moved.bytes / mib) + " MiB, " + std::to_string(streams) + " requests of 1 MiB in flight";
}

DeviceStream measure_direct(const DeviceStreamOptions& options, std::uint64_t size) {
  const TemporaryFile file(options, Caching::direct);
  const StreamAmount written = move(file, options, Way::write, size, options.seconds);
  file.sync();
  const StreamAmount read = move(file, options, Way::read, written.bytes, options.seconds);
  return {ceiling_of("write", "MiB/s", {written.mib_s()}, "direct I/O, " + amount(written)),
          ceiling_of("read", "MiB/s", {read.mib_s()}, "direct I/O, " + amount(read))};
}

/// Drops the file's pages. False where some stay, or where that is unknown.
bool dropped(const DeviceStreamOptions& options) {
  PageCache pages(options.path, options.folder);
  pages.drop();
  std::optional<CachedPart> left = pages.look(PageCacheView::cachestat);
  if (!left) left = pages.look(PageCacheView::mincore);
  return left && left->cached_bytes * 100 <= left->file_bytes;
}

DeviceStream measure_buffered(const DeviceStreamOptions& options, std::uint64_t size) {
  const TemporaryFile file(options, Caching::buffered);
  const auto write = [&](std::uint64_t bytes) {
    const std::uint64_t begin = monotonic_ns();
    StreamAmount moved = move(file, options, Way::write, bytes, options.seconds);
    file.sync();
    moved.seconds = static_cast<double>(monotonic_ns() - begin) * 1e-9;
    return moved;
  };
  // How much fits the time, the first piece tells: what memory takes up at once may take an fsync minutes to write.
  const StreamAmount first = write(std::min(size, first_bytes));
  const auto fits = static_cast<std::uint64_t>(first.mib_s() * options.seconds) * mib;
  const StreamAmount written = fits > first.bytes ? write(std::min({size, fits, most_buffered_bytes})) : first;
  DeviceStream found{
      ceiling_of("write", "MiB/s", {written.mib_s()}, "fsync at the end, " + amount(written)),
      unmeasured("read", "direct I/O is not possible here, and the file cannot be dropped from the page cache")};
  if (!dropped(options)) return found;
  const StreamAmount read = move(file, options, Way::read, written.bytes, options.seconds);
  found.read = ceiling_of("read", "MiB/s", {read.mib_s()}, "dropped from the page cache before, " + amount(read));
  return found;
}

}  // namespace

DeviceStream measure_device(const DeviceStreamOptions& options) {
  try {
    const std::uint64_t size = room(options.path, options.sharers, most_bytes);
    if (size < first_bytes) {
      const std::string why =
          options.sharers == 1 ? "less than 64 MiB are free"
                               : "less than 64 MiB are free for each of " + std::to_string(options.sharers) + " nodes";
      return {unmeasured("write", why), unmeasured("read", why)};
    }
    try {
      return measure_direct(options, size);
    } catch (const IoError& error) {
      const int number = error.details().error_number;
      if (number != EINVAL && number != EOPNOTSUPP) throw;
      return measure_buffered(options, size);
    }
  } catch (const IoError& error) {
    const std::string why = error.details().call + ": " + error.what();
    return {unmeasured("write", why), unmeasured("read", why)};
  } catch (const std::system_error& error) {  // no thread to be had
    return {unmeasured("write", error.what()), unmeasured("read", error.what())};
  }
}

}  // namespace strider
