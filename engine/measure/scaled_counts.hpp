#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace strider {

/// Counts of numbers by their ratio to a known upper bound: 36 buckets for each halving, so that the middle of a bucket
/// is within 1 % of its numbers. Numbers below 2^-16 of the bound share the last bucket. Fixed size, and merged by
/// adding counts that have the same bound.
class ScaledCounts {
 public:
  static constexpr std::size_t buckets_per_halving = 36, halvings = 16;
  static constexpr std::size_t size = buckets_per_halving * halvings + 1;

  static std::size_t index_of(double value, double bound) {
    if (!(value > 0)) return size - 1;
    if (value >= bound) return 0;
    const double place = std::log2(bound / value) * static_cast<double>(buckets_per_halving);
    return place < static_cast<double>(size - 1) ? static_cast<std::size_t>(place) : size - 1;
  }
  /// The middle of a bucket; 0 for the last one.
  static double midpoint(std::size_t index, double bound) {
    if (index + 1 >= size) return 0;
    return bound * std::exp2(-(static_cast<double>(index) + 0.5) / static_cast<double>(buckets_per_halving));
  }

  void record(double value, double bound) { ++counts_[index_of(value, bound)]; }
  /// The smallest value with at least the share `quantile` of all counts at or below it; 0 without counts.
  double quantile(double quantile, double bound) const {
    std::uint64_t total = 0, seen = 0;
    for (const std::uint64_t count : counts_) total += count;
    const auto wanted =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(quantile * static_cast<double>(total))));
    for (std::size_t index = size; index-- > 0;) {
      seen += counts_[index];
      if (seen >= wanted) return midpoint(index, bound);
    }
    return 0;
  }

  std::array<std::uint64_t, size>& counts() { return counts_; }

 private:
  std::array<std::uint64_t, size> counts_{};
};

}  // namespace strider
