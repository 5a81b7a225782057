#include <gtest/gtest.h>
#include <mpi.h>

#include "mpi_session.hpp"

namespace strider {

void need_mpi() {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun == 0) MPI_Init(nullptr, nullptr);
}

namespace {

class MpiEnd final : public testing::Environment {
 public:
  void TearDown() override {
    int begun = 0;
    MPI_Initialized(&begun);
    if (begun != 0) MPI_Finalize();
  }
};

}  // namespace
}  // namespace strider

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  testing::AddGlobalTestEnvironment(new strider::MpiEnd);
  return RUN_ALL_TESTS();
}
