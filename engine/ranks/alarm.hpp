#pragma once
#include <mpi.h>

#include <cstdint>

namespace strider {

/// Signals all ranks of a communicator that a phase has to end. The signal floods a binary tree of ranks, each of which
/// polls for it, so that it arrives everywhere within log N polls and no rank takes part in advance.
class Alarm {
 public:
  /// `phase` distinguishes this phase's alarm from a late one of an earlier phase.
  Alarm(MPI_Comm communicator, std::uint64_t phase);
  void raise();
  /// Whether this rank knows of the alarm; takes news from the neighbours and passes it on.
  bool raised();

 private:
  void tell_neighbours();
  MPI_Comm communicator_;
  std::uint64_t phase_;
  int rank_ = 0;
  int ranks_ = 1;
  bool raised_ = false;
};

}  // namespace strider
