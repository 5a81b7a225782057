#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "listio/registration/range.hpp"

namespace strider::listio {

/// The whole pages of each piece, in the order of their addresses. Pieces of no bytes vanish.
std::vector<Range> sorted_pages(std::span<const Range> pieces);

/// How many different pages the pieces have; they are whole pages and sorted.
std::uint64_t covered_pages(std::span<const Range> sorted);

/// Pieces `first` … before `last`, to be registered as one: `pages` covers them and the holes between them.
struct Group {
  Range pages;
  std::size_t first = 0, last = 0;
  bool operator==(const Group&) const = default;
};

/// Puts sorted pieces into groups: the next piece joins if the hole before it has at most `most_hole_pages` pages and
/// the group does not become longer than `most_bytes`. Only a piece that is longer makes a longer group.
std::vector<Group> group(std::span<const Range> sorted, std::uint64_t most_hole_pages, std::uint64_t most_bytes);

/// Cuts the holes out of a group: for each of the parts of it that are accessible (increasing), a group of the pieces
/// in it. `missing` becomes the first piece that is in none of them.
struct Cut {
  std::vector<Group> groups;
  bool complete = true;
  std::size_t missing = 0;
};
Cut cut_holes(std::span<const Range> sorted, const Group& whole, std::span<const Range> accessible);

}  // namespace strider::listio
