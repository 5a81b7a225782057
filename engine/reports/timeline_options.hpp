#pragma once

namespace strider {

/// Which timelines are reported: none, one for each node or each rank, or, with automatic, each rank's of small
/// cases and each node's of large ones.
enum class TimelineScope { none, node, rank, automatic };

struct TimelineOptions {
  TimelineScope scope = TimelineScope::automatic;
  double interval_s = 0.1;  ///< until a phase has more intervals than fit
};

}  // namespace strider
