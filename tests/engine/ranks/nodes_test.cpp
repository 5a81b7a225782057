#include "ranks/nodes.hpp"

#include <gtest/gtest.h>

#include "mpi_session.hpp"

namespace strider {
namespace {

/// Six ranks on three nodes of two machines, whose second has two clocks.
Nodes of_run() {
  Nodes nodes;
  nodes.of_rank = {0, 0, 1, 1, 2, 2};
  nodes.machine_of_rank = {0, 0, 0, 1, 1, 1};
  nodes.clock_of_rank = {0, 0, 0, 1, 1, 2};
  return nodes;
}

TEST(Nodes, OfACaseAreThoseOfItsRanksInTheirOrder) {
  const NumberRuns case_ranks{0, 4, 5, 2};
  const Nodes nodes = of_run().subset(case_ranks, 2);
  EXPECT_EQ(nodes.of_rank, (NumberRuns{0, 2, 2, 1}));
  EXPECT_EQ(nodes.mine, 2U);
}

TEST(Nodes, TheFirstRankOfACaseOnAMachineCountsForIt) {
  const NumberRuns case_ranks{0, 4, 5, 2};
  const auto counts = [&](std::size_t me) { return of_run().subset(case_ranks, me).counts; };
  EXPECT_TRUE(counts(0));
  EXPECT_TRUE(counts(1)) << "rank 3, the machine's lowest, takes no part";
  EXPECT_FALSE(counts(2));
  EXPECT_FALSE(counts(3));
}

TEST(Nodes, ClocksOfACaseAreNumberedAsItsRanksHaveThem) {
  const NumberRuns case_ranks{0, 5, 4, 2};
  const Nodes nodes = of_run().subset(case_ranks, 2);
  EXPECT_EQ(nodes.first_of_clock, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(nodes.clock_in_run, (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_EQ(nodes.clock, 2U);
}

TEST(Nodes, OneMachineSimulatesSeveral) {
  need_mpi();
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Nodes nodes = find_nodes(2, {.stall_timeout_s = 60});
  EXPECT_EQ(nodes.mine, static_cast<std::uint32_t>(rank) / 2);
  EXPECT_EQ(nodes.counts, rank == 0) << "one counts for the machine";
  EXPECT_EQ(nodes.first_of_clock, std::vector<int>{0}) << "one clock";
  EXPECT_EQ(nodes.table.size(), rank == 0 ? static_cast<std::size_t>(ranks + 1) / 2 : 0);
}

}  // namespace
}  // namespace strider
