#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace strider {

/// Why data is wrong, as far as the data itself shows.
enum class Cause : std::uint8_t {
  missing_end,  ///< the file ends before it should
  outside,      ///< bytes that no extent covers are not what they should be, or lie beyond the end
  hole,         ///< a hole where data was written
  unread,       ///< the read left the memory as it was: it transferred less than it reported
  zero,         ///< zeros: never written, or lost
  stale,        ///< an older generation of the same place
  torn,         ///< the same, where another part of the request is right
  misplaced,    ///< data of another place or file of the case
  shifted,      ///< data of a place less than 512 bytes away
  byte_order,   ///< words whose bytes are in the opposite order
  flipped,      ///< a few bits
  foreign,      ///< none of these
};
std::string_view name_of(Cause cause);

/// Wrong bytes that have the same cause.
struct Damage {
  Cause cause = Cause::foreign;
  std::uint64_t file_offset = 0;  ///< of the first one
  std::uint64_t bytes = 0;
  /// stale, torn: writes since, or -n where it was written n repetitions before; misplaced: the offset where the first
  /// byte belongs; shifted: bytes, positive towards the end; byte_order: bytes of a word; flipped: bits; foreign: 1 if
  /// another run or case wrote it. Otherwise 0.
  std::int64_t value = 0;

  bool operator==(const Damage&) const = default;
};
/// In words, without offset and number of bytes: "data shifted by +8 bytes".
std::string text_of(const Damage& damage);
bool has_value(Cause cause);

}  // namespace strider
