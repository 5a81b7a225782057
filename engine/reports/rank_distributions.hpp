#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "events/rows.hpp"
#include "events/sample.hpp"
#include "foundation/number_runs.hpp"

namespace strider {

constexpr double no_rank = std::numeric_limits<double>::infinity();  ///< a minimum over no ranks

/// What a sample has distributions of.
constexpr std::size_t rank_quantities = 11;
/// Their values: of one rank, or upper bounds for all ranks.
using RankQuantities = std::array<double, rank_quantities>;

/// The values of one rank. `rate`: in the unit of the sample.
RankQuantities quantities_of(const RankRow& row, double rate);
/// Makes the instants among some values relative to `start_s`.
void count_from(double start_s, RankQuantities& values);

/// Sets what this rank contributes to the distributions, but their counts; it is nothing where it has no work.
void set_values(const RankQuantities& mine, const RankQuantities& bounds, Unit unit, int rank, bool works,
                std::vector<RankDistribution>& distributions);
/// Adds a rank to the counts.
void count(const RankQuantities& mine, std::vector<RankDistribution>& distributions);
/// On rank 0, of all ranks together: means, and the nodes of the extremes. No distribution is left without ranks.
void complete(std::vector<RankDistribution>& distributions, const NumberRuns& node_of_rank);

}  // namespace strider
