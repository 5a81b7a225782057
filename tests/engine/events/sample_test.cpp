#include "events/sample.hpp"

#include <gtest/gtest.h>

namespace strider {
namespace {

TEST(LatencyCounts, AreSummedUpWithPercentilesThatStayWithinWhatWasMeasured) {
  Histogram histogram;
  for (int i = 0; i < 99; ++i) histogram.record(1'000'003);
  histogram.record(3'000'000);
  const auto summary = LatencyCounts::of(histogram).summary();
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->count, 100U);
  EXPECT_DOUBLE_EQ(summary->min_s, 1'000'003e-9);
  EXPECT_DOUBLE_EQ(summary->max_s, 3e-3);
  EXPECT_DOUBLE_EQ(summary->mean_s, (99 * 1'000'003 + 3'000'000) / 100.0 * 1e-9);
  EXPECT_NEAR(summary->p50_s, 1e-3, 4e-6);
  EXPECT_GE(summary->p50_s, summary->min_s);
  EXPECT_LE(summary->p999_s, summary->max_s);
}

TEST(LatencyCounts, KeepTheBucketsThatAreNotEmpty) {
  Histogram histogram;
  histogram.record(5);
  histogram.record(5);
  histogram.record(100);
  const HistogramBuckets found = LatencyCounts::of(histogram).buckets();
  EXPECT_EQ(found.buckets, (std::vector<std::array<std::uint64_t, 2>>{{5, 2}, {100, 1}}));
}

TEST(LatencyCounts, OfNoRequestHaveNoSummary) {
  EXPECT_FALSE(LatencyCounts::of(Histogram{}).summary());
  EXPECT_TRUE(LatencyCounts::of(Histogram{}).buckets().buckets.empty());
}

}  // namespace
}  // namespace strider
