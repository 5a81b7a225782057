#include "foundation/bounds.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace strider {
namespace {

/// Compared with the sum in twice as many bits, around every power of two.
TEST(BoundsTest, SumsDoNotOverflow) {
  using Wide = unsigned __int128;
  std::vector<std::uint64_t> numbers{0};
  for (int bit = 0; bit < 64; ++bit)
    for (const int more : {-1, 0, 1}) numbers.push_back((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(more));
  for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{4096}, ~std::uint64_t{0} >> 1, ~std::uint64_t{0}})
    for (const std::uint64_t offset : numbers)
      for (const std::uint64_t length : numbers)
        ASSERT_EQ(ends_within(offset, length, most), Wide{offset} + length <= most) << offset << " " << length;
}

}  // namespace
}  // namespace strider
