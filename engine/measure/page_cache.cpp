#include "measure/page_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "foundation/error.hpp"

namespace strider {
namespace {

// As in linux/mman.h since 6.5, which older systems lack. The number is the same on all architectures but Alpha.
constexpr long cachestat_number = 451;
struct CachestatRange {
  std::uint64_t offset, length;  ///< length 0: to the end
};
struct Cachestat {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;  ///< pages
};

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

std::optional<std::uint64_t> cachestat_pages(int descriptor) {
  CachestatRange range{};
  Cachestat found{};
  if (::syscall(cachestat_number, descriptor, &range, &found, 0) != 0) return std::nullopt;
  return found.cached;
}

/// A piece of the file at a time, since mincore needs a byte for each page.
std::optional<std::uint64_t> mincore_pages(int descriptor, std::uint64_t size) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 30;
  std::vector<unsigned char> resident;
  std::uint64_t pages = 0;
  for (std::uint64_t offset = 0; offset < size; offset += piece) {
    const std::uint64_t length = std::min(piece, size - offset);
    void* memory = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(offset));
    if (memory == MAP_FAILED) return std::nullopt;
    resident.assign((length + page_bytes() - 1) / page_bytes(), 0);
    const bool is_known = ::mincore(memory, length, resident.data()) == 0;
    ::munmap(memory, length);
    if (!is_known) return std::nullopt;
    pages += static_cast<std::uint64_t>(
        std::count_if(resident.begin(), resident.end(), [](unsigned char state) { return (state & 1U) != 0; }));
  }
  return pages;
}

OpenFile open_quietly(const std::string& path, RunFolder* folder) {
  try {
    return open_file(folder, path, O_RDONLY | O_NOATIME);
  } catch (const IoError& error) {
    // Only a file's owner may leave its access time alone.
    if (error.details().error_number != EPERM) throw;
    return open_file(folder, path, O_RDONLY);
  }
}

}  // namespace

PageCache::PageCache(const std::string& path, RunFolder* folder) : file_(open_quietly(path, folder)) {
  struct stat status{};
  if (::fstat(file_.get(), &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

void PageCache::drop() {
  const int error = ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED);
  if (error != 0) throw IoError({"posix_fadvise", file_.path(), 0, 0, error});
}

std::optional<CachedPart> PageCache::look(PageCacheView way) const {
  const int file = file_.get();
  const auto pages = way == PageCacheView::cachestat ? cachestat_pages(file) : mincore_pages(file, size_);
  if (!pages) return std::nullopt;
  return CachedPart{std::min(*pages * page_bytes(), size_), size_};
}

bool drop_all_pages() {
  const Descriptor file(::open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), "1", 1) == 1;
}

}  // namespace strider
