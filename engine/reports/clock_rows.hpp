#pragma once
#include <vector>

#include "events/events.hpp"
#include "ranks/clock_watch.hpp"
#include "reports/phase.hpp"

namespace strider {

/// Says in a sample how wrong its time may be because clocks differ, and flags it where that is too much.
void note_clock_error(const ClockWatch& clocks, Sample& sample);

/// On rank 0, of each clock but its own; of many, those with the largest errors.
std::vector<ClockRow> clock_rows(const RunContext& context, const ClockWatch& clocks, const Sample& sample);

}  // namespace strider
