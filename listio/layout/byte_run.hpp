#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace strider::listio {

/// A contiguous run of bytes: `length` bytes from `offset` on, in a file, a data file or memory. In bytes.
struct ByteRun {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  /// The byte after the last one. Only of runs that were checked.
  std::uint64_t end() const { return offset + length; }
  bool operator==(const ByteRun&) const = default;
};

/// The last byte of a file is below this: what an `off_t` holds.
inline constexpr std::uint64_t most_file_bytes = 0x7fff'ffff'ffff'ffff;

/// The sum of the lengths of `runs`. InputError if a run or the sum goes beyond `most_bytes`; `what` names the list in
/// the message, such as "file list".
std::uint64_t checked_bytes(std::span<const ByteRun> runs, std::uint64_t most_bytes, std::string_view what);

}  // namespace strider::listio
