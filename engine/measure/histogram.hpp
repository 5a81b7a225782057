#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace strider {

/// Latencies in nanoseconds, after HdrHistogram's scheme: values below 128 exactly, above them 128 equal buckets for
/// each power of two, so that a bucket is at most 1/128 of its values wide (error of its midpoint below 0.4 %). Fixed
/// size, and merged by adding counts. Larger values than 2^45 ns (9.8 hours) fall into the last bucket.
class Histogram {
 public:
  static constexpr unsigned precision_bits = 7;
  static constexpr unsigned largest_exponent = 44;
  static constexpr std::size_t size = (largest_exponent - precision_bits + 2) << precision_bits;

  static constexpr std::size_t index_of(std::uint64_t value) {
    constexpr std::uint64_t exact = std::uint64_t{1} << precision_bits;
    if (value < exact) return value;
    const auto exponent = static_cast<unsigned>(std::bit_width(value)) - 1;
    if (exponent > largest_exponent) return size - 1;
    const unsigned shift = exponent - precision_bits;
    return (static_cast<std::size_t>(shift + 1) << precision_bits) + ((value >> shift) & (exact - 1));
  }
  /// The middle of a bucket.
  static constexpr double midpoint(std::size_t index) {
    constexpr std::size_t exact = std::size_t{1} << precision_bits;
    if (index < exact) return static_cast<double>(index);
    const auto shift = static_cast<unsigned>(index / exact) - 1;
    const std::uint64_t low = (exact + index % exact) << shift;
    return static_cast<double>(low) + (static_cast<double>(std::uint64_t{1} << shift) - 1) / 2;
  }

  void record(std::uint64_t value) {
    ++counts_[index_of(value)];
    sum_ += value;
    if (value < minimum_) minimum_ = value;
    if (value > maximum_) maximum_ = value;
  }
  /// Touches only buckets that may have counts.
  void clear() {
    if (minimum_ <= maximum_)
      std::fill(counts_.begin() + index_of(minimum_), counts_.begin() + index_of(maximum_) + 1, std::uint64_t{0});
    sum_ = maximum_ = 0;
    minimum_ = ~std::uint64_t{0};
  }

  std::uint64_t count() const {
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts_) total += count;
    return total;
  }
  std::uint64_t sum() const { return sum_; }
  std::uint64_t minimum() const { return minimum_; }
  std::uint64_t maximum() const { return maximum_; }
  const std::array<std::uint64_t, size>& counts() const { return counts_; }

 private:
  std::array<std::uint64_t, size> counts_{};
  std::uint64_t sum_ = 0;
  std::uint64_t minimum_ = ~std::uint64_t{0};
  std::uint64_t maximum_ = 0;
};

/// The value below which the share `quantile` of the counts lies (midpoint of its bucket); 0 without counts.
inline double quantile_of(const std::array<std::uint64_t, Histogram::size>& counts, std::uint64_t total,
                          double quantile) {
  const auto wanted = static_cast<std::uint64_t>(std::llround(quantile * static_cast<double>(total)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    seen += counts[i];
    if (seen >= wanted && seen > 0) return Histogram::midpoint(i);
  }
  return 0;
}

}  // namespace strider
