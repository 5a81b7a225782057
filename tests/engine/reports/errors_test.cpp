#include "reports/errors.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "mpi_session.hpp"

namespace strider {
namespace {

class ErrorsOverRanks : public RanksTest {
 protected:
  const WaitOptions waiting{.stall_timeout_s = 60};
};

ErrorRecord error_of(int rank, int number) {
  return describe_error(IoError({"write", "file" + std::to_string(rank), 0, 4096, number}), rank, "host");
}

std::uint64_t count_of(const std::vector<ErrorRecord>& errors) {
  std::uint64_t count = 0;
  for (const ErrorRecord& error : errors) count += error.count;
  return count;
}

TEST_F(ErrorsOverRanks, ReachRankZeroWithTheirNumber) {
  std::vector<ErrorRecord> mine;
  for (int i = 0; i < 100; ++i) mine.push_back(error_of(rank, ENOSPC));
  const std::vector<ErrorRecord> found = bring_errors_to_first(mine, MPI_COMM_WORLD, waiting);
  EXPECT_EQ(found.size(), rank == 0 ? 16U : 0U);
  if (rank != 0) return;
  EXPECT_EQ(count_of(found), 100U * static_cast<unsigned>(ranks));
  EXPECT_EQ(found.front().rank, 0);
}

TEST_F(ErrorsOverRanks, OfTheLastRankAloneArriveInFull) {
  const std::vector<ErrorRecord> mine(rank == ranks - 1 ? 1 : 0, error_of(rank, EIO));
  const std::vector<ErrorRecord> found = bring_errors_to_first(mine, MPI_COMM_WORLD, waiting);
  if (rank != 0) return;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rank, ranks - 1);
  EXPECT_EQ(found[0].file, "file" + std::to_string(ranks - 1));
}

TEST_F(ErrorsOverRanks, AreNotGatheredWhereThereAreNone) {
  EXPECT_TRUE(bring_errors_to_first({}, MPI_COMM_WORLD, waiting).empty());
}

TEST(Condensed, AnUnlikeErrorIsShownAmongManyLikeOnes) {
  std::vector<ErrorRecord> errors;
  for (int rank = 0; rank < 50; ++rank) errors.push_back(error_of(rank, rank == 49 ? EIO : ENOSPC));
  const std::vector<ErrorRecord> found = condense(errors);
  ASSERT_EQ(found.size(), 16U);
  EXPECT_EQ(found.back().error_number, EIO);
  EXPECT_EQ(found.back().count, 1U);
  EXPECT_EQ(found[14].count, 35U);  // the last like one
}

TEST(Condensed, TwiceCountsAsOnce) {
  std::vector<ErrorRecord> half, other;
  for (int rank = 0; rank < 40; ++rank) (rank % 2 == 0 ? half : other).push_back(error_of(rank, ENOSPC));
  std::vector<ErrorRecord> both = condense(half);
  for (const ErrorRecord& error : condense(other)) both.push_back(error);
  const std::vector<ErrorRecord> found = condense(both);
  EXPECT_EQ(found.size(), 16U);
  EXPECT_EQ(found.back().rank, 15);
  EXPECT_EQ(count_of(found), 40U);
}

}  // namespace
}  // namespace strider
