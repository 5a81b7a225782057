#pragma once
#include <mpi.h>

#include <string>

#include "events/events.hpp"
#include "ranks/waiting.hpp"

namespace strider {

/// What whoever starts the ranks says of their confinement.
struct ConfinementOptions {
  bool required = false;  ///< a run that is not fully confined ends before it touches anything
  /// A file that the user may write, but a confined rank may not; empty: the ranks are not confined.
  std::string probe;
  std::string reason;   ///< why they are not
  std::string wider;    ///< what may be written besides the run's folder
  std::string errands;  ///< socket of the process that does what a confined rank may not; empty: there is none
};

/// Whether this rank is confined, by trying it.
bool is_confined(const ConfinementOptions& options);

/// Of all ranks of a communicator together; on rank 0.
Confinement find_confinement(const ConfinementOptions& options, MPI_Comm communicator, const WaitOptions& waiting);

}  // namespace strider
