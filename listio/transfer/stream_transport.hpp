#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "listio/transfer/frame.hpp"
#include "listio/transfer/stream_connection.hpp"
#include "listio/transfer/transport.hpp"

namespace strider::listio {

/// The network of most transports: TCP connections, watched by one epoll. It makes and ends connections, carries
/// messages, notices who died; puts and gets are frames on the same connection. Transports that can move data in a
/// better way derive from it and override `do_put` and `do_get` (transfer/cma.cpp), and whatever else they do better.
class StreamTransport : public Transport {
 public:
  StreamTransport(std::string name, const TransportOptions& options);
  ~StreamTransport() override;

  std::string_view name() const override { return name_; }
  /// As many pieces as one system call takes.
  TransportProperties properties() const override { return {1024, Registering::needless, Progressing::by_calls}; }
  std::string address() const override { return address_; }
  Peer connect(const std::string& address, const Deadline& deadline) override;
  void close(Peer peer) override;
  void authenticated(Peer peer) override { unauthenticated_.erase(peer); }
  void progress(TransportEvents& events, std::chrono::milliseconds patience) override;
  void wake() override;

 protected:
  /// What this side adds to its greeting; the other side's is in the `Greeting` that `accept_peer` gets.
  virtual std::vector<std::byte> extension() { return {}; }
  /// Called once for each connection on either side, before anything else arrives on it, with what the other side said
  /// of itself. StreamError to refuse. The default accepts those who move data as this transport or as `tcp` does.
  virtual void accept_peer(Peer peer, const Greeting& greeting);
  /// Forgets whatever a derived transport keeps for a peer; called once for each that was accepted.
  virtual void forget_peer(Peer) {}

  RemoteMemory do_expose(Peer peer, std::span<std::byte> memory, const Region* region) override;
  void do_send(Peer peer, std::span<const std::byte> message) override;
  Posted do_put(Peer peer, const LocalMemory& from, const RemotePlace& place, std::uint64_t token) override;
  Posted do_get(Peer peer, const LocalMemory& into, const RemotePlace& place, std::uint64_t token) override;

  /// Ends a connection that is of no use any more; `closed` is called by the next `progress`.
  void give_up(Peer peer, const std::string& reason);
  /// `progress` also ends when this descriptor becomes readable, which is somebody else's business: until it is closed,
  /// or watched no more.
  void watch_also(int descriptor);
  void watch_no_more(int descriptor);
  bool is_open(Peer peer) const { return connections_.contains(peer); }

 private:
  struct Connection;
  class Dispatch;

  void listen_on(const std::string& where);
  void accept_some();
  void take_in(Descriptor socket);
  bool make_room();
  Connection& add(Descriptor socket);
  std::unique_ptr<Connection> take_out(Peer peer);
  void watch(Connection& connection);
  void serve(Connection& connection, std::uint32_t ready, TransportEvents& events);
  void greet(Connection& connection);
  void sweep(TransportEvents& events);
  void report_lost(TransportEvents& events);
  void stop_listening();
  void listen_again();
  /// Runs `action` on the connection if it is open. If that fails gives the connection up; the error's number.
  template <typename Action>
  int attempt(Peer peer, const Action& action);

  std::string name_, address_;
  std::size_t most_unauthenticated_;
  Descriptor epoll_, wake_, listener_;
  bool listening_ = false;
  std::unique_ptr<std::uint64_t> probe_;
  Peer next_peer_ = 1;
  std::unordered_map<Peer, std::unique_ptr<Connection>> connections_;
  std::set<Peer> unauthenticated_;                  ///< those that were accepted, oldest first
  std::vector<std::unique_ptr<Connection>> ended_;  ///< kept until no call on them can be under way
  std::vector<std::pair<Peer, std::string>> lost_;  ///< to be reported
  Deadline next_sweep_;
  std::size_t sweeps_ = 0;
};

}  // namespace strider::listio
