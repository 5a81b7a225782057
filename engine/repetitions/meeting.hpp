#pragma once
#include <mpi.h>

#include "ranks/waiting.hpp"

namespace strider {

/// Where the ranks of groups that measure at the same time wait for each other: before the first measured phase of each
/// group, and before any of them removes files or checks them. Each rank comes to both, in this order.
class Meeting {
 public:
  /// `all`: the ranks of all groups. `waiting`: without a deadline, since other groups may prepare and measure for any
  /// time, in which their own waits have deadlines.
  Meeting(MPI_Comm all, const WaitOptions& waiting) : all_(all), waiting_(waiting) {}
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  /// How a group comes to the common start, or how all groups do.
  enum class State { ready, interrupted, failed };
  /// Returns, on all ranks, the worst state; if all are ready, after `start_s` seconds of this rank's group.
  State begin(State mine, double start_s);
  bool has_begun() const { return begun_; }
  void end();
  /// At the end of a repetition: comes to what this rank has missed. `mine`: why, if it has missed the start.
  void leave(State mine);

 private:
  MPI_Comm all_;
  WaitOptions waiting_;
  bool begun_ = false, ended_ = false;
};

}  // namespace strider
