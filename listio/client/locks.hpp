#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "listio/client/client.hpp"
#include "listio/client/driver.hpp"
#include "listio/layout/byte_run.hpp"
#include "listio/layout/range_set.hpp"

namespace strider::listio {

/// The locks that a client holds. All locks on a file are on one server, the one with its first strip, so a list of
/// ranges can be locked in one step (docs/listio.md).
class Locks {
 public:
  explicit Locks(Driver& driver) : driver_(driver) {}

  LockId lock(const File& file, std::span<const ByteRun> ranges, LockKind kind);
  void unlock(LockId lock);
  /// Asks for a lock of an owner of the caller's own. `granted` is to be called when that has succeeded.
  struct Asked {
    std::unique_ptr<Operation> operation;
    std::function<void()> granted;
  };
  Asked prepare(const File& file, std::uint64_t owner, LockKind kind, const ByteRun& range,
                std::chrono::milliseconds longest);
  bool is_held(LockId lock) const;
  /// Before `what` is done again with a file. IoError with ENOLCK if a lock on it was lost, as others may have locked
  /// it since. A lock of an owner counts until the owner has unlocked it.
  void require(const char* what, const File& file) const;

 private:
  struct Held {
    File file;
    ByteRun hull;  ///< empty: nothing is locked
    std::uint32_t server = 0;
    std::uint64_t connection = 0;  ///< of those to the server: the lock ends with it
  };
  /// Of an owner. Once a lock is lost, all of these count as lost until the owner has unlocked them.
  struct Owned {
    RangeSet ranges;
    std::uint32_t server = 0;
    std::uint64_t connection = 0;
  };
  void grant(const File& file, std::uint64_t owner, const ByteRun& range, std::uint64_t connection);
  void give_up(const File& file, std::uint64_t owner, const ByteRun& range);
  bool is_lost(const Held& lock) const { return lock.hull.length > 0 && has_ended(lock.server, lock.connection); }
  bool has_ended(std::uint32_t server, std::uint64_t connection) const {
    return connection != driver_.connection(server);
  }
  /// The server with which a lock on the file was lost, if there is such a lock.
  std::optional<std::uint32_t> lost_at(FileId file) const;
  void ask(const char* what, const Held& lock, LockRequest request);

  Driver& driver_;
  std::map<LockId, Held> held_;
  LockId next_ = 1;
  std::map<std::pair<FileId, std::uint64_t>, Owned> owned_;  ///< what each owner has locked of each file
};

}  // namespace strider::listio
