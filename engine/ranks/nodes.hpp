#pragma once
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "events/events.hpp"
#include "ranks/waiting.hpp"

namespace strider {

/// Where the ranks run, and which clocks they have.
struct Nodes {
  std::uint32_t mine = 0;  ///< number of this rank's node
  std::uint32_t count = 1;
  std::string host;  ///< this rank's
  /// This rank is its machine's lowest, and counts for it. Nodes that one machine stands in for have one in all.
  bool counts = false;
  /// Number of the monotonic clock that this rank has: one for each machine, or for each name space of time on it.
  std::uint32_t clock = 0;
  std::vector<NodeInfo> table;         ///< on rank 0
  std::vector<std::uint32_t> of_rank;  ///< the node of each rank
  std::vector<int> first_of_clock;     ///< the lowest rank with each clock, in their order

  /// Nodes on which the first `ranks` ranks run.
  std::uint32_t count_of_first(std::uint32_t ranks) const;
  /// On rank 0: the host that a rank runs on.
  const std::string& host_of(std::uint32_t rank) const { return table[of_rank[rank]].name; }
};

/// Collective over MPI_COMM_WORLD. `ranks_per_node` 0: nodes as MPI reports them. Throws StallError.
Nodes find_nodes(std::uint32_t ranks_per_node, const WaitOptions& waiting);

/// The node of each rank of a communicator of the first ranks.
std::vector<std::uint32_t> nodes_of(MPI_Comm communicator, const Nodes& nodes);

}  // namespace strider
