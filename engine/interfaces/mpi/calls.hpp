#pragma once
#include <mpi.h>

#include <cstdint>

#include "foundation/extent.hpp"

namespace strider {

/// What says where in the file a transfer takes place.
enum class Pointer {
  none,        ///< the call: an explicit offset
  individual,  ///< the rank's own file pointer
  shared,      ///< the file pointer that all ranks share; who comes first writes first
  ordered,     ///< the same, collectively, in the order of the ranks
};
enum class Participation { independent, collective };

// MPI's transfers in the forms that they have in common: those that go by a file pointer do not look at the offset, and
// those that write leave the memory as it is.

struct BlockingCall {
  const char* name;
  int (*function)(MPI_File, MPI_Offset, void* memory, int count, MPI_Datatype, MPI_Status*);
};
BlockingCall blocking_call(Direction direction, Pointer pointer, Participation participation);

struct NonblockingCall {
  const char* name;
  int (*function)(MPI_File, MPI_Offset, void* memory, int count, MPI_Datatype, MPI_Request*);
};
/// There is none for Pointer::ordered.
NonblockingCall nonblocking_call(Direction direction, Pointer pointer, Participation participation);

/// Collective, in two halves; a file has at most one of them under way.
struct SplitCall {
  const char* name;
  int (*begin)(MPI_File, MPI_Offset, void* memory, int count, MPI_Datatype);
  int (*end)(MPI_File, void* memory, MPI_Status*);
};
/// There is none for Pointer::shared.
SplitCall split_call(Direction direction, Pointer pointer);

}  // namespace strider
