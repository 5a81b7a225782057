#pragma once
#include <string>
#include <string_view>
#include <variant>

#include "listio/protocol/messages.hpp"
#include "listio/protocol/parse.hpp"

namespace strider::listio {

// The text of a name entry: which number a file has, and how it is spread. A CRC-32C over all of it ends it.

/// Longer texts are damaged.
inline constexpr std::size_t most_entry_bytes = 255;

struct NameEntry {
  FileId file = 0;
  LayoutWords layout;
  bool has_checksum = true;  ///< false: of version 1, which older releases wrote
};

std::string write_entry(FileId file, const LayoutWords& layout);
/// As older releases wrote it, without a checksum.
std::string write_old_entry(FileId file, const LayoutWords& layout);
/// Any bytes may be given. Only what `write_entry` or `write_old_entry` returns is an entry, of a volume with so many
/// servers; of anything else why it is damaged.
std::variant<NameEntry, Malformed> parse_entry(std::string_view text, std::uint32_t servers);

// The text of the copy of an entry, which is kept by the number of the file.

inline constexpr std::size_t most_copy_bytes = most_path_bytes + most_entry_bytes;

struct EntryCopy {
  FileId file = 0;
  LayoutWords layout;
  std::string path;  ///< the last that is known: another one if a directory on the way to it was renamed since
};

std::string write_copy(const EntryCopy& copy);
/// As `parse_entry`.
std::variant<EntryCopy, Malformed> parse_copy(std::string_view text, std::uint32_t servers);

}  // namespace strider::listio
