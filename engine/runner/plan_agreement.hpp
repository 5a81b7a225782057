#pragma once
#include <vector>

#include "plan/plan.hpp"
#include "runner/runner.hpp"

namespace strider {

/// Whether no rank found an error in the plan: a node may lack a module, a library or a file that others have. Else
/// rank 0 prints the errors of all ranks, each with the ranks that found it, and writes them as events of a run that
/// failed. Collective over MPI_COMM_WORLD.
bool agree_on_plan(const std::vector<PlanError>& mine, const RunOptions& options);

}  // namespace strider
