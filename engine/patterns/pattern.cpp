#include "patterns/pattern.hpp"

#include <bit>
#include <string>

#include "foundation/error.hpp"

namespace strider {

const PatternEntry* find_pattern(std::string_view name) {
  for (const PatternEntry* entry : all_patterns())
    if (entry->name == name) return entry;
  return nullptr;
}

std::uint64_t common_alignment(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t bits = 0;
  for (const std::uint64_t number : numbers) bits |= number;
  return bits == 0 ? std::uint64_t{1} << 62 : std::uint64_t{1} << std::countr_zero(bits);
}

std::uint64_t checked_extents(std::uint64_t extents, std::string_view key) {
  constexpr std::uint64_t most = 1 << 26;  // a list of 1.5 GiB
  if (extents > most)
    throw InputError(
        std::string(key),
        "a request would have " + std::to_string(extents) + " extents; " + std::to_string(most) + " are possible",
        "make " + std::string(key) + " smaller");
  return extents;
}

}  // namespace strider
