// Connections whose peers have not proven their identity, and accepting where descriptors are short.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <functional>

#include "listio/transfer/sockets.hpp"
#include "transfer/transport_pair.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A listening transport, and connections that never send a byte.
class UnauthenticatedTest : public testing::Test {
 protected:
  static constexpr std::size_t most = 4;

  /// Progresses the server until a condition holds; returns whether it did in time.
  bool serve_until(const std::function<bool()>& holds) {
    const Deadline deadline = in(seconds(60));
    while (!holds() && !has_passed(deadline)) server_.transport->progress(server_.notes, milliseconds(10));
    return holds();
  }
  Descriptor connect() const { return connect_to(server_.transport->address(), in(seconds(60))); }
  /// Whether the server has accepted a connection: it greets at once.
  static bool is_accepted(const Descriptor& socket) {
    pollfd wanted{socket.get(), POLLIN, 0};
    return ::poll(&wanted, 1, 0) == 1;
  }
  static bool is_closed(const Descriptor& socket) {
    std::array<char, 256> ignored{};
    ssize_t count = 0;
    while ((count = ::recv(socket.get(), ignored.data(), ignored.size(), MSG_DONTWAIT)) > 0) continue;
    return count == 0 || errno == ECONNRESET;
  }
  void add_silent(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      silent_.push_back(connect());
      ASSERT_TRUE(serve_until([&] { return is_accepted(silent_.back()); }));
    }
  }
  /// A client that greets; the server knows it as `server_.notes.peers.back()`.
  Peer meet(Side& client) {
    std::thread connecting([&] { peer_ = client.transport->connect(server_.transport->address(), in(seconds(60))); });
    const std::size_t before = server_.notes.peers.size();
    EXPECT_TRUE(serve_until([&] { return server_.notes.peers.size() > before; }));
    connecting.join();
    return peer_;
  }

  Side server_{"tcp", {.listen = test_host() + ":0", .most_unauthenticated = most}};
  std::vector<Descriptor> silent_;

 private:
  Peer peer_ = 0;
};

// proves listio: oldest-closed
TEST_F(UnauthenticatedTest, TheOldestSilentOneIsClosedForANewerOne) {
  add_silent(most + 3);
  ASSERT_TRUE(serve_until([&] { return is_closed(silent_[2]); }));
  for (std::size_t i = 0; i < silent_.size(); ++i) EXPECT_EQ(is_closed(silent_[i]), i < 3) << i;
}

// proves listio: oldest-closed
TEST_F(UnauthenticatedTest, SilentOnesAreClosedBeforeThoseThatHaveGreeted) {
  Side client{"tcp", {}};
  meet(client);
  add_silent(3 * most);
  EXPECT_TRUE(server_.notes.lost.empty());
}

// proves listio: oldest-closed
TEST_F(UnauthenticatedTest, TheOldestThatHasGreetedIsClosedAndReported) {
  Side client{"tcp", {}};
  for (std::size_t i = 0; i <= most; ++i) meet(client);
  ASSERT_TRUE(serve_until([&] { return !server_.notes.lost.empty(); }));
  EXPECT_EQ(server_.notes.lost, std::vector<Peer>{server_.notes.peers.front()});
  EXPECT_NE(server_.notes.reasons.front().find("before it was authenticated"), std::string::npos);
}

// proves listio: authenticated-stays
TEST_F(UnauthenticatedTest, AnAuthenticatedOneIsNeverClosedForOthers) {
  Side client{"tcp", {}};
  for (std::size_t i = 0; i < 2 * most; ++i) {
    meet(client);
    server_.transport->authenticated(server_.notes.peers.back());
  }
  add_silent(3 * most);
  EXPECT_TRUE(server_.notes.lost.empty());
}

/// Limits this process to the descriptors that it has, and some more.
class DescriptorShortage {
 public:
  explicit DescriptorShortage(rlim_t spare) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const Descriptor next(::eventfd(0, EFD_CLOEXEC));
    const rlimit limit{static_cast<rlim_t>(next.get()) + spare, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~DescriptorShortage() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorShortage(const DescriptorShortage&) = delete;
  DescriptorShortage& operator=(const DescriptorShortage&) = delete;

 private:
  rlimit before_{};
};

// proves listio: no-descriptor
TEST_F(UnauthenticatedTest, WhereDescriptorsAreShortAnOlderOneIsClosed) {
  for (std::size_t i = 0; i < 100; ++i) silent_.push_back(connect());
  const DescriptorShortage shortage(most - 1);
  EXPECT_TRUE(serve_until([&] { return is_accepted(silent_.back()); }));
}

// proves listio: no-descriptor
TEST_F(UnauthenticatedTest, AcceptingGoesOnWhenThereAreDescriptorsAgain) {
  Side client{"tcp", {}};
  meet(client);
  server_.transport->authenticated(server_.notes.peers.back());
  silent_.push_back(connect());
  {
    const DescriptorShortage shortage(0);
    server_.transport->progress(server_.notes, milliseconds(10));
    EXPECT_FALSE(is_accepted(silent_.back()));
  }
  EXPECT_TRUE(serve_until([&] { return is_accepted(silent_.back()); }));
  EXPECT_TRUE(server_.notes.lost.empty());
}

}  // namespace
}  // namespace strider::listio
