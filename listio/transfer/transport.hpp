#pragma once
#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "foundation/deadline.hpp"
#include "listio/registration/domain.hpp"

namespace strider::listio {

/// The other end of a connection. A number is never used twice by a transport.
using Peer = std::uint32_t;

/// Memory of this process that an operation reads or writes: pieces in order. `regions[i]` is the region that contains
/// `pieces[i]`; no regions at all where nothing is registered.
struct LocalMemory {
  std::span<const iovec> pieces;
  std::span<const Region* const> regions;
};

/// Memory that a peer has exposed, as the peer's `expose` describes it. Only the transport can interpret it.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint64_t bytes = 0;
};

/// Where in a peer's memory an operation puts or gets: contiguous bytes from `offset` on.
struct RemotePlace {
  RemoteMemory memory;
  std::uint64_t offset = 0;
};

/// Whether pieces have to be in registered memory.
enum class Registering { needless, needed };

/// Whether puts and gets go on while the side whose memory is exposed does something else than `progress`.
enum class Progressing { by_calls, by_itself };

struct TransportProperties {
  std::size_t most_pieces = 1;  ///< of one operation (max_sge)
  Registering registering = Registering::needless;
  Progressing progressing = Progressing::by_calls;
};

/// Amount of data moved so far. `pieces` and `bytes` are those of puts and gets; bytes of messages are apart.
struct TransportCounters {
  std::uint64_t puts = 0, gets = 0, pieces = 0, bytes = 0;
  std::uint64_t messages_sent = 0, message_bytes_sent = 0;
};

/// Receives events. Called by `Transport::progress` alone; may call the transport back, except `progress`.
class TransportEvents {
 public:
  virtual ~TransportEvents() = default;
  /// A peer has connected to the address.
  virtual void connected(Peer peer) = 0;
  /// A message has arrived; its bytes are good until the call returns. They come from outside: to be checked.
  virtual void received(Peer peer, std::span<const std::byte> message) = 0;
  /// An operation that was `pending` is done.
  virtual void completed(Peer peer, std::uint64_t token) = 0;
  /// The connection is gone, for `reason`, and the peer's pending operations with it: they will not complete.
  virtual void closed(Peer peer, const std::string& reason) = 0;
};

/// Small messages, and one-sided transfers between this process's memory and memory that a peer has exposed: what list
/// I/O needs of a network. Connections are made by one side (the client) to the address of the other (the server), and
/// both may send; the client alone puts and gets.
///
/// - Messages of a connection arrive once, whole, and in order, or the connection is closed.
/// - A put that is done may not have arrived yet; but what is sent to the same peer afterwards arrives after it. A get
///   that is done has arrived.
/// - Operations on one connection may complete in any order.
/// - Who exposes memory leaves the network to `progress`, and calls it again and again: nothing is said of what arrives
///   meanwhile.
/// - A peer that dies is noticed: `closed` is called within 10 s even if its whole host is gone.
///
/// Not for several threads at once, `wake` excepted. All memory given to `put` and `get` stays in use until the
/// operation is done, the peer `closed`, or `close` returns.
class Transport {
 public:
  /// What fits into one message, in bytes.
  static constexpr std::size_t most_message_bytes = 65536;
  /// How an operation stands when the call that started it returns. Only operations in the state `pending` complete
  /// later.
  enum class Posted { done, pending };

  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  virtual std::string_view name() const = 0;
  virtual TransportProperties properties() const = 0;
  /// The only domain whose regions this transport can use; nothing where it does not look at regions.
  virtual Domain* own_domain() { return nullptr; }
  /// Where others connect to, such as "127.0.0.1:40123"; empty unless it listens.
  virtual std::string address() const = 0;

  /// Connects to the address of a listening transport. IoError, which names the address, if that fails or is not done
  /// by the deadline.
  virtual Peer connect(const std::string& address, const Deadline& deadline) = 0;
  /// Ends a connection; pending operations are forgotten, and `closed` is not called. Nothing happens if it is gone.
  virtual void close(Peer peer) = 0;
  /// The peer has proven its identity: its connection is not closed to make room for another one.
  virtual void authenticated(Peer) {}

  /// Lets `peer`, and no other, put to and get from `memory`, a part of `region`, until the connection ends. The region
  /// has to live as long. What was exposed to a peer that is closed may still be written to by an operation that the
  /// peer has begun, where the transport cannot stop it: such memory is not to be used for anything else
  /// (server/window.hpp).
  RemoteMemory expose(Peer peer, std::span<std::byte> memory, const Region* region);

  /// Sends a copy of `message`. Never waits: bytes that the network does not take at once are kept.
  void send(Peer peer, std::span<const std::byte> message);
  /// Moves the pieces to `place`: one operation of the network. `token` comes back with `completed`.
  ///
  /// std::logic_error if there are more pieces than `properties().most_pieces`, or the place is not within its memory,
  /// or (strict) a piece is not within the live region that is named for it. IoError (EFAULT) if a piece is not there,
  /// or it turns out later and the connection is `closed`; either way it may be lost. If the connection is gone already
  /// nothing happens: `closed` reports it.
  Posted put(Peer peer, const LocalMemory& from, const RemotePlace& place, std::uint64_t token);
  /// Moves the bytes at `place` into the pieces. As `put`.
  Posted get(Peer peer, const LocalMemory& into, const RemotePlace& place, std::uint64_t token);

  /// Lets the network go on and passes events on, once something has or `patience` is over.
  /// std::system_error if this process cannot use the network at all.
  virtual void progress(TransportEvents& events, std::chrono::milliseconds patience) = 0;
  /// From any thread: a `progress` that waits ends.
  virtual void wake() = 0;

  /// From now on every piece has to lie within a live region of `domain`, whether or not this transport needs that: so
  /// tests on any transport find what verbs would refuse. Before anything is registered.
  void be_strict(Domain& domain);
  /// Whether pieces have to be registered: because the transport needs it, or is strict.
  Registering registering() const;

  const TransportCounters& counters() const { return counters_; }

 protected:
  Transport() = default;

 private:
  virtual RemoteMemory do_expose(Peer peer, std::span<std::byte> memory, const Region* region) = 0;
  virtual void do_send(Peer peer, std::span<const std::byte> message) = 0;
  virtual Posted do_put(Peer peer, const LocalMemory& from, const RemotePlace& place, std::uint64_t token) = 0;
  virtual Posted do_get(Peer peer, const LocalMemory& into, const RemotePlace& place, std::uint64_t token) = 0;

  /// The bytes of the pieces.
  std::uint64_t checked(const LocalMemory& local, const RemotePlace& place) const;
  void check_region(const Range& piece, const Region* region) const;

  Domain* strict_ = nullptr;
  TransportCounters counters_;
};

struct TransportOptions {
  std::string listen;                       ///< host and port, port 0 for any; empty: does not listen
  std::size_t most_unauthenticated = 1024;  ///< connections; for a further one the oldest of them is closed
  std::string provider{};                   ///< what `ofi` goes by, such as "verbs;ofi_rxm"; empty: the best there is
};

/// The transport of a name (`transport_names`), after which a provider may stand: "ofi:net". InputError for others, and
/// for an address that cannot be listened on.
std::unique_ptr<Transport> make_transport(std::string_view name, const TransportOptions& options);
/// The transports of this build: `cma`, `tcp`, and `ofi` if libfabric was found.
std::span<const std::string_view> transport_names();

}  // namespace strider::listio
