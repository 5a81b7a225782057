#pragma once
#include <gtest/gtest.h>
#include <mpi.h>

namespace strider {

/// Begins MPI unless that has been done: only some tests need it, and it is slow. It ends with the program.
void need_mpi();

/// Run by one rank, and by three of mpiexec's at the same time.
class RanksTest : public testing::Test {
 protected:
  RanksTest() {
    need_mpi();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  int rank = 0, ranks = 1;
};

}  // namespace strider
