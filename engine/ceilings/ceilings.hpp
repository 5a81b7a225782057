#pragma once
#include <functional>

#include "plan/plan.hpp"
#include "reports/phase.hpp"

namespace strider {

/// Measures what limits storage on this machine and with these ranks, and reports it: at the start all of it, at the
/// end what needs neither storage nor network, for the largest number of clients, so that a machine that became slower
/// shows. What cannot be measured says why; no error of it ends the run. Collective over MPI_COMM_WORLD. True on all
/// ranks if one was interrupted. Throws StallError.
bool measure_ceilings(const RunContext& context, const Plan& plan, CeilingMoment moment,
                      const std::function<MPI_Comm(std::uint32_t)>& of_first);

}  // namespace strider
