#pragma once
#include <cstdint>
#include <optional>

#include "reports/phase.hpp"

namespace strider {

/// How long a phase of simulated ranks takes, and what one of them does.
struct SimulatedWork {
  std::uint64_t number = 0;                ///< of the phase among those of the run
  double begin_s = 0;                      ///< since the start of the run
  double duration_s = 0;                   ///< of a rank that is as fast as the mean
  std::uint32_t straggler = 0;             ///< the rank that takes `straggler_factor` times as long
  std::optional<std::uint32_t> slow_node;  ///< its ranks take `slow_node_factor` times as long
};
constexpr double straggler_factor = 1.5;
constexpr double slow_node_factor = 1.75;  ///< later than the straggler, at any noise
constexpr double simulated_spread = 0.05;  ///< of durations and latencies, around their mean on both sides

/// What each rank of a phase would bring is drawn from a seeded generator, and reported as by real ranks. Nothing is
/// transferred. Each process of the communicator stands for some of the ranks. A stall ends the run.
PhaseOutcome run_simulated_phase(RunContext& context, const PhaseTask& task, const SimulatedWork& work);

}  // namespace strider
