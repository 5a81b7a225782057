#include "ranks/nodes.hpp"

#include <gtest/gtest.h>

#include "mpi_session.hpp"

namespace strider {
namespace {

TEST(Nodes, ThoseOfTheFirstRanksAreCounted) {
  Nodes nodes;
  nodes.of_rank = {0, 0, 1, 2, 1};
  nodes.count = 3;
  EXPECT_EQ(nodes.count_of_first(1), 1U);
  EXPECT_EQ(nodes.count_of_first(2), 1U);
  EXPECT_EQ(nodes.count_of_first(3), 2U);
  EXPECT_EQ(nodes.count_of_first(5), 3U);
  EXPECT_EQ(nodes.count_of_first(9), 3U) << "there are no more ranks than there are";
}

TEST(Nodes, OneMachineSimulatesSeveral) {
  need_mpi();
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Nodes nodes = find_nodes(2, {.stall_timeout_s = 60});
  EXPECT_EQ(nodes.mine, static_cast<std::uint32_t>(rank) / 2);
  EXPECT_EQ(nodes.count, static_cast<std::uint32_t>(ranks + 1) / 2);
  EXPECT_EQ(nodes.counts, rank == 0) << "one counts for the machine";
  EXPECT_EQ(nodes.first_of_clock, std::vector<int>{0}) << "one clock";
  EXPECT_EQ(nodes.table.size(), rank == 0 ? nodes.count : 0);
  EXPECT_EQ(nodes_of(MPI_COMM_WORLD, nodes), nodes.of_rank);
}

}  // namespace
}  // namespace strider
