#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "listio/client/client.hpp"
#include "listio/client/driver.hpp"
#include "listio/layout/byte_run.hpp"

namespace strider::listio {

/// The locks that a client holds. All locks on a file are on one server, the one with its first strip, so a list of
/// ranges can be locked in one step (docs/listio.md).
class Locks {
 public:
  explicit Locks(Driver& driver) : driver_(driver) {}

  LockId lock(const File& file, std::span<const ByteRun> ranges, LockKind kind);
  void unlock(LockId lock);
  /// Asks for a lock of an owner of the caller's own.
  std::unique_ptr<Operation> prepare(const File& file, std::uint64_t owner, LockKind kind, const ByteRun& range,
                                     std::chrono::milliseconds longest);
  bool is_held(LockId lock) const;
  /// Whether a lock on the file was lost. Locks of owners count also when they were given up.
  bool has_lost(FileId file) const;

 private:
  struct Held {
    File file;
    ByteRun hull;  ///< empty: nothing is locked
    std::uint32_t server = 0;
    std::uint64_t connection = 0;  ///< of those to the server: the lock ends with it
  };
  bool is_lost(const Held& lock) const;
  void ask(const char* what, const Held& lock, LockRequest request);

  Driver& driver_;
  std::map<LockId, Held> held_;
  LockId next_ = 1;
  std::map<FileId, Held> owned_;  ///< the last lock of an owner that was asked for on each file
};

}  // namespace strider::listio
