#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "listio/client/client.hpp"
#include "listio/mpi/hints.hpp"

namespace strider::listio::mpi {

/// This process's connection to a volume, for one thread at a time. No function of MPI may be called while it is used.
class Connection {
 public:
  Connection(const Volume& volume, const ClientOptions& options)
      : transport_(options.transport.empty() ? volume.transport : options.transport), client_(volume, options) {}

  /// Runs `step` on the client, and returns its result. Failure in a process that was forked from the one that
  /// made the connection: both would write to the same sockets.
  template <typename Step>
  auto use(const Step& step) {
    const std::scoped_lock lock(mutex_);
    require_own_process();
    return step(client_);
  }
  /// What carries the bytes.
  const std::string& transport() const { return transport_; }
  /// Transfers in atomic mode follow each other within a process: one that waits for a lock of another one's would keep
  /// that from ending.
  std::mutex& atomic_transfers() { return atomic_transfers_; }

 private:
  static void require_own_process();

  std::string transport_;
  std::mutex mutex_, atomic_transfers_;
  Client client_;
};

/// The connection that these hints ask for: made by the first call, and kept until MPI_Finalize. Failure where no
/// volume is named; what Client throws where it does not answer.
std::shared_ptr<Connection> connection_of(const Hints& hints);

/// Has `step` run by MPI_Finalize, before MPI itself ends; once, however often it is called.
void at_finalize(void (*step)());
/// Ends the connections.
void disconnect_all();

}  // namespace strider::listio::mpi
