#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "listio/mpi/below.hpp"
#include "listio/mpi/bytes.hpp"
#include "listio/mpi/errors.hpp"

namespace strider::listio::mpi {

/// Data sent to a rank, or received from it.
struct Parcel {
  int rank = 0;
  Bytes bytes;
};

/// The ranks that have opened a file together, and their messages. A rank that waits sleeps more and more,
/// so that others get the processor. No wait is longer than the patience: then the ranks cannot be brought together any
/// more, and every later call fails at once.
class Ranks {
 public:
  /// Collective over `communicator`, which is duplicated.
  Ranks(MPI_Comm communicator, std::chrono::milliseconds patience);
  /// Does not free the communicator: `leave` does.
  ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  MPI_Comm communicator() const { return communicator_; }
  int rank() const { return rank_; }
  int count() const { return count_; }
  bool is_first() const { return rank_ == 0; }

  /// The worst outcome of all ranks; a rank's own where it failed itself.
  Outcome agree(Outcome mine);
  /// The numbers of all ranks, in rank order; each gives as many.
  std::vector<std::int64_t> gather(std::span<const std::int64_t> mine);
  /// All ranks get those of the first rank.
  void share(std::span<std::int64_t> numbers);
  /// Sends parcels, at most one to each rank, and returns those that come, in the order of the ranks.
  std::vector<Parcel> exchange(std::vector<Parcel> parcels);
  /// Collective.
  void leave();

 private:
  struct Exchange;
  void duplicate(MPI_Comm communicator);
  void require_whole() const;
  /// Failure for an error code of MPI.
  void require_success(int code);
  /// Begins a request, and waits for it. When that fails, the buffers stay: a message may still come to them.
  template <typename Buffers, typename Begin>
  void run(std::unique_ptr<Buffers>& buffers, const Begin& begin);
  /// Failure when the patience is over; then the request stays.
  void wait(std::span<MPI_Request> requests);

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, count_ = 1;
  std::chrono::milliseconds patience_;
  bool broken_ = false;
};

}  // namespace strider::listio::mpi
