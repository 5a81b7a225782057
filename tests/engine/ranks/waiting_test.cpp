#include "ranks/waiting.hpp"

#include <gtest/gtest.h>

#include "mpi_session.hpp"

namespace strider {
namespace {

constexpr int tag = 6;

/// A message to this rank itself, sent when it has been looked for a few times.
class LateMessage final : public Attention {
 public:
  explicit LateMessage(int looks) : looks_(looks) {
    need_mpi();
    MPI_Irecv(&received, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
  }
  void look() override {
    if (--looks_ == 0) MPI_Send(&sent_, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
  }
  int received = 0;
  MPI_Request request = MPI_REQUEST_NULL;

 private:
  int looks_;
  int sent_ = 7;
};

TEST(Waiting, EndsWithTheOperationHoweverLongThatTakes) {
  for (const Patience patience : {Patience::awake, Patience::short_sleeps, Patience::long_sleeps})
    for (const int looks : {1, 5, 40}) {
      LateMessage message(looks);
      wait(message.request, {.patience = patience, .stall_timeout_s = 60, .attention = &message});
      EXPECT_EQ(message.received, 7);
    }
}

TEST(Waiting, GivesUpAfterTheStallTimeout) {
  LateMessage message(-1);
  EXPECT_THROW(wait(message.request, {.stall_timeout_s = 0.01}), StallError);
  MPI_Cancel(&message.request);
  MPI_Wait(&message.request, MPI_STATUS_IGNORE);
}

}  // namespace
}  // namespace strider
