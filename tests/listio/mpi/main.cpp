#include <gtest/gtest.h>
#include <mpi.h>

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  MPI_Init(&count, &words);
  const int code = RUN_ALL_TESTS();
  MPI_Finalize();
  return code;
}
