#include "ranks/alarm.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "mpi_session.hpp"

namespace strider {
namespace {

class AlarmTest : public RanksTest {
 protected:
  /// No news are left for whoever comes next.
  static void take_the_rest(Alarm& alarm) {
    MPI_Barrier(MPI_COMM_WORLD);
    alarm.raised();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  static bool comes(Alarm& alarm) {
    for (int look = 0; look < 6000 && !alarm.raised(); ++look)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return alarm.raised();
  }
};

TEST_F(AlarmTest, OfOneRankComesToAll) {
  for (int first = 0; first < ranks; ++first) {
    Alarm alarm(MPI_COMM_WORLD, 100 + static_cast<std::uint64_t>(first));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == first) alarm.raise();
    EXPECT_TRUE(comes(alarm)) << "raised by rank " << first;
    take_the_rest(alarm);
  }
}

TEST_F(AlarmTest, OfAnEarlierPhaseIsNoneOfThis) {
  Alarm(MPI_COMM_WORLD, 200).raise();
  MPI_Barrier(MPI_COMM_WORLD);
  Alarm alarm(MPI_COMM_WORLD, 201);
  EXPECT_FALSE(alarm.raised());
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) alarm.raise();
  EXPECT_TRUE(comes(alarm));
  take_the_rest(alarm);
}

}  // namespace
}  // namespace strider
