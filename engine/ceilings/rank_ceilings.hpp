#pragma once
#include <mpi.h>

#include <vector>

#include "measure/ceiling.hpp"
#include "reports/phase.hpp"

namespace strider {

/// How often each ceiling between ranks is measured: its value is the median.
constexpr int ceiling_rounds = 3;

/// What all ranks of a communicator together can do without any storage: copy memory, generate data, verify it, and
/// make requests of the interface that moves nothing. Collective; on rank 0 the result. Ends early, and then with
/// nothing, once a rank is interrupted; `interrupted` says so on all ranks. `here`: of these ranks, those on this
/// rank's node. Throws StallError.
std::vector<Ceiling> measure_ranks(const RunContext& context, MPI_Comm communicator, std::uint32_t here,
                                   bool& interrupted);

/// MiB/s that this rank sends to the next one of the communicator by MPI while it receives as much from the one before:
/// a figure for each round, the same number on all ranks; they mean nothing once a rank is interrupted. Collective.
std::vector<double> measure_messages(const RunContext& context, MPI_Comm communicator);

}  // namespace strider
