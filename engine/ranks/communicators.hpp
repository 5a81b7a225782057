#pragma once
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
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

/// Communicators for cases, made when first needed by their ranks alone, and freed when many turns did without. All
/// ranks of the run see the same turns, so those of a communicator free it together.
class CommunicatorCache {
 public:
  explicit CommunicatorCache(double stall_timeout_s) : stall_timeout_s_(stall_timeout_s) {}
  /// On all ranks of the run, in the same order.
  void begin_turn();
  /// The ranks are in the order of `seats`. Throws StallError.
  MPI_Comm of(std::span<const std::uint32_t> seats);
  std::size_t size() const { return made_.size(); }
  void free();

  static constexpr std::uint64_t idle_turns = 64;  ///< after which a communicator is freed

 private:
  /// Number, first and last of some ranks, and a hash of all: of hundreds of thousands the list itself is long.
  using Key = std::array<std::uint64_t, 4>;
  struct Made {
    MPI_Comm communicator = MPI_COMM_NULL;
    std::uint64_t last_turn = 0;
  };
  static Key key_of(std::span<const std::uint32_t> seats);
  MPI_Comm make(std::span<const std::uint32_t> seats) const;

  double stall_timeout_s_;
  std::uint64_t turn_ = 0;
  std::map<Key, Made> made_;
};

}  // namespace strider
