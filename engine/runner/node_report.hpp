#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace strider {

/// What a run needs to know of a node before its start.
struct NodeQuestion {
  std::string version;                  ///< of this engine
  std::string target;                   ///< the directory to measure
  std::string folder;                   ///< the run's folder in it, which carries a marker; empty: not looked for
  std::vector<std::string> interfaces;  ///< that the plan uses
  std::vector<std::string> files;       ///< that each rank reads: lists of the plan, a file in the store
};

/// Writes one line of JSON about this node, without MPI and in one call, so that lines of many nodes stay whole. A
/// launcher starts one process on each node. Looks for folder and files for two seconds: caches may be behind.
void report_node(const NodeQuestion& question, std::ostream& out);

}  // namespace strider
