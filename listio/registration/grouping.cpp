#include "listio/registration/grouping.hpp"

#include <algorithm>
#include <limits>

namespace strider::listio {

std::vector<Range> sorted_pages(std::span<const Range> pieces) {
  std::vector<Range> pages;
  pages.reserve(pieces.size());
  for (const Range& piece : pieces)
    if (piece.end > piece.begin) pages.push_back(pages_around(piece));
  const auto by_address = [](const Range& a, const Range& b) { return a.begin < b.begin; };
  if (!std::is_sorted(pages.begin(), pages.end(), by_address)) std::sort(pages.begin(), pages.end(), by_address);
  return pages;
}

std::uint64_t covered_pages(std::span<const Range> sorted) {
  std::uint64_t bytes = 0;
  std::uintptr_t end = 0;
  for (const Range& piece : sorted) {
    if (piece.end > end) bytes += piece.end - std::max(piece.begin, end);
    end = std::max(end, piece.end);
  }
  return bytes / page_bytes();
}

std::vector<Group> group(std::span<const Range> sorted, std::uint64_t most_hole_pages, std::uint64_t most_bytes) {
  std::uint64_t most_hole_bytes = 0;
  if (__builtin_mul_overflow(most_hole_pages, page_bytes(), &most_hole_bytes))
    most_hole_bytes = std::numeric_limits<std::uint64_t>::max();
  std::vector<Group> groups;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Range& piece = sorted[i];
    if (!groups.empty()) {
      Group& last = groups.back();
      const std::uint64_t hole_bytes = piece.begin > last.pages.end ? piece.begin - last.pages.end : 0;
      const std::uintptr_t end = std::max(last.pages.end, piece.end);
      if (hole_bytes <= most_hole_bytes && (end == last.pages.end || end - last.pages.begin <= most_bytes)) {
        last = {{last.pages.begin, end}, last.first, i + 1};
        continue;
      }
    }
    groups.push_back({piece, i, i + 1});
  }
  return groups;
}

Cut cut_holes(std::span<const Range> sorted, const Group& whole, std::span<const Range> accessible) {
  Cut cut;
  std::size_t next = whole.first;
  for (const Range& part : accessible) {
    Group inside{{}, next, next};
    for (; next < whole.last && sorted[next].begin < part.end; ++next) {
      if (!part.contains(sorted[next])) return {{}, false, next};
      inside.pages = {inside.first == next ? sorted[next].begin : inside.pages.begin,
                      std::max(inside.pages.end, sorted[next].end)};
      inside.last = next + 1;
    }
    if (inside.last > inside.first) cut.groups.push_back(inside);
  }
  if (next < whole.last) return {{}, false, next};
  return cut;
}

}  // namespace strider::listio
