#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "foundation/number_runs.hpp"
#include "plan/case.hpp"

namespace strider {

/// A rank's file and its place among the ranks that share that file.
struct FileAssignment {
  std::uint64_t file = 0;
  Place place;
};

/// Assigns files to ranks.
class FileAssignments {
 public:
  /// `node_of[rank]` for each client; only looked at with SharingKind::per_node.
  FileAssignments(Sharing sharing, std::uint32_t clients, const NumberRuns& node_of);
  FileAssignment assignment(std::uint32_t rank) const;
  std::uint64_t files() const { return files_; }
  /// Ranks that share a file.
  std::uint32_t ranks_of(std::uint64_t file) const;

 private:
  Sharing sharing_;
  std::uint32_t clients_;
  std::uint64_t files_ = 1;
  NumberRuns node_of_, place_on_node_;  ///< of each rank, where ranks of a node share a file
  std::vector<std::uint32_t> node_ranks_;
};

/// Nodes of ranks 0 … clients-1 when each has `ranks_per_node` consecutive ranks (0: one node for all).
NumberRuns consecutive_nodes(std::uint32_t clients, std::uint32_t ranks_per_node);

/// The rank whose data `rank` reads in a repetition. `steps`: shifts from there to here, with a growing shift.
std::uint32_t readback_rank(const Case& test, std::uint32_t rank, std::uint64_t repetition, std::uint32_t steps = 1);

/// The name of a case's file in the folder of the run, or of its data set.
std::string file_name(const Case& test, std::uint64_t file);

}  // namespace strider
