#pragma once
#include <mpi.h>

#include <cstdint>

#include "ranks/clock_watch.hpp"
#include "ranks/waiting.hpp"

namespace strider {

/// Has ranks begin at an instant that rank 0 sets, rather than when a barrier lets each of them go. It lies as far
/// ahead as news took to come to all ranks before, and at most half a second.
class StartSignal {
 public:
  /// `ranks`: of the run.
  explicit StartSignal(int ranks);
  /// Rank 0 announces an instant to the ranks of a communicator; in seconds of rank 0's clock. Collective.
  double announce(MPI_Comm communicator, const ClockWatch& clocks, const WaitOptions& waiting);
  /// Until that instant, by this rank's clock.
  static void await(double start_s, const ClockWatch& clocks);
  /// How long the last announcement took to come to this rank.
  double news_s() const { return news_s_; }
  /// On rank 0: how long it took to come to the last rank.
  void learn(double slowest_news_s);

 private:
  double slowest_news_s_;
  double news_s_ = 0;
};

}  // namespace strider
