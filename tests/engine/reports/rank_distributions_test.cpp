#include "reports/rank_distributions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "mpi_session.hpp"
#include "reports/reduction.hpp"

namespace strider {
namespace {

class DistributionsOverRanks : public RanksTest {
 protected:
  /// Rank r ends 1 + r seconds after the start, 50 s after that of the run, with the rate 10 + r.
  std::vector<RankDistribution> reduced(bool works) {
    RankRow row{};
    row.start_s = 50;
    row.end_s = 51 + rank;
    RankQuantities mine = quantities_of(row, 10 + rank);
    row.end_s = 50 + ranks;
    RankQuantities bounds = quantities_of(row, 10 + ranks - 1);
    count_from(50, mine);
    count_from(50, bounds);
    Sample sample;
    set_values(mine, bounds, Unit::bytes, rank, works, sample.rank_distributions);
    if (works) count(mine, sample.rank_distributions);
    Reduction reduction;
    reduction.add(sample);
    for (RankDistribution& one : sample.rank_distributions) reduction.add(one.counts);
    reduction.to_first(MPI_COMM_WORLD, {.stall_timeout_s = 60});
    if (rank != 0) return {};
    std::vector<std::uint32_t> nodes(static_cast<std::size_t>(ranks));
    std::iota(nodes.begin(), nodes.end(), 7);
    complete(sample.rank_distributions, nodes);
    return sample.rank_distributions;
  }
};

TEST_F(DistributionsOverRanks, HaveExtremesMeanAndMedian) {
  const std::vector<RankDistribution> found = reduced(true);
  if (rank != 0) return;
  ASSERT_EQ(found.size(), rank_quantities);
  const RankDistribution& end = *std::ranges::find(found, "end_s", &RankDistribution::quantity);
  EXPECT_EQ(end.ranks, static_cast<std::uint64_t>(ranks));
  EXPECT_EQ(end.lowest.value, 1);
  EXPECT_EQ(end.lowest.rank, 0);
  EXPECT_EQ(end.lowest_node, 7U);
  EXPECT_EQ(end.highest.value, ranks);
  EXPECT_EQ(end.highest.rank, ranks - 1);
  EXPECT_EQ(end.highest_node, 7U + static_cast<unsigned>(ranks) - 1);
  EXPECT_DOUBLE_EQ(end.mean, (1 + ranks) / 2.0);
  EXPECT_NEAR(end.quantile(0.5), (ranks + 1) / 2, 0.02 * ranks);
  EXPECT_EQ(found.back().quantity, "rate_mib_s");
}

TEST_F(DistributionsOverRanks, AreLeftOutWhereNoRankHasWork) { EXPECT_TRUE(reduced(false).empty()); }

}  // namespace
}  // namespace strider
