#pragma once
#include <cstdint>
#include <functional>

#include "foundation/number_runs.hpp"
#include "plan/plan.hpp"
#include "reports/phase.hpp"

namespace strider {

/// Makes the communicator of these ranks of the run, in this order. Called by them alone.
using CommunicatorOf = std::function<MPI_Comm(const NumberRuns&)>;

/// Measures what limits storage on this machine and with these ranks, and reports it: at the start all of it, at the
/// end what needs neither storage nor network, for the largest number of clients, so that a machine that became slower
/// shows. Clients are measured on the nodes of the cases. What cannot be measured says why; no error of it ends the
/// run. `plan`: its cases are looked at on rank 0 alone. Collective over MPI_COMM_WORLD. True on all ranks if one was
/// interrupted. Throws StallError.
bool measure_ceilings(const RunContext& context, const Plan& plan, CeilingMoment moment,
                      const CommunicatorOf& communicator_of);

}  // namespace strider
