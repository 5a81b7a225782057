#pragma once
#include <mpi.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ranks/waiting.hpp"

namespace strider {

/// Communicators of some ranks, made with a deadline. The calls of MPI have none, and spin until the last rank comes.
/// Therefore the ranks meet first, by messages that are waited for; the calls then find all of them there. All throw
/// StallError, which names the rank that did not come and `purpose`, such as "to open a file together".

/// Waits until all `members` are here, which are ranks of `communicator` and call this in the same order. Each rank
/// sends and receives log2 N messages.
void meet(const std::vector<int>& members, MPI_Comm communicator, const std::string& purpose,
          const WaitOptions& waiting);
/// Of these ranks of the run, in this order. Only they call it.
MPI_Comm communicator_among(const std::vector<int>& members, const std::string& purpose, const WaitOptions& waiting);
/// Of the ranks with the same colour, in the order of their keys. All ranks of `communicator` call it.
MPI_Comm split(MPI_Comm communicator, int colour, int key, const std::string& purpose, const WaitOptions& waiting);

/// Communicators for cases, made when first needed by their ranks alone.
class CommunicatorCache {
 public:
  explicit CommunicatorCache(double stall_timeout_s) : stall_timeout_s_(stall_timeout_s) {}
  /// The ranks are in the order of `seats`. Throws StallError.
  MPI_Comm of(const std::vector<std::uint32_t>& seats);
  void free();

 private:
  MPI_Comm make(const std::vector<std::uint32_t>& seats) const;

  double stall_timeout_s_;
  std::map<std::vector<std::uint32_t>, MPI_Comm> made_;
};

}  // namespace strider
