#pragma once
#include <unistd.h>

#include <cstdint>

namespace strider::listio {

/// Addresses of this process, from `begin` to before `end`.
struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  std::uint64_t bytes() const { return end - begin; }
  bool contains(const Range& other) const { return begin <= other.begin && other.end <= end; }
  bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
  bool operator==(const Range&) const = default;
};

/// The size of a page in bytes: what memory is registered in.
inline std::uintptr_t page_bytes() {
  static const auto bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

/// The whole pages that `range` touches.
inline Range pages_around(const Range& range) {
  const std::uintptr_t mask = page_bytes() - 1;
  return {range.begin & ~mask, (range.end + mask) & ~mask};
}

/// How many pages a range of whole pages has.
inline std::uint64_t pages_in(const Range& pages) { return pages.bytes() / page_bytes(); }

}  // namespace strider::listio
