#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "foundation/field.hpp"
#include "measure/scaled_counts.hpp"

namespace strider {

/// A number, and the rank that has it.
struct RankExtreme {
  double value = 0;
  int rank = 0;
};

/// One quantity of the ranks with work in a phase. Its size does not depend on the number of ranks.
struct RankDistribution {
  std::string_view quantity;
  std::uint64_t ranks = 0;
  RankExtreme lowest{std::numeric_limits<double>::infinity(), 0};
  RankExtreme highest{-std::numeric_limits<double>::infinity(), 0};
  double mean = 0;
  std::uint32_t lowest_node = 0, highest_node = 0;
  double bound = 0;  ///< of the quantity on all ranks
  ScaledCounts counts;

  /// Never outside of what was found.
  double quantile(double share) const {
    return std::clamp(counts.quantile(share, bound), lowest.value, std::max(lowest.value, highest.value));
  }

  static constexpr std::string_view record_name = "RankDistribution";
  static constexpr std::string_view record_about =
      "Distribution of a quantity over the ranks with work in a phase, in the unit of the quantity. Percentiles are "
      "within 1 %, or within 1/65536 of the maximum.";
  static constexpr auto fields() {
    using Self = RankDistribution;
    return std::tuple{
        field({"quantity",
               "Name of the quantity: a field of `RankRow` (`start_s` and `end_s` here count from the start of the "
               "phase), or `rate_mib_s` (metadata: `rate_requests_s`)."},
              &Self::quantity),
        field({"ranks", "Ranks with work.", Over::sum}, &Self::ranks),
        field({"mean", "Mean.", Over::mean}, &Self::mean),
        field({"min", "Minimum.", Over::least}, &Self::lowest),
        field({"min_rank", "Rank with the minimum."}, [](const Self& of) { return of.lowest.rank; }),
        field({"min_node", "Node of this rank."}, &Self::lowest_node),
        field({"p05", "5th percentile."}, [](const Self& of) { return of.quantile(0.05); }),
        field({"p25", "25th percentile."}, [](const Self& of) { return of.quantile(0.25); }),
        field({"p50", "Median."}, [](const Self& of) { return of.quantile(0.5); }),
        field({"p75", "75th percentile."}, [](const Self& of) { return of.quantile(0.75); }),
        field({"p95", "95th percentile."}, [](const Self& of) { return of.quantile(0.95); }),
        field({"max", "Maximum.", Over::most}, &Self::highest),
        field({"max_rank", "Rank with the maximum."}, [](const Self& of) { return of.highest.rank; }),
        field({"max_node", "Node of this rank."}, &Self::highest_node)};
  }
};

}  // namespace strider
