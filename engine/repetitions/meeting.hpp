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

  /// Returns, on all ranks, whether all groups are ready; then `start_s` seconds of this rank's group have passed
  /// since.
  bool begin(bool ready, double start_s);
  bool has_begun() const { return begun_; }
  void end();
  /// After a failure: comes to what this rank has missed.
  void leave();

 private:
  MPI_Comm all_;
  WaitOptions waiting_;
  bool begun_ = false, ended_ = false;
};

}  // namespace strider
