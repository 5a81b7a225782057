#include "events/sample.hpp"

#include <algorithm>

namespace strider {

LatencyCounts LatencyCounts::of(const Histogram& histogram) {
  LatencyCounts latency;
  std::copy(histogram.counts().begin(), histogram.counts().end(), latency.counts.begin());
  latency.sum_ns = histogram.sum();
  if (histogram.minimum() <= histogram.maximum()) latency.minimum_ns = static_cast<double>(histogram.minimum());
  latency.maximum_ns = static_cast<double>(histogram.maximum());
  return latency;
}

std::optional<LatencySummary> LatencyCounts::summary() const {
  std::uint64_t count = 0;
  for (const std::uint64_t n : counts) count += n;
  if (count == 0) return std::nullopt;
  // Never outside of what was seen.
  const auto percentile = [&](double share) {
    return std::clamp(quantile_of(counts, count, share), minimum_ns, maximum_ns) * 1e-9;
  };
  return LatencySummary{.count = count,
                        .min_s = minimum_ns * 1e-9,
                        .mean_s = static_cast<double>(sum_ns) / static_cast<double>(count) * 1e-9,
                        .p50_s = percentile(0.5),
                        .p90_s = percentile(0.9),
                        .p99_s = percentile(0.99),
                        .p999_s = percentile(0.999),
                        .max_s = maximum_ns * 1e-9};
}

HistogramBuckets LatencyCounts::buckets() const {
  HistogramBuckets filled;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != 0) filled.buckets.push_back({i, counts[i]});
  return filled;
}

}  // namespace strider
