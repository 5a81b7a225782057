#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace strider {

/// One contiguous piece of a request. Offsets and length in bytes; `memory_offset` counts from the start of the rank's
/// buffer.
struct Extent {
  std::uint64_t file_offset = 0;
  std::uint64_t memory_offset = 0;
  std::uint64_t length = 0;

  bool operator==(const Extent&) const = default;
};

enum class Direction { read, write };

/// Where a rank stands among the ranks that share a file: `rank` in 0 … `ranks` - 1.
struct Place {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
};

/// One I/O call's worth of work: extents of the file and the rank's buffer they come from or go to. No extents: a
/// collective call in which this rank has nothing to move.
struct Request {
  std::span<const Extent> extents;
  std::byte* memory = nullptr;
  std::uint64_t number = 0;  ///< of the request in its pattern
};

inline std::uint64_t bytes_of(std::span<const Extent> extents) {
  std::uint64_t bytes = 0;
  for (const Extent& extent : extents) bytes += extent.length;
  return bytes;
}

}  // namespace strider
