#pragma once
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "listio/transfer/frame.hpp"
#include "listio/transfer/sockets.hpp"
#include "test_host.hpp"

namespace strider::listio {

/// A single fault of a proxy in the messages of clients and servers.
struct ProxyFault {
  enum class Kind { none, cut, delay, duplicate };
  enum class Way { to_server, to_client };
  Kind kind = Kind::none;
  Way way = Way::to_server;
  std::uint64_t position = 0;  ///< of all that is sent this way from now on; cut, delay: a byte; duplicate: a frame
  std::chrono::milliseconds delay{};
};

/// Stands between clients and a server, and relays frames; one thread.
class FaultyProxy {
 public:
  explicit FaultyProxy(std::string server) : server_(std::move(server)), listening_(listen_on(test_host() + ":0")) {
    if (::pipe(wake_) != 0) throw std::runtime_error("pipe");
    thread_ = std::thread([this] { run(); });
  }
  ~FaultyProxy() {
    if (::write(wake_[1], "x", 1) == 1) thread_.join();
    ::close(wake_[0]);
    ::close(wake_[1]);
  }
  FaultyProxy(const FaultyProxy&) = delete;
  FaultyProxy& operator=(const FaultyProxy&) = delete;

  std::string address() const { return address_of(listening_.get()); }
  void arm(const ProxyFault& fault) {
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    bytes_[0] = bytes_[1] = frames_[0] = frames_[1] = 0;
    repeated_.reset();
  }
  /// Ends the fault. Whether it has happened.
  bool disarm() {
    const std::lock_guard lock(mutex_);
    const bool has_happened = fault_.kind == ProxyFault::Kind::none;
    fault_ = {};
    return has_happened;
  }
  std::uint64_t bytes(ProxyFault::Way way) const {
    const std::lock_guard lock(mutex_);
    return bytes_[static_cast<int>(way)];
  }
  /// Those of clients, since the begin.
  std::uint64_t connections() const { return accepted_; }
  /// Frames since `arm`.
  std::uint64_t frames(ProxyFault::Way way) const {
    const std::lock_guard lock(mutex_);
    return frames_[static_cast<int>(way)];
  }
  /// The message that was sent twice since `arm`.
  /// The frame that arrived twice.
  struct Repeated {
    Frame::Kind kind = Frame::Kind::message;
    std::uint32_t message = 0;  ///< kind of the message, or 0
  };
  std::optional<Repeated> repeated() const {
    const std::lock_guard lock(mutex_);
    return repeated_;
  }

 private:
  struct Connection {
    Descriptor ends[2];              ///< client's, server's
    std::vector<std::byte> read[2];  ///< to the server, to the client: the incomplete frame
    bool is_over = false;
  };

  void run() {
    for (;;) {
      std::vector<pollfd> watched{{wake_[0], POLLIN, 0}, {listening_.get(), POLLIN, 0}};
      for (const Connection& each : connections_)
        for (const Descriptor& end : each.ends) watched.push_back({end.get(), POLLIN, 0});
      ::poll(watched.data(), watched.size(), -1);
      if (watched[0].revents != 0) return;
      std::size_t next = 2;
      for (Connection& each : connections_)
        for (int way = 0; way < 2; ++way)
          if (watched[next++].revents != 0 && !each.is_over) relay(each, way);
      connections_.remove_if([](const Connection& each) { return each.is_over; });
      if (watched[1].revents != 0) accept();
    }
  }

  void accept() {
    Descriptor client(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) return;
    ++accepted_;
    tune(client.get());
    try {
      Connection& made = connections_.emplace_back();
      made.ends[0] = std::move(client);
      made.ends[1] = connect_to(server_, in(std::chrono::seconds(20)));
      const int flags = ::fcntl(made.ends[1].get(), F_GETFL);
      ::fcntl(made.ends[1].get(), F_SETFL, flags & ~O_NONBLOCK);
      tune(made.ends[1].get());
    } catch (const std::exception&) {
      connections_.pop_back();
    }
  }

  /// `way` 0: from the client to the server.
  void relay(Connection& connection, int way) {
    std::byte part[65536];
    const ssize_t got = ::recv(connection.ends[way].get(), part, sizeof part, 0);
    if (got <= 0) {
      connection.is_over = true;
      return;
    }
    std::vector<std::byte>& all = connection.read[way];
    all.insert(all.end(), part, part + got);
    std::size_t done = 0;
    while (!connection.is_over) {
      const std::span<const std::byte> left = std::span<const std::byte>(all).subspan(done);
      const std::size_t bytes = frame_bytes(left);
      if (bytes == 0) break;
      send(connection, way, left.first(bytes));
      done += bytes;
    }
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(done));
  }

  /// Of the frame that begins there; 0 if not all of it is there.
  static std::size_t frame_bytes(std::span<const std::byte> bytes) {
    if (bytes.size() < Frame::head_bytes) return 0;
    const auto frame = read_head(bytes.first<Frame::head_bytes>());
    if (!frame) return bytes.size();
    const std::size_t all = Frame::head_bytes + frame->padding + (frame->kind == Frame::Kind::get ? 0 : frame->length);
    return bytes.size() < all ? 0 : all;
  }

  void send(Connection& connection, int way, std::span<const std::byte> frame) {
    std::size_t first = frame.size(), times = 1;
    std::chrono::milliseconds delay{};
    bool cuts = false;
    {
      const std::lock_guard lock(mutex_);
      const bool is_this_way = static_cast<int>(fault_.way) == way;
      const std::uint64_t before = bytes_[way];
      bytes_[way] += frame.size();
      const std::uint64_t number = frames_[way]++;
      const bool is_byte = is_this_way && fault_.position < before + frame.size() && fault_.position >= before;
      if (fault_.kind == ProxyFault::Kind::duplicate && is_this_way && number == fault_.position) {
        times = 2;
        repeated_ = repeated_of(frame);
        fault_ = {};
      } else if (fault_.kind == ProxyFault::Kind::delay && is_byte) {
        first = fault_.position - before;
        delay = fault_.delay;
        fault_ = {};
      } else if (fault_.kind == ProxyFault::Kind::cut && is_byte) {
        first = fault_.position - before;
        cuts = true;
        fault_ = {};
      }
    }
    const int to = connection.ends[1 - way].get();
    for (std::size_t i = 0; i < times; ++i) put(connection, to, frame.first(first));
    if (cuts) connection.is_over = true;
    if (connection.is_over || first == frame.size()) return;
    std::this_thread::sleep_for(delay);
    put(connection, to, frame.subspan(first));
  }

  static Repeated repeated_of(std::span<const std::byte> frame) {
    Repeated repeated{read_head(frame.first<Frame::head_bytes>()).value_or(Frame{}).kind, 0};
    if (repeated.kind == Frame::Kind::message && frame.size() >= Frame::head_bytes + sizeof repeated.message)
      std::memcpy(&repeated.message, frame.data() + Frame::head_bytes, sizeof repeated.message);
    return repeated;
  }

  static void put(Connection& connection, int to, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        connection.is_over = true;
        return;
      }
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }

  const std::string server_;
  const Descriptor listening_;
  int wake_[2] = {-1, -1};
  std::list<Connection> connections_;
  std::atomic<std::uint64_t> accepted_ = 0;
  mutable std::mutex mutex_;
  ProxyFault fault_;
  std::uint64_t bytes_[2] = {0, 0}, frames_[2] = {0, 0};
  std::optional<Repeated> repeated_;
  std::thread thread_;
};

}  // namespace strider::listio
