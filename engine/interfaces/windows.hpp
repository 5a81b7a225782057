#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "foundation/extent.hpp"

namespace strider {

/// What of a file is in a buffer at a time when the pieces of a request are moved through it (data sieving): from the
/// first wanted byte to the last.
struct Window {
  std::uint64_t begin = 0, end = 0;
  std::size_t first_extent = 0, last_extent = 0;
  bool holes = false;  ///< not all of it is wanted
};

/// Calls `action(window)` for the windows of at most `buffer_bytes` that cover a request, in the order of its extents.
template <typename Action>
void for_each_window(const Request& request, std::uint64_t buffer_bytes, const Action& action) {
  const auto extents = request.extents;
  std::size_t next = 0;
  std::uint64_t done = 0;  // bytes of extent `next` that earlier windows have served
  while (next < extents.size()) {
    Window window;
    window.begin = extents[next].file_offset + done;
    window.end = window.begin;
    window.first_extent = next;
    const std::uint64_t limit = window.begin + buffer_bytes;
    while (next < extents.size() && extents[next].file_offset + done < limit) {
      const std::uint64_t begin = extents[next].file_offset + done,
                          end = extents[next].file_offset + extents[next].length;
      if (begin < window.end) break;  // not in increasing order: a window of its own
      window.holes = window.holes || begin > window.end;
      window.end = std::min(end, limit);
      window.last_extent = next;
      if (end > limit) {
        done = limit - extents[next].file_offset;
        break;
      }
      ++next;
      done = 0;
    }
    action(window);
  }
}

/// Calls `action(offset in the window, offset in the memory, length)` for each piece of the request in a window.
template <typename Action>
void for_each_piece(const Request& request, const Window& window, const Action& action) {
  for (std::size_t i = window.first_extent; i <= window.last_extent; ++i) {
    const Extent& extent = request.extents[i];
    const std::uint64_t begin = std::max(extent.file_offset, window.begin);
    const std::uint64_t end = std::min(extent.file_offset + extent.length, window.end);
    action(begin - window.begin, extent.memory_offset + (begin - extent.file_offset), end - begin);
  }
}

}  // namespace strider
