#pragma once
#include <mpi.h>

#include <vector>

#include "ranks/waiting.hpp"
#include "reports/error_record.hpp"

namespace strider {

/// On rank 0 the errors of all ranks, condensed; nothing on the others. Collective. The errors travel up a binary tree
/// of ranks and are condensed at each rank, so no rank holds or sends more than a bounded number. Throws StallError.
std::vector<ErrorRecord> bring_errors_to_first(std::vector<ErrorRecord> mine, MPI_Comm communicator,
                                               const WaitOptions& waiting);

}  // namespace strider
