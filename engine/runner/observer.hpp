#pragma once
#include <limits>
#include <string>

#include "measure/counter_sources.hpp"

namespace strider {

struct ObserveOptions {
  std::string out;  ///< file that is written
  double interval_s = 1;
  double duration_s = std::numeric_limits<double>::infinity();
  CounterScope counters = CounterScope::all;
  std::string root;  ///< before /proc and /sys
};

/// Writes down what this node's counters come to in each interval, without MPI: on a storage server beside a run. Ends
/// after the duration, or with SIGINT or SIGTERM, and then writes what the last interval came to. Throws IoError.
void observe_node(const ObserveOptions& options);

}  // namespace strider
