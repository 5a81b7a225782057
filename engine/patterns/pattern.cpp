#include "patterns/pattern.hpp"

#include <bit>
#include <string>

#include "core/error.hpp"

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

std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, std::string_view key) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product >> 63 != 0)
    throw InputError(std::string(key), "the file would be larger than 8 EiB", "make " + std::string(key) + " smaller");
  return product;
}

}  // namespace strider
