#pragma once
#include <cstdint>

#include "repetitions/case_runner.hpp"

namespace strider {

/// The time of simulated ranks, in which phases follow each other.
struct SimulatedTime {
  std::uint64_t phases = 0;  ///< so far
  double now_s = 0;          ///< since the start of the run
};

/// Nodes of simulated ranks, with so many consecutive ranks each; all have one clock.
Nodes simulated_nodes(std::uint32_t ranks, std::uint32_t ranks_per_node);

/// The measured phases of a repetition with simulated ranks, for which the processes of the communicator stand. Two
/// thirds of the way through the ranks of the case is one that takes 1.5 times as long as the others. Nothing is
/// prepared, transferred or removed. Collective over the communicator.
RepetitionOutcome simulate_repetition(RunContext& context, const RepetitionTask& task, SimulatedTime& time);

}  // namespace strider
