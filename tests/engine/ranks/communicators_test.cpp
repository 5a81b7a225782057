#include "ranks/communicators.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>

#include "mpi_session.hpp"

namespace strider {
namespace {

constexpr WaitOptions patient{.stall_timeout_s = 60};

class Communicators : public RanksTest {
 protected:
  /// This rank's number in a communicator, and how many it has.
  static std::pair<int, int> place_in(MPI_Comm communicator) {
    int mine = 0, size = 0;
    MPI_Comm_rank(communicator, &mine);
    MPI_Comm_size(communicator, &size);
    return {mine, size};
  }
  /// The messages of a meeting that failed.
  static void take_the_rest(MPI_Comm communicator) {
    for (int waiting = 1; waiting != 0;) {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, &waiting, &status);
      if (waiting != 0)
        MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, communicator, MPI_STATUS_IGNORE);
    }
  }
};

TEST_F(Communicators, AmongSomeRanksHaveTheOrderOfTheList) {
  std::vector<std::uint32_t> members(static_cast<std::size_t>(ranks > 1 ? ranks - 1 : 1));
  std::iota(members.rbegin(), members.rend(), ranks > 1 ? 1U : 0U);
  if (ranks > 1 && rank == 0) return;  // it takes no part, and is not waited for
  for (int time = 0; time < 3; ++time) {
    MPI_Comm made = communicator_among(members, "to test", patient);
    const int expected = ranks > 1 ? ranks - 1 - rank : 0;
    EXPECT_EQ(place_in(made), std::make_pair(expected, static_cast<int>(members.size())));
    MPI_Comm_free(&made);
  }
}

TEST_F(Communicators, OfASplitHaveTheRanksOfAColourInTheOrderOfTheirKeys) {
  MPI_Comm made = split(MPI_COMM_WORLD, rank % 2, -rank, "to test", patient);
  const int alike = (ranks + 1 - rank % 2) / 2;
  EXPECT_EQ(place_in(made), std::make_pair(alike - 1 - rank / 2, alike));
  MPI_Comm_free(&made);
}

TEST_F(Communicators, AreNotMadeWithoutARankThatDoesNotCome) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  const NumberRuns all = NumberRuns::consecutive(0, static_cast<std::uint32_t>(ranks));
  const bool comes = rank < ranks - 1 || ranks == 1;
  if (comes && ranks > 1) {
    try {
      meet(all, own, "to test", {.stall_timeout_s = 0.2});
      ADD_FAILURE() << "the last rank has not come";
    } catch (const StallError& error) {
      const std::string missing = "rank " + std::to_string(ranks - 1) + " of the case";
      if (rank == 0) {  // it waits for the last rank itself, not for one that does
        EXPECT_EQ(error.what(), "waited 0 s for the other ranks to test, and " + missing + " did not come");
      }
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  take_the_rest(own);
  MPI_Comm_free(&own);
}

TEST_F(Communicators, AreFreedByAllWhenManyTurnsDidWithout) {
  CommunicatorCache cache(60);
  std::vector<std::uint32_t> all(static_cast<std::size_t>(ranks));
  std::iota(all.rbegin(), all.rend(), 0U);
  const std::vector<std::uint32_t> used{static_cast<std::uint32_t>(ranks - 1)};
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(place_in(cache.of(all)), std::pair(ranks - 1 - rank, ranks)) << round;
    const bool uses = rank == ranks - 1 && ranks > 1;
    for (std::uint64_t turn = 0; turn < CommunicatorCache::idle_turns; ++turn) {
      cache.begin_turn();
      const MPI_Comm alone = uses ? cache.of(used) : MPI_COMM_SELF;
      EXPECT_EQ(place_in(alone), std::pair(0, 1));
    }
    EXPECT_EQ(cache.size(), uses ? 2U : 1U);
    cache.begin_turn();
    EXPECT_EQ(cache.size(), uses ? 1U : 0U);
  }
  cache.free();
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace strider
