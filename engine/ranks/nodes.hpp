#pragma once
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "events/events.hpp"
#include "foundation/number_runs.hpp"
#include "ranks/waiting.hpp"

namespace strider {

/// The name of this host, as it has it itself.
std::string host_name();

/// Where the ranks of the run, or those of a case, run, and which clocks they have. Nodes are numbered in the run;
/// ranks and clocks among those that take part.
struct Nodes {
  std::uint32_t mine = 0;  ///< number of this rank's node
  std::string host;        ///< this rank's
  /// This rank is its machine's lowest, and counts for it. Nodes that one machine stands in for have one in all.
  bool counts = false;
  /// Number of the monotonic clock that this rank has: one for each machine, or for each name space of time on it.
  std::uint32_t clock = 0;
  std::vector<NodeInfo> table;                ///< on rank 0
  std::vector<double> time_of_day_of_rank_s;  ///< on rank 0: when its monotonic clock showed 0
  NumberRuns of_rank;                         ///< the node of each rank
  std::vector<int> first_of_clock;            ///< the lowest rank with each clock, in their order
  std::vector<std::uint32_t> clock_in_run;    ///< number in the run of each of these clocks
  NumberRuns machine_of_rank, clock_of_rank;  ///< numbers in the run

  /// Those of the ranks that take part in a case, in the order of the case's ranks; `me`: this rank's place in it.
  Nodes subset(const NumberRuns& case_ranks, std::size_t me) const;
  /// Sets what follows from the homes of all ranks; `me`: this rank.
  void note_firsts(std::size_t me);
};

/// Collective over MPI_COMM_WORLD. `ranks_per_node` 0: nodes as MPI reports them. Throws StallError.
Nodes find_nodes(std::uint32_t ranks_per_node, const WaitOptions& waiting);

}  // namespace strider
