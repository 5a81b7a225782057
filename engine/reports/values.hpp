#pragma once
#include <span>

#include "reports/phase.hpp"
#include "verify/request_values.hpp"

namespace strider {

/// On rank 0 writes an event with the values of each rank of the phase that has any. Collective. Rank 0 holds those of
/// one rank at a time.
void report_values(RunContext& context, const PhaseTask& task, std::span<const RequestValues> mine,
                   const WaitOptions& waiting);

}  // namespace strider
