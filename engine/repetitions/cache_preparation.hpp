#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "plan/file_assignments.hpp"
#include "reports/phase.hpp"

namespace strider {

/// The files that a rank looks after for its node: of several ranks of a node that share a file it is the lowest.
struct FilesOfRank {
  std::vector<std::string> own;   ///< that the node's ranks have written
  std::vector<std::string> read;  ///< that they are going to read

  /// `node_of[rank]` for each client.
  FilesOfRank(const Case& test, const FileAssignments& assignments, const NumberRuns& node_of, std::uint32_t rank,
              std::uint64_t repetition, const std::string& directory);
};

/// Brings files out of the memory of all nodes that wrote or are going to read them, and looks whether they are.
/// What cannot be done is no error: the result says so. Collective.
Sample::CachePreparation make_cold(const RunContext& context, MPI_Comm communicator, const FilesOfRank& files);

/// Looks how much of the files that were read before is in the memory of the nodes. Collective.
Sample::CachePreparation examine_warm(const RunContext& context, MPI_Comm communicator, const FilesOfRank& files);

}  // namespace strider
