#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <utility>

#include "listio/client/client.hpp"

namespace strider::listio {

/// The `fcntl` locks of a mount: locks of the volume, which exclude those of other mounts and clients. The kernel gives
/// each process, or open file description, a number as owner. For one thread, which never waits here.
class MountLocks {
 public:
  using Owner = std::uint64_t;
  /// A lock to set, release or look up.
  struct Lock {
    File file;
    Owner owner = 0;
    std::uint64_t handle = 0;  ///< of the open file
    pid_t process = 0;         ///< for others who ask who holds it
    LockKind kind = LockKind::none;
    ByteRun range;
  };
  /// A request that waits for a lock: `is_interrupted` returns whether to stop waiting, `done` is called once, with
  /// 0 or an error number.
  struct Waiter {
    std::function<bool()> is_interrupted;
    std::function<void(int error)> done;
  };
  struct Found {
    LockKind kind = LockKind::none;
    ByteRun range;
    pid_t process = 0;  ///< 0: it is not of this mount
  };

  explicit MountLocks(Client& client) : client_(client) {}

  /// The lock that conflicts with this one, if there is one.
  std::optional<Found> find(const Lock& lock);
  /// Grants it now, or gives it up. IoError with EAGAIN if others exclude it.
  void set(const Lock& lock);
  /// Grants it when it is free.
  void wait(const Lock& lock, Waiter waiter);
  /// Gives up all that the owner has on a file; nothing happens if that is nothing.
  void release(const File& file, Owner owner);
  /// And all that owners have by an open file which is closed: locks of open file descriptions end with these.
  void release(std::uint64_t handle);

  /// While a request waits, `progress` has to be called again and again.
  bool are_waiting() const { return !waiting_.empty(); }
  /// Ends waits that can end.
  void progress();

 private:
  struct Waiting {
    Lock lock;
    Waiter waiter;
    Client::Ticket ticket = 0;
    bool is_cancelled = false;
  };
  void granted(const Lock& lock);
  bool finish(Waiting& waiting);
  void cancel(Waiting& waiting);
  int ask_again(Waiting& waiting);

  Client& client_;
  struct Known {
    File file;
    std::uint64_t handle = 0;
    pid_t process = 0;
  };
  std::map<std::pair<FileId, Owner>, Known> owners_;  ///< those that have had locks since they last gave up all
  std::list<Waiting> waiting_;
};

}  // namespace strider::listio
