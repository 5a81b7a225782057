#include "ranks/exchange.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "mpi_session.hpp"

namespace strider {
namespace {

class Exchange : public RanksTest {
 protected:
  static constexpr int tag = 5;
  MPI_Comm all = MPI_COMM_WORLD;
  WaitOptions waiting{.stall_timeout_s = 60};
};

struct Pair {
  int first;
  double second;
  bool operator==(const Pair&) const = default;
};

TEST_F(Exchange, BroadcastsWhatRank0Has) {
  Pair one = rank == 0 ? Pair{1, 2.5} : Pair{};
  broadcast(one, all, waiting);
  EXPECT_EQ(one, (Pair{1, 2.5}));
  std::vector<Pair> many(rank == 0 ? std::vector<Pair>{{1, 2}, {3, 4}} : std::vector<Pair>(2));
  broadcast(std::span(many), all, waiting);
  EXPECT_EQ(many, (std::vector<Pair>{{1, 2}, {3, 4}}));
}

TEST_F(Exchange, GathersOnRank0InTheOrderOfRanks) {
  const std::vector<Pair> found = gather(Pair{rank, 0.5 * rank}, all, waiting);
  ASSERT_EQ(found.size(), rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], (Pair{static_cast<int>(i), 0.5 * static_cast<double>(i)}));
}

TEST_F(Exchange, GathersOnAllRanks) {
  const std::vector<Pair> found = gather_to_all(Pair{rank, 0.5 * rank}, all, waiting);
  ASSERT_EQ(found.size(), static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], (Pair{static_cast<int>(i), 0.5 * static_cast<double>(i)}));
}

TEST_F(Exchange, ReducesElementwiseOnAllRanks) {
  std::array<std::uint64_t, 2> sums{1, static_cast<std::uint64_t>(rank)};
  all_reduce(sums, MPI_SUM, all, waiting);
  const auto n = static_cast<std::uint64_t>(ranks);
  EXPECT_EQ(sums, (std::array<std::uint64_t, 2>{n, n * (n - 1) / 2}));
  std::array<double, 2> least{-0.5 * rank, 1};
  all_reduce(least, MPI_MIN, all, waiting);
  EXPECT_EQ(least, (std::array<double, 2>{-0.5 * (ranks - 1), 1}));
  int most = rank;
  all_reduce(std::span(&most, 1), MPI_MAX, all, waiting);
  EXPECT_EQ(most, ranks - 1);
}

TEST_F(Exchange, ReportsWhetherAConditionHoldsOnAnyRank) {
  EXPECT_TRUE(is_so_on_any(rank == ranks - 1, all, waiting));
  EXPECT_FALSE(is_so_on_any(false, all, waiting));
}

// proves limits: network
TEST_F(Exchange, PassesMessagesOn) {
  barrier(all, waiting);
  std::vector<int> seen;
  if (rank > 0) {
    seen.resize(static_cast<std::size_t>(rank));
    receive(std::span(seen), rank - 1, tag, all, waiting);
  }
  seen.push_back(rank);
  if (rank + 1 < ranks) send(std::span(seen), rank + 1, tag, all, waiting);
  std::vector<int> expected(static_cast<std::size_t>(rank) + 1);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(seen, expected);
}

class Looks final : public Attention {
 public:
  void look() override { ++count; }
  int count = 0;
};

// proves measuring: barrier, start-time, stall
TEST_F(Exchange, GivesUpWhenTheOthersStayAwayForTooLong) {
  int never = 0;
  MPI_Request request;
  MPI_Irecv(&never, 1, MPI_INT, rank, tag, all, &request);
  Looks looks;
  EXPECT_THROW(wait(request, {.stall_timeout_s = 0.01, .attention = &looks}), StallError);
  EXPECT_GT(looks.count, 0);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace
}  // namespace strider
