#pragma once
#include <cstdint>
#include <vector>

#include "events/events.hpp"
#include "foundation/clock.hpp"
#include "runner/runner.hpp"

namespace strider {

/// What a run's first event says of ranks that do I/O. `nodes`: of all ranks.
RunInfo announcement(const RunOptions& options, std::uint32_t ranks, const std::vector<NodeInfo>& nodes,
                     const Timer& timer, const Confinement& confinement);

}  // namespace strider
