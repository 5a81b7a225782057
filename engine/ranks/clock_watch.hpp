#pragma once
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "events/events.hpp"
#include "foundation/clock_map.hpp"
#include "ranks/nodes.hpp"
#include "ranks/waiting.hpp"

namespace strider {

/// The clocks of a phase's nodes beside rank 0's. They are compared right before and right after the phase, never while
/// it runs; in between they are taken to drift steadily. A comparison is a few messages there and back, of which the
/// fastest counts (Cristian 1989): half its round trip bounds the error. Nodes form a binary tree with rank 0's at the
/// root, in which each is compared with the one above it, and what was found goes up the same way, so the time grows
/// with the logarithm of their number; errors add up along the way. Where all ranks have one clock nothing is done.
class ClockWatch {
 public:
  ClockWatch(const Nodes& nodes, MPI_Comm communicator, const WaitOptions& waiting);
  /// Before the phase: waits until all ranks are here, then compares. No drift is known yet.
  void compare();
  /// After it: compares again when all ranks are here. Where all ranks have one clock no rank waits.
  void compare_again();

  /// A time of this rank's monotonic clock on rank 0's, in seconds.
  double reference_s(std::uint64_t local_ns) const { return mine_.map(static_cast<double>(local_ns) * 1e-9); }
  std::uint64_t local_ns(double reference_s) const {
    return static_cast<std::uint64_t>(mine_.inverse(reference_s) * 1e9);
  }
  /// Of each clock, rank 0's first.
  const std::vector<ClockMap>& maps() const { return maps_; }
  /// On rank 0: of each clock what was last found.
  const std::vector<ClockReading>& readings() const { return readings_; }

 private:
  ClockReading measure(int parent) const;
  void answer(int child) const;
  ClockReading compare_with_neighbours() const;
  void collect(const ClockMap& way_up);

  const Nodes& nodes_;
  MPI_Comm communicator_;
  WaitOptions waiting_;
  int rank_ = 0;
  std::uint32_t clocks_ = 1;  ///< that the ranks of the communicator have
  bool leads_ = false;        ///< this rank is compared for all that have its clock
  ClockReading last_;
  ClockMap mine_;
  std::vector<ClockMap> maps_{1};
  std::vector<ClockReading> readings_{1};
};

}  // namespace strider
