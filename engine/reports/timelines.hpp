#pragma once
#include <cstdint>

#include "measure/timeline.hpp"
#include "reports/phase.hpp"

namespace strider {

/// Brings the ranks' timelines of a phase together and, on rank 0, writes an event for each rank or node. Collective.
/// Rank 0 holds one at a time, so its memory does not grow with the ranks. `start_s`: of the first interval.
void report_timelines(RunContext& context, const PhaseTask& task, double start_s, Timeline& mine,
                      const WaitOptions& waiting);

}  // namespace strider
