#include "measure/scaled_counts.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace strider {
namespace {

TEST(ScaledCounts, MiddleOfABucketIsWithinOnePercent) {
  for (double value = 1000; value > 1000 * 0x1p-15; value *= 0.9973) {
    const double middle = ScaledCounts::midpoint(ScaledCounts::index_of(value, 1000), 1000);
    EXPECT_LT(std::abs(middle / value - 1), 0.01) << value;
  }
}

TEST(ScaledCounts, QuantilesOfManyNumbersAreWithinOnePercent) {
  ScaledCounts counts;
  for (int i = 1; i <= 10'000; ++i) counts.record(i, 10'000);
  for (const double share : {0.05, 0.25, 0.5, 0.75, 0.95})
    EXPECT_NEAR(counts.quantile(share, 10'000), share * 10'000, share * 100) << share;
}

TEST(ScaledCounts, SmallNumbersAndZeroShareTheLastBucket) {
  EXPECT_EQ(ScaledCounts::index_of(0, 1), ScaledCounts::size - 1);
  EXPECT_EQ(ScaledCounts::index_of(1e-9, 1), ScaledCounts::size - 1);
  EXPECT_EQ(ScaledCounts::index_of(0, 0), ScaledCounts::size - 1);
  EXPECT_EQ(ScaledCounts::index_of(7, 7), 0U);
}

TEST(ScaledCounts, HaveNoQuantilesWithoutNumbers) { EXPECT_EQ(ScaledCounts().quantile(0.5, 1), 0); }

}  // namespace
}  // namespace strider
