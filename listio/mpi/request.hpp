#pragma once
#include <cstdint>
#include <memory>

#include "listio/mpi/access.hpp"
#include "listio/mpi/below.hpp"

namespace strider::listio::mpi {

/// Access that a program waits for by a request of MPI (a generalized one). With MPICH's extension it progresses
/// whenever the program tests or waits for requests; elsewhere it is over before the call returns.
class NonblockingAccess {
 public:
  NonblockingAccess(std::shared_ptr<OpenFile> file, Task task)
      : file_(file), transfer_(std::move(file), std::move(task)) {}

  /// Independent of other ranks, for collective calls too: ranks must not wait for each other before they wait for
  /// their requests. Returns the result of the program's call.
  static Outcome start(const std::shared_ptr<OpenFile>& file, const Ask& ask, Participation participation,
                       MPI_Request* request);

  /// Progresses it, or ends it; completes MPI's request at the end.
  void go_on();
  void finish();
  Outcome outcome() const { return outcome_; }
  std::int64_t bytes_moved() const { return bytes_; }

 private:
  void complete();

  std::shared_ptr<OpenFile> file_;
  Transfer transfer_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  Outcome outcome_;
  std::int64_t bytes_ = 0;
  std::mutex mutex_;
  bool complete_ = false;
  friend struct Callbacks;
};

/// Finishes accesses in flight on a file, before it is closed.
void finish_all(OpenFile& file);

}  // namespace strider::listio::mpi
