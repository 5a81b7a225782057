#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "foundation/deadline.hpp"
#include "listio/client/call.hpp"
#include "listio/client/volume.hpp"
#include "listio/protocol/parse.hpp"

namespace strider::listio {

/// Memory to pack into and unpack from, registered if that is needed.
class PackMemory {
 public:
  /// std::system_error if there is no memory. `domain` may be nothing.
  PackMemory(std::size_t bytes, Domain* domain);
  ~PackMemory();
  PackMemory(const PackMemory&) = delete;
  PackMemory& operator=(const PackMemory&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }
  const Region* region() const { return region_ ? &*region_ : nullptr; }

 private:
  std::span<std::byte> bytes_;
  Domain* domain_;
  std::optional<Region> region_;
};

/// A client's connection to one server: introduces itself, and carries out calls, as many at a time as the server
/// allows, in their order.
class Link {
 public:
  /// `patience` is how long a call waits for an answer.
  Link(Transport& transport, Domain* domain, const Volume& volume, std::uint32_t number,
       std::chrono::milliseconds patience);

  std::uint32_t number() const { return number_; }
  /// Such as "server 2 (127.0.0.1:40123)".
  const std::string& name() const { return name_; }
  bool is_up() const { return state_ == State::up; }
  /// Which of those that were up, from 1; 0 unless it is up.
  std::uint64_t connection() const { return is_up() ? connections_ : 0; }
  bool has_connected() const { return connections_ > 0; }
  /// Whether it was asked to connect, successfully or not.
  bool was_tried() const { return was_tried_; }
  std::optional<Peer> peer() const { return peer_; }
  const Welcome& welcome() const { return welcome_; }

  /// Introduces itself: afterwards the server's answers have to come in (`received`) until `is_up`. IoError.
  void connect(const Deadline& deadline);
  /// Ends the connection; all calls fail for `reason`.
  void break_off(int error_number, const std::string& reason);
  /// Why the connection failed; empty if it did not since `connect`.
  const std::string& refusal() const { return refusal_; }
  /// ECONNRESET if the connection ended without a word, also in the handshake; EACCES and others if one side refused.
  int refusal_error() const { return refusal_error_; }
  /// Whether a buffer has been requested and there is none at all.
  bool waits_for_buffer() const { return requested_buffers_ > 0 && free_buffers_.empty() && lent_buffers_.empty(); }
  /// What did not come in time: an answer, or a buffer.
  std::string what_is_late() const;

  /// Puts a call behind those there are. One that the server does not count is started at once.
  void add(Call& call);
  /// When the server last said something, or moved data.
  Deadline heard() const { return heard_; }
  /// When it last moved data, granted a buffer or carried out a request.
  Deadline progressed() const { return progressed_; }
  /// Starts what can be started.
  void drive();
  /// Forgets calls of an operation that has failed and whose turn has not come.
  void drop_waiting(const Operation& operation);

  // Events of the transport.
  void received(std::span<const std::byte> message);
  void completed(std::uint64_t token);
  void closed(const std::string& reason);

  // For moving data to a buffer of the server outside of any call, to measure its cost.
  RemotePlace place_of(std::uint32_t buffer) const;
  PackMemory& pack_memory();
  /// One that no call uses. Nothing if there is none; then one has been requested.
  std::optional<std::uint32_t> borrow_buffer();
  void return_buffer(std::uint32_t buffer);
  /// Cancels the request of `borrow_buffer`.
  void stop_borrowing() { borrows_ = false; }

  std::uint64_t requests() const { return requests_; }
  std::uint64_t messages_received() const { return messages_received_; }
  std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  enum class State { down, introduced, proving, up };

  void hear(const Challenge& challenge);
  void hear(const Welcome& welcome);
  void hear(const Refusal& refusal);
  void hear(const Reply& reply);
  void hear(const Grant& grant);
  void request_buffers(std::uint32_t buffers);
  void release_unused();
  std::uint32_t buffers_wanted() const;
  void forget_buffers();
  bool may_start() const { return state_ == State::up && counted_ < welcome_.most_requests; }
  void start(Call& call);
  void move(Call& call);
  void post(Call& call, const LocalMemory& local, std::uint64_t offset);
  void pack(const Call& call);
  void unpack(const Call& call);
  void keep_memory(Call& call);
  std::span<const iovec> pieces_of(const Call& call) const;
  void moved(Call& call);
  void note_progress(Operation& operation);
  void send_ready();
  void finish(Call& call);
  void fail(Call& call, int error_number, const std::string& message);

  Transport& transport_;
  Domain* domain_;
  const Volume& volume_;
  std::uint32_t number_;
  std::chrono::milliseconds patience_;
  const std::uint64_t client_;  ///< so that the server knows which of its connections are of this client
  std::string name_;
  bool was_tried_ = false;
  State state_ = State::down;
  std::optional<Peer> peer_;
  Nonce nonce_{};
  Welcome welcome_;
  std::string refusal_;
  int refusal_error_ = 0;

  std::deque<Call*> waiting_;
  std::deque<Call*> sending_;             ///< begun, in order; the request is not sent yet
  std::map<std::uint64_t, Call*> begun_;  ///< all that are not waiting, by number
  std::uint32_t counted_ = 0;             ///< of these, as the server does
  std::vector<std::uint32_t> free_buffers_;
  std::set<std::uint32_t> lent_buffers_;  ///< granted for one request
  bool has_window_ = false;               ///< all buffers are granted until the connection ends
  std::uint32_t requested_buffers_ = 0;   ///< and not granted yet
  bool borrows_ = false;                  ///< `borrow_buffer` found none, and is going to be called again
  std::unique_ptr<PackMemory> pack_memory_;
  Deadline heard_{}, progressed_{};
  std::uint64_t next_number_ = 1;
  std::uint64_t connections_ = 0;
  std::uint64_t requests_ = 0, messages_received_ = 0, bytes_received_ = 0;
};

}  // namespace strider::listio
