#pragma once

namespace strider {

/// Begins MPI unless that has been done: only some tests need it, and it is slow. It ends with the program.
void need_mpi();

}  // namespace strider
