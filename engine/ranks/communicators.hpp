#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "foundation/number_runs.hpp"
#include "ranks/waiting.hpp"

namespace strider {

/// Communicators of some ranks, made with a deadline. The calls of MPI have none, and spin until the last rank comes.
/// Therefore the ranks meet first, by messages that are waited for; the calls then find all of them there. All throw
/// StallError, which names the rank that did not come and `purpose`, such as "to open a file together".

/// Waits until all `members` are here, which are ranks of `communicator` and call this in the same order. Each rank
/// sends and receives log2 N messages.
void meet(const NumberRuns& members, MPI_Comm communicator, const std::string& purpose, const WaitOptions& waiting);
/// Of these ranks of the run, in this order. Only they call it.
MPI_Comm communicator_among(const NumberRuns& members, const std::string& purpose, const WaitOptions& waiting);
/// Of the ranks with the same colour, in the order of their keys. All ranks of `communicator` call it.
MPI_Comm split(MPI_Comm communicator, int colour, int key, const std::string& purpose, const WaitOptions& waiting);

/// Communicators for cases, made when first needed by their ranks alone, and freed when many turns did without. All
/// ranks of the run see the same turns, so those of a communicator free it together.
class CommunicatorCache {
 public:
  explicit CommunicatorCache(double stall_timeout_s) : stall_timeout_s_(stall_timeout_s) {}
  /// On all ranks of the run, in the same order.
  void begin_turn();
  /// The ranks are in the order of `case_ranks`. Throws StallError.
  MPI_Comm of(const NumberRuns& case_ranks);
  std::size_t size() const { return made_.size(); }
  void free();

  static constexpr std::uint64_t idle_turns = 64;  ///< after which a communicator is freed

 private:
  struct Made {
    MPI_Comm communicator = MPI_COMM_NULL;
    std::uint64_t last_turn = 0;
  };
  MPI_Comm make(const NumberRuns& case_ranks) const;

  double stall_timeout_s_;
  std::uint64_t turn_ = 0;
  std::map<NumberRuns, Made> made_;
};

}  // namespace strider
