#pragma once
#include <mpi.h>

namespace strider {

/// Defines what interface.hpp only declares; for the runner and for interfaces built on MPI.
struct Group {
  MPI_Comm communicator = MPI_COMM_SELF;
};

}  // namespace strider
