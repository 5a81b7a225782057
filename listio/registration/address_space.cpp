#include "listio/registration/address_space.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "foundation/clock.hpp"
#include "foundation/error.hpp"
#include "foundation/whole_transfer.hpp"

namespace strider::listio {
namespace {

/// struct procmap_query of linux/fs.h since 6.11; older headers lack it.
struct ProcmapQuery {
  std::uint64_t size, query_flags, query_addr;
  std::uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
  std::uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
  std::uint64_t vma_name_addr, build_id_addr;
};
constexpr unsigned long procmap_query = _IOWR('f', 17, ProcmapQuery);
constexpr std::uint64_t readable = 1, writable = 2, covering_or_next = 0x10;

void append(std::vector<Range>& ranges, const Range& mapping, const Range& within) {
  const Range part{std::max(mapping.begin, within.begin), std::min(mapping.end, within.end)};
  if (!ranges.empty() && ranges.back().end == part.begin) ranges.back().end = part.end;
  else ranges.push_back(part);
}

struct Mapping {
  Range range;
  bool allowed = false;
};

/// A line such as `7f00-7f01 rw-p …`; nothing if it is none.
std::optional<Mapping> parse_line(std::string_view line, Access access) {
  Mapping mapping;
  const char* const begin = std::to_address(line.begin());
  const char* const end = std::to_address(line.end());
  const auto first = std::from_chars(begin, end, mapping.range.begin, 16);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return {};
  const auto second = std::from_chars(first.ptr + 1, end, mapping.range.end, 16);
  if (second.ec != std::errc() || end - second.ptr < 3) return {};
  mapping.allowed = second.ptr[1] == 'r' && (access == Access::read || second.ptr[2] == 'w');
  return mapping;
}

}  // namespace

AddressSpace::AddressSpace(Source source) : source_(source), maps_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {
  if (!maps_) throw_system_error("open /proc/self/maps");
  if (source_ == Source::text) return;
  ProcmapQuery query{};
  query.size = sizeof query;
  query.query_flags = covering_or_next;
  if (::ioctl(maps_.get(), procmap_query, &query) != 0) source_ = Source::text;
}

std::vector<Range> AddressSpace::accessible(const Range& range, Access access) {
  const std::uint64_t start = monotonic_ns();
  auto ranges = source_ == Source::best ? ask(range, access) : read_text(range, access);
  query_us_ += static_cast<double>(monotonic_ns() - start) * 1e-3;
  return ranges;
}

bool AddressSpace::is_accessible(const Range& range, Access access) {
  const auto ranges = accessible(range, access);
  return ranges.size() == 1 && ranges.front() == range;
}

std::vector<Range> AddressSpace::ask(const Range& range, Access access) {
  std::vector<Range> ranges;
  ProcmapQuery query{};
  query.size = sizeof query;
  query.query_flags = covering_or_next | readable | (access == Access::read_write ? writable : 0);
  for (std::uintptr_t next = range.begin; next < range.end; next = query.vma_end) {
    query.query_addr = next;
    ++queries_;
    if (::ioctl(maps_.get(), procmap_query, &query) != 0) {
      if (errno == ENOENT) break;  // no such mapping from here on
      if (errno == EINTR) {
        query.vma_end = next;
        continue;
      }
      throw_system_error("ioctl(PROCMAP_QUERY)");
    }
    if (query.vma_start >= range.end) break;
    append(ranges, {query.vma_start, query.vma_end}, range);
  }
  return ranges;
}

std::vector<Range> AddressSpace::read_text(const Range& range, Access access) {
  ++queries_;
  if (::lseek(maps_.get(), 0, SEEK_SET) != 0) throw_system_error("lseek /proc/self/maps");
  std::string text;
  errno = read_to_end(maps_.get(), text).error_number;
  if (errno != 0) throw_system_error("read /proc/self/maps");
  std::vector<Range> ranges;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = rest.find('\n');
    const auto mapping = parse_line(rest.substr(0, length), access);
    if (mapping && mapping->allowed && mapping->range.overlaps(range)) append(ranges, mapping->range, range);
    rest.remove_prefix(length == std::string_view::npos ? rest.size() : length + 1);
  }
  return ranges;
}

}  // namespace strider::listio
