#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace strider {

/// Bytes and counts of a plan fit 63 bits, since file offsets are signed.
constexpr std::uint64_t largest_total = ~std::uint64_t{0} >> 1;

/// `a * b` or `a + b`, or InputError blaming `key` where it does not fit 63 bits.
std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, std::string_view key);
std::uint64_t checked_sum(std::uint64_t a, std::uint64_t b, std::string_view key);

/// Adds `more` to the `total` of all ranks; `what` it is of, as "the files of the case would hold". Throws InputError
/// where it does not fit 63 bits.
void add_checked(std::uint64_t& total, std::uint64_t more, const std::string& what);

}  // namespace strider
