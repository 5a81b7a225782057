#pragma once
#include <mpi.h>

#include <cstdint>

namespace strider {

/// Tells all ranks of a communicator that a phase has to end. The news floods a binary tree of ranks, each of which
/// looks for it now and then, so that it arrives everywhere within log N looks and nobody has to be asked in advance.
class Alarm {
 public:
  /// `phase` tells this phase's alarm from late news of an earlier one.
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
