#include "foundation/checked.hpp"

#include "foundation/error.hpp"

namespace strider {
namespace {

bool adds_up(std::uint64_t a, std::uint64_t b, std::uint64_t& sum) {
  return !__builtin_add_overflow(a, b, &sum) && sum <= largest_total;
}

[[noreturn]] void too_large(std::string_view key) {
  throw InputError(std::string(key), "the file or a buffer would be larger than 8 EiB",
                   "make " + std::string(key) + " smaller");
}

}  // namespace

std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, std::string_view key) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > largest_total) too_large(key);
  return product;
}

std::uint64_t checked_sum(std::uint64_t a, std::uint64_t b, std::string_view key) {
  std::uint64_t sum = 0;
  if (!adds_up(a, b, sum)) too_large(key);
  return sum;
}

void add_checked(std::uint64_t& total, std::uint64_t more, const std::string& what) {
  if (!adds_up(total, more, total))
    throw InputError("clients", what + " more than 2^63 - 1", "fewer clients, or smaller sizes and counts");
}

}  // namespace strider
