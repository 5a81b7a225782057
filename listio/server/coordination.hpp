#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foundation/deadline.hpp"
#include "listio/protocol/messages.hpp"
#include "listio/server/cells.hpp"
#include "listio/server/lock_table.hpp"
#include "listio/transfer/transport.hpp"

namespace strider::listio {

/// What clients agree on among each other: cells and locks. All of it is in memory and belongs to sessions, and no
/// request takes long, so that the server's own thread answers at once; not in order with requests for files.
class Coordination {
 public:
  struct Options {
    std::uint32_t server = 0;               ///< cells are server 0's alone
    std::chrono::milliseconds most_wait{};  ///< for a lock, with any patience of the client
    /// How long exclusive locks stay after the end of their session: what its client wrote to other servers is carried
    /// out or dropped by then.
    std::chrono::milliseconds grace{};
  };
  /// A reply to a request of a session.
  struct Answer {
    Peer session = 0;
    std::vector<std::byte> message;
  };

  explicit Coordination(const Options& options) : options_(options), cells_({}), locks_({}) {}

  /// Of a request for a cell or a lock. `name` is the client's.
  void hear(Peer session, const std::string& name, NumberedRequest& request);
  /// The replies that are due by now.
  std::vector<Answer> take_answers();
  /// When `take_answers` has to be called at the latest.
  std::optional<Deadline> next() const { return locks_.next(); }
  void end(Peer session);

  // From any thread.
  std::uint64_t cells() const { return cells_now_; }
  std::uint64_t locked_ranges() const { return ranges_now_; }
  std::uint64_t waiting_locks() const { return waiting_now_; }

 private:
  void hear(Peer session, const std::string& name, std::uint64_t number, LockRequest& request);
  void hear(Peer session, std::uint64_t number, const FindLockRequest& request);
  void hear(Peer session, std::uint64_t number, const CancelLockRequest& request);
  void reply(Peer session, std::uint64_t number, Errno error, std::vector<std::byte> body);
  void refuse(Peer session, std::uint64_t number, Errno error, const std::string& reason);
  void show();

  Options options_;
  Cells cells_;
  LockTable locks_;
  std::vector<Answer> answers_;
  std::atomic<std::uint64_t> cells_now_ = 0, ranges_now_ = 0, waiting_now_ = 0;
};

}  // namespace strider::listio
