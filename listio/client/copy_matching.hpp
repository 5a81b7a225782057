#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// A name whose entry is damaged, and the parts of the entry.
struct DamagedEntry {
  std::string path, text;
};
/// A copy of an entry that no name has, and the last path that is known of it.
struct UnnamedCopy {
  FileId file = 0;
  std::string path;
};

/// For each damaged entry the place of its copy, or nothing. A copy is that of an entry which has 12 of the 16 digits
/// of its file number, a group of four that stand together among them. Otherwise it is the only one with the entry's
/// path, or, of an entry without a legible number, the only one with its last name; there must be no other such entry.
std::vector<std::optional<std::size_t>> match_copies(std::span<const DamagedEntry> entries,
                                                     std::span<const UnnamedCopy> copies);

}  // namespace strider::listio
