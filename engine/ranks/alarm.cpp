#include "ranks/alarm.hpp"

namespace strider {
namespace {

constexpr int alarm_tag = 911;

}  // namespace

Alarm::Alarm(MPI_Comm communicator, std::uint64_t phase) : communicator_(communicator), phase_(phase) {
  MPI_Comm_rank(communicator, &rank_);
  MPI_Comm_size(communicator, &ranks_);
}

void Alarm::raise() {
  if (raised_) return;
  raised_ = true;
  tell_neighbours();
}

bool Alarm::raised() {
  int waiting = 1;
  while (true) {
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, alarm_tag, communicator_, &waiting, &status);
    if (waiting == 0) break;
    std::uint64_t phase = 0;
    MPI_Recv(&phase, 1, MPI_UINT64_T, status.MPI_SOURCE, alarm_tag, communicator_, MPI_STATUS_IGNORE);
    if (phase == phase_) raise();
  }
  return raised_;
}

void Alarm::tell_neighbours() {
  // Eight bytes go eagerly: the send returns without the receiver. What is not read in this phase is dropped in the
  // next.
  const int neighbours[] = {rank_ > 0 ? (rank_ - 1) / 2 : -1, 2 * rank_ + 1, 2 * rank_ + 2};
  for (const int neighbour : neighbours)
    if (neighbour >= 0 && neighbour < ranks_) MPI_Send(&phase_, 1, MPI_UINT64_T, neighbour, alarm_tag, communicator_);
}

}  // namespace strider
