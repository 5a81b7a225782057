#include "listio/transfer/stream_transport.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "foundation/error.hpp"
#include "listio/transfer/local_memory.hpp"
#include "listio/transfer/sockets.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds greeting_patience{5000};
constexpr milliseconds sweep_every{1000};  // each connection
constexpr std::size_t most_swept = 1024;   // at once, about
constexpr int most_accepts = 64;           // before the connections that there are have their turn
constexpr std::uint64_t wake_number = std::uint64_t{1} << 32, listener_number = wake_number + 1,
                        other_number = wake_number + 2;

std::uint64_t bytes_of(std::span<const iovec> pieces) {
  std::uint64_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

}  // namespace

struct StreamTransport::Connection {
  Connection(Peer number, Descriptor socket) : peer(number), stream(std::move(socket)) {}

  Peer peer;
  StreamConnection stream;
  std::uint32_t watched = 0;  ///< what epoll waits for
  bool accepted = false;      ///< the other side has greeted
  bool ended = false;
  Deadline greet_by = in(greeting_patience);
};

/// Hands the events of one connection on.
class StreamTransport::Dispatch final : public StreamEvents {
 public:
  /// No `events` while this side connects: only a greeting is sent then.
  Dispatch(StreamTransport& transport, Connection& connection, TransportEvents* events)
      : transport_(transport), connection_(connection), events_(events) {}

  void greeted(std::span<const std::byte> bytes) override {
    if (connection_.accepted) throw StreamError("greeted twice");
    std::string refusal;
    const std::optional<Greeting> greeting = read_greeting(bytes, refusal);
    if (!greeting) throw StreamError("the other side " + refusal);
    transport_.accept_peer(connection_.peer, *greeting);
    connection_.accepted = true;
    if (events_ != nullptr) events_->connected(connection_.peer);
  }
  void received(std::span<const std::byte> message) override {
    if (!connection_.accepted || events_ == nullptr) throw StreamError("sent a message before its greeting");
    events_->received(connection_.peer, message);
  }
  void completed(std::uint64_t token) override {
    if (events_ != nullptr) events_->completed(connection_.peer, token);
  }

 private:
  StreamTransport& transport_;
  Connection& connection_;
  TransportEvents* events_;
};

StreamTransport::StreamTransport(std::string name, const TransportOptions& options)
    : name_(std::move(name)),
      most_unauthenticated_(options.most_unauthenticated),
      probe_(std::make_unique<std::uint64_t>()),
      next_sweep_(in(sweep_every)) {
  if (!options.listen.empty()) {
    listener_ = strider::listio::listen_on(options.listen);
    address_ = address_of(listener_.get());
  }
  epoll_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event wanted{EPOLLIN, {.u64 = wake_number}};
  if (!epoll_ || !wake_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &wanted) != 0)
    throw_system_error("epoll");
  if (::getrandom(probe_.get(), sizeof *probe_, 0) != sizeof *probe_) throw_system_error("getrandom");
  if (!listener_) return;
  wanted.data.u64 = listener_number;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &wanted) != 0) throw_system_error("epoll_ctl");
  listening_ = true;
}

StreamTransport::~StreamTransport() = default;

void StreamTransport::accept_peer(Peer, const Greeting& greeting) {
  if (greeting.transport != name_ && greeting.transport != "tcp" && greeting.transport != "cma")
    throw StreamError("the other side uses transport '" + greeting.transport + "', this side '" + name_ + "'");
}

Peer StreamTransport::connect(const std::string& address, const Deadline& deadline) {
  Connection& connection = add(connect_to(address, deadline));
  const Peer peer = connection.peer;
  Dispatch dispatch(*this, connection, nullptr);
  try {
    greet(connection);
    while (!connection.accepted) {
      const bool writes = connection.stream.wants_to_write();
      pollfd wanted{connection.stream.socket(), static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0};
      if (::poll(&wanted, 1, static_cast<int>(until(deadline).count())) < 0 && errno != EINTR)
        throw_system_error("poll");
      if (has_passed(deadline)) throw StreamError("no answer in time");
      connection.stream.read(dispatch);
    }
  } catch (const StreamError& error) {
    close(peer);
    throw IoError({"connect", address}, address + ": " + error.what(),
                  "check that a list-I/O server of this version and transport runs there");
  }
  watch(connection);
  return peer;
}

void StreamTransport::close(Peer peer) { take_out(peer); }

StreamTransport::Connection& StreamTransport::add(Descriptor socket) {
  tune(socket.get());
  const Peer peer = next_peer_++;
  auto& place = connections_[peer];
  place = std::make_unique<Connection>(peer, std::move(socket));
  return *place;
}

/// It cannot be found any more; its memory stays while a call on it may be under way.
std::unique_ptr<StreamTransport::Connection> StreamTransport::take_out(Peer peer) {
  const auto found = connections_.find(peer);
  if (found == connections_.end()) return nullptr;
  Connection& connection = *found->second;
  connection.ended = true;
  connection.stream.stop();
  ::shutdown(connection.stream.socket(), SHUT_RDWR);
  if (connection.watched != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection.stream.socket(), nullptr);
  if (connection.accepted) forget_peer(peer);
  ended_.push_back(std::move(found->second));
  connections_.erase(found);
  unauthenticated_.erase(peer);
  listen_again();
  return nullptr;
}

void StreamTransport::give_up(Peer peer, const std::string& reason) {
  const auto found = connections_.find(peer);
  if (found == connections_.end()) return;
  if (found->second->accepted) lost_.emplace_back(peer, reason);
  take_out(peer);
}

void StreamTransport::watch_also(int descriptor) {
  epoll_event wanted{EPOLLIN, {.u64 = other_number}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &wanted) != 0) throw_system_error("epoll_ctl");
}

void StreamTransport::watch_no_more(int descriptor) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr); }

/// Makes epoll wait for what the connection wants.
void StreamTransport::watch(Connection& connection) {
  if (connection.ended) return;
  const std::uint32_t wanted = (connection.stream.wants_to_read() ? std::uint32_t{EPOLLIN} : 0U) |
                               (connection.stream.wants_to_write() ? std::uint32_t{EPOLLOUT} : 0U) | EPOLLRDHUP;
  if (wanted == connection.watched) return;
  epoll_event event{wanted, {.u64 = connection.peer}};
  const int what = connection.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_.get(), what, connection.stream.socket(), &event) != 0) throw_system_error("epoll_ctl");
  connection.watched = wanted;
}

void StreamTransport::greet(Connection& connection) {
  const Greeting greeting{name_, static_cast<std::uint64_t>(::getpid()), reinterpret_cast<std::uintptr_t>(probe_.get()),
                          *probe_, extension()};
  connection.stream.send(Frame::Kind::greeting, write_greeting(greeting));
}

void StreamTransport::accept_some() {
  for (int i = 0; i < most_accepts; ++i) {
    Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      take_in(std::move(socket));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    const bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (is_short && !make_room()) stop_listening();
    return;
  }
}

void StreamTransport::take_in(Descriptor socket) {
  if (unauthenticated_.size() >= most_unauthenticated_) make_room();
  const Peer peer = add(std::move(socket)).peer;
  unauthenticated_.insert(peer);
  attempt(peer, [this](Connection& each) { greet(each); });
}

/// Closes the oldest unauthenticated connection, preferably one that has not even greeted. False if there is none.
bool StreamTransport::make_room() {
  if (unauthenticated_.empty()) return false;
  const auto silent = std::find_if(unauthenticated_.begin(), unauthenticated_.end(),
                                   [this](Peer peer) { return !connections_.at(peer)->accepted; });
  give_up(silent == unauthenticated_.end() ? *unauthenticated_.begin() : *silent,
          "closed for a newer connection before it was authenticated");
  return true;
}

/// Until a connection ends, or the next sweep: there is no descriptor or no memory for another one.
void StreamTransport::stop_listening() {
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr) == 0) listening_ = false;
}

void StreamTransport::listen_again() {
  if (!listener_ || listening_) return;
  epoll_event wanted{EPOLLIN, {.u64 = listener_number}};
  listening_ = ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &wanted) == 0;
}

template <typename Action>
int StreamTransport::attempt(Peer peer, const Action& action) {
  const auto found = connections_.find(peer);
  if (found == connections_.end()) return 0;
  Connection& connection = *found->second;
  try {
    action(connection);
    watch(connection);
  } catch (const StreamError& error) {
    give_up(peer, error.what());
    return error.error_number();
  }
  return 0;
}

void StreamTransport::serve(Connection& connection, std::uint32_t ready, TransportEvents& events) {
  Dispatch dispatch(*this, connection, &events);
  attempt(connection.peer, [&](Connection& each) {
    if ((ready & EPOLLOUT) != 0) each.stream.write(dispatch);
    if (!each.ended && (ready & ~std::uint32_t{EPOLLOUT}) != 0) each.stream.read(dispatch);
  });
}

void StreamTransport::progress(TransportEvents& events, milliseconds patience) {
  ended_.clear();
  report_lost(events);
  if (has_passed(next_sweep_)) sweep(events);
  std::array<epoll_event, 64> ready{};
  const milliseconds most = std::min(patience, until(next_sweep_));
  const int count =
      ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), static_cast<int>(most.count()));
  if (count < 0 && errno != EINTR) throw_system_error("epoll_wait");
  // Who has gone first: what others say now may follow from that.
  std::stable_partition(ready.begin(), ready.begin() + std::max(count, 0),
                        [](const epoll_event& each) { return (each.events & EPOLLRDHUP) != 0; });
  for (int i = 0; i < count; ++i) {
    const std::uint64_t number = ready[static_cast<std::size_t>(i)].data.u64;
    if (number == wake_number) {
      std::uint64_t times = 0;
      if (::read(wake_.get(), &times, sizeof times) < 0 && errno != EAGAIN) throw_system_error("eventfd");
    } else if (number == listener_number) {
      accept_some();
    } else if (number == other_number) {
      continue;  // whoever asked for it looks after it
    } else if (const auto found = connections_.find(static_cast<Peer>(number)); found != connections_.end()) {
      serve(*found->second, ready[static_cast<std::size_t>(i)].events, events);
    }
  }
  report_lost(events);
}

void StreamTransport::report_lost(TransportEvents& events) {
  while (!lost_.empty()) {
    const auto [peer, reason] = lost_.back();
    lost_.pop_back();
    events.closed(peer, reason);
  }
}

/// Once in a while: who does not greet, and whose host is gone.
void StreamTransport::sweep(TransportEvents& events) {
  const std::size_t shares = 1 + connections_.size() / most_swept, share = sweeps_++ % shares;
  next_sweep_ = in(sweep_every / static_cast<milliseconds::rep>(shares));
  listen_again();
  std::vector<std::pair<Peer, const char*>> gone;
  for (const auto& [peer, connection] : connections_) {
    if (peer % shares != share) continue;
    connection->stream.shrink();
    if (!connection->accepted && has_passed(connection->greet_by)) gone.emplace_back(peer, "did not greet");
    else if (host_is_gone(connection->stream.socket())) gone.emplace_back(peer, "its host does not answer");
  }
  for (const auto& [peer, reason] : gone) give_up(peer, reason);
  report_lost(events);
}

void StreamTransport::wake() {
  const std::uint64_t once = 1;
  while (::write(wake_.get(), &once, sizeof once) < 0 && errno == EINTR) continue;
}

RemoteMemory StreamTransport::do_expose(Peer peer, std::span<std::byte> memory, const Region*) {
  const auto found = connections_.find(peer);
  if (found == connections_.end()) return {};
  return {reinterpret_cast<std::uintptr_t>(memory.data()), found->second->stream.expose(memory), memory.size()};
}

void StreamTransport::do_send(Peer peer, std::span<const std::byte> message) {
  attempt(peer, [&](Connection& each) { each.stream.send(Frame::Kind::message, message); });
}

Transport::Posted StreamTransport::do_put(Peer peer, const LocalMemory& from, const RemotePlace& place,
                                          std::uint64_t token) {
  Posted posted = Posted::pending;
  const Frame frame{Frame::Kind::put, static_cast<std::uint32_t>(place.memory.key), place.offset,
                    bytes_of(from.pieces)};
  const int error = attempt(peer, [&](Connection& each) {
    if (each.stream.put(frame, from.pieces, token)) posted = Posted::done;
  });
  if (error == EFAULT) require_accessible("sendmsg", from.pieces, Access::read);
  return posted;
}

Transport::Posted StreamTransport::do_get(Peer peer, const LocalMemory& into, const RemotePlace& place,
                                          std::uint64_t token) {
  const Frame frame{Frame::Kind::get, static_cast<std::uint32_t>(place.memory.key), place.offset,
                    bytes_of(into.pieces)};
  attempt(peer, [&](Connection& each) { each.stream.get(frame, into.pieces, token); });
  return Posted::pending;
}

}  // namespace strider::listio
