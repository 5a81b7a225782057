#include "plan/draw.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace strider {
namespace {

class DrawShare : public testing::TestWithParam<int> {};

// proves measuring: mix-share, share-of-pass
TEST_P(DrawShare, TheShareOfVisitsThatReadIsTheOneAskedFor) {
  const double share = GetParam() / 100.0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Draw draw(share, seed);
    double reading = 0;
    for (std::uint64_t index = 0; index < 100'000; ++index) {
      reading += draw.reads(index) ? 1 : 0;
      ASSERT_NEAR(reading, share * static_cast<double>(index + 1), 4) << "of the first " << index + 1;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Percent, DrawShare, testing::Values(1, 30, 50, 70, 99));

TEST(Draw, ReadsAndWritesAlternateFinely) {
  const Draw draw(0.7, 1);
  std::uint64_t longest = 0, in_a_row = 0;
  for (std::uint64_t index = 0; index < 10'000; ++index) {
    in_a_row = draw.reads(index) ? in_a_row + 1 : 0;
    longest = std::max(longest, in_a_row);
  }
  EXPECT_LT(longest, 10U) << "not so many reads first, then so many writes";
}

}  // namespace
}  // namespace strider
