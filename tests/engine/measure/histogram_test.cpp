#include "measure/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace strider {
namespace {

constexpr std::uint64_t largest = (std::uint64_t{1} << 45) - 1;  ///< the largest value with a bucket of its own kind

double error_of(std::uint64_t value) {
  const double middle = Histogram::midpoint(Histogram::index_of(value));
  return std::abs(middle - static_cast<double>(value)) / static_cast<double>(value);
}

std::vector<std::uint64_t> latencies(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> distribution(std::log(20'000.0), 1.5);
  std::vector<std::uint64_t> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<std::uint64_t>(distribution(random)));
  return values;
}

Histogram histogram_of(const std::vector<std::uint64_t>& values) {
  Histogram histogram;
  for (const std::uint64_t value : values) histogram.record(value);
  return histogram;
}

TEST(Histogram, SmallValuesAreExact) {
  for (std::uint64_t value = 0; value < 128; ++value)
    EXPECT_EQ(Histogram::midpoint(Histogram::index_of(value)), static_cast<double>(value));
}

// proves comparing: percentile-steps
// proves measuring: percentiles, bucket-middle
TEST(Histogram, AValueIsOffByAtMostOnePartIn256) {
  for (std::uint64_t value = 1; value < 200'000; ++value) ASSERT_LE(error_of(value), 1.0 / 256) << value;
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t value = 1 + (random() & largest) / (std::uint64_t{1} << (random() % 45));
    ASSERT_LE(error_of(value), 1.0 / 256) << value;
  }
}

TEST(Histogram, BucketsFollowOneAnotherWithoutGaps) {
  for (std::uint64_t value = 1; value < 100'000; ++value) {
    const std::size_t step = Histogram::index_of(value) - Histogram::index_of(value - 1);
    ASSERT_LE(step, 1U) << value;
  }
  for (std::size_t i = 1; i < Histogram::size; ++i) ASSERT_GT(Histogram::midpoint(i), Histogram::midpoint(i - 1));
  for (std::size_t i = 0; i + 1 < Histogram::size; ++i)
    ASSERT_EQ(Histogram::index_of(static_cast<std::uint64_t>(Histogram::midpoint(i))), i);
}

// docs/formats.md: v < 128 has bucket v; above, with e = floor(log2 v), bucket (e - 6) * 128 + ((v >> (e - 7)) & 127).
// proves measuring: percentiles, bucket-middle
TEST(Histogram, BucketsAreThoseOfTheFormat) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = (random() & largest) >> (random() % 45);
    std::uint64_t expected = value;
    if (value >= 128) {
      const auto e = static_cast<unsigned>(std::bit_width(value)) - 1;
      expected = (e - 6) * 128 + ((value >> (e - 7)) & 127);
    }
    ASSERT_EQ(Histogram::index_of(value), expected) << value;
  }
}

// proves comparing: means-exact
// proves measuring: exact-to-ns
TEST(Histogram, ExtremesAreExactAndWhatIsTooLargeIsCountedLast) {
  EXPECT_EQ(Histogram::index_of(largest), Histogram::size - 1);
  EXPECT_EQ(Histogram::index_of(largest + 1), Histogram::size - 1);
  EXPECT_EQ(Histogram::index_of(~std::uint64_t{0}), Histogram::size - 1);
  const Histogram histogram = histogram_of({5, 1'000'003, 3, 77'777'777});
  EXPECT_EQ(histogram.count(), 4U);
  EXPECT_EQ(histogram.sum(), 5U + 1'000'003U + 3U + 77'777'777U);
  EXPECT_EQ(histogram.minimum(), 3U);
  EXPECT_EQ(histogram.maximum(), 77'777'777U);
}

// proves measuring: histograms-added
TEST(Histogram, MergesByAddingCounts) {
  const std::vector<std::uint64_t> first = latencies(5000, 3), second = latencies(7000, 4);
  std::vector<std::uint64_t> both = first;
  both.insert(both.end(), second.begin(), second.end());
  const Histogram a = histogram_of(first), b = histogram_of(second), whole = histogram_of(both);
  for (std::size_t i = 0; i < Histogram::size; ++i) ASSERT_EQ(a.counts()[i] + b.counts()[i], whole.counts()[i]);
  EXPECT_EQ(a.sum() + b.sum(), whole.sum());
}

TEST(Histogram, QuantilesAgreeWithSortedDataWithinOnePercent) {
  for (const std::size_t count : {1UL, 2UL, 10UL, 999UL, 100'000UL}) {
    std::vector<std::uint64_t> values = latencies(count, count);
    const Histogram histogram = histogram_of(values);
    std::sort(values.begin(), values.end());
    for (const double quantile : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const auto rank = static_cast<std::size_t>(quantile * static_cast<double>(count) + 0.5);
      const auto exact = static_cast<double>(values[std::max<std::size_t>(rank, 1) - 1]);
      EXPECT_NEAR(quantile_of(histogram.counts(), count, quantile), exact, 0.01 * exact)
          << count << " values, " << quantile;
    }
  }
}

TEST(Histogram, WithoutValuesItsQuantilesAreZero) { EXPECT_EQ(quantile_of(Histogram{}.counts(), 0, 0.5), 0); }

TEST(Histogram, IsEmptyAfterClearing) {
  Histogram histogram = histogram_of({1, 2, 3});
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.sum(), 0U);
  EXPECT_EQ(histogram.maximum(), 0U);
}

}  // namespace
}  // namespace strider
