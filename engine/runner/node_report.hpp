#pragma once
#include <iosfwd>
#include <string>

namespace strider {

/// What a run needs to know of a node before its start.
struct NodeQuestion {
  std::string version;  ///< of this engine
  std::string target;   ///< the directory to measure
  std::string folder;   ///< the run's folder in it, which carries a marker; empty: not looked for
};

/// Writes one line of JSON about this node, without MPI and in one call, so that lines of many nodes stay whole. A
/// launcher starts one process on each node. Looks for the folder for two seconds: caches of names may be behind.
void report_node(const NodeQuestion& question, std::ostream& out);

}  // namespace strider
