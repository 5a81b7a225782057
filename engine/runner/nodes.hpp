#pragma once
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "events/events.hpp"

namespace strider {

/// Where the ranks run, and what their clocks show.
struct Nodes {
  std::uint32_t mine = 0;  ///< number of this rank's node
  std::uint32_t count = 1;
  std::string host;  ///< this rank's
  /// This rank is its machine's lowest, and counts for it. Nodes that one machine stands in for have one in all.
  bool counts = false;
  /// What to add to this node's monotonic clock to get rank 0's, and how wrong that may be.
  double clock_offset_s = 0;
  double clock_error_s = 0;
  std::vector<NodeInfo> table;         ///< on rank 0
  std::vector<std::uint32_t> of_rank;  ///< on rank 0: the node of each rank

  /// On rank 0: nodes on which the first `ranks` ranks run.
  std::uint32_t count_of_first(std::uint32_t ranks) const;
  /// On rank 0: the host that a rank runs on.
  const std::string& host_of(std::uint32_t rank) const { return table[of_rank[rank]].name; }
};

/// Collective over MPI_COMM_WORLD. `ranks_per_node` 0: nodes as MPI reports them.
Nodes find_nodes(std::uint32_t ranks_per_node);

/// The node of each rank of a communicator, on every rank.
std::vector<std::uint32_t> nodes_of(MPI_Comm communicator, const Nodes& nodes);

}  // namespace strider
