#include "reports/per_rank_file.hpp"

#include <gtest/gtest.h>

namespace strider {
namespace {

TEST(PerRankFile, FewWritersOfManyRanks) {
  EXPECT_EQ(processes_per_writer(100'000, 100'000), 4096U);
  EXPECT_EQ(processes_per_writer(64, 64), 4096U) << "all send to rank 0";
}

TEST(PerRankFile, AProcessThatStandsForManyRanksWritesAlone) {
  EXPECT_EQ(processes_per_writer(100'000, 8), 1U);
  EXPECT_EQ(processes_per_writer(8192, 4), 2U);
}

}  // namespace
}  // namespace strider
