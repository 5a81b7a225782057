#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "listio/client/copies.hpp"
#include "listio/client/driver.hpp"
#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// Data of files whose names a client has removed. Data go after the removal of the name is on stable storage:
/// otherwise server 0 could lose power, have the name again, and the other servers no data.
///
/// The first removal asks for a sync of names. Those that follow wait until nine times the duration of that sync, and
/// at least 10 ms, are over: so a client that removes many files spends a tenth of its time in syncs.
class Removals {
 public:
  /// Data of a file, and the process of server 0 that removed its name. If it is not the one that syncs the removal,
  /// the name may be back: then the data stay, and a check of the volume finds them if it is not.
  struct Removed {
    Orphan orphan;
    std::uint64_t process = 0;
    bool is_durable = false;  ///< the removal of the name
  };

  Removals(Driver& driver, Copies& copies) : driver_(driver), copies_(copies) {}

  /// `what` is done with `path`: removes the data at once, or later. IoError. A client that repeats what failed for
  /// the loss of a server removes the data later in this case.
  void add(const char* what, const std::string& path, const Removed& removed);
  /// After an attempt that has failed not for nine times its duration, or a second.
  bool are_waiting() const { return !waiting_.empty() && Clock::now() >= retry_; }
  /// Removes all data that wait. IoError: after the loss of a server they wait further, up to 4096 of them; after other
  /// errors they are orphaned.
  void finish(const char* what, const std::string& path);
  /// The same at the end of the client, if the servers that have them are connected. Data that stay are orphaned.
  void finish_at_end() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  void remove(const char* what, const std::string& path, std::vector<Removed>& gone);
  std::uint32_t servers_of(const Orphan& orphan) const { return std::min(orphan.layout.servers, driver_.servers()); }

  Driver& driver_;
  Copies& copies_;
  std::vector<Removed> waiting_;
  Clock::time_point next_{};   ///< when the next sync may be
  Clock::time_point retry_{};  ///< when to try again
};

}  // namespace strider::listio
