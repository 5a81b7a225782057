#pragma once
#include <limits>
#include <string>

#include "measure/counter_sources.hpp"

namespace strider {

enum class ObserveEnd {
  signal,
  input_closes,  ///< or when standard input comes to its end: whoever started this over a network is gone
};

struct ObserveOptions {
  std::string out;  ///< file that is written; "-": standard output
  double interval_s = 1;
  double duration_s = std::numeric_limits<double>::infinity();
  CounterScope counters = CounterScope::all;
  std::string root;  ///< before /proc and /sys
  ObserveEnd end = ObserveEnd::signal;
};

/// Writes down what this node's counters come to in each interval, without MPI: on a storage server beside a run. Ends
/// after the duration, or with SIGINT or SIGTERM, and then writes what the last interval came to. Throws IoError.
void observe_node(const ObserveOptions& options);

}  // namespace strider
