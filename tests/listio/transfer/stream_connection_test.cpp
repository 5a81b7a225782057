#include "listio/transfer/stream_connection.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace strider::listio {
namespace {

struct NoEvents final : StreamEvents {
  void greeted(std::span<const std::byte>) override {}
  void received(std::span<const std::byte>) override {}
  void completed(std::uint64_t) override {}
};

/// A connection that has exposed the middle third of its memory, and a peer that writes to its socket by hand.
class Exposed : public testing::Test {
 protected:
  static constexpr std::size_t third = 64;

  void SetUp() override {
    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    peer = sockets[1];
    connection.emplace(Descriptor(sockets[0]));
    key = connection->expose(std::span(memory).subspan(third, third));
  }
  void TearDown() override { ::close(peer); }

  /// The request of the peer, with the bytes that it sends along.
  void say(Frame::Kind kind, std::uint64_t offset, std::uint64_t length) {
    const FrameHead head = write_head({kind, key, offset, length});
    ASSERT_EQ(::write(peer, head.data(), head.size()), static_cast<ssize_t>(head.size()));
    const std::vector<std::byte> data(kind == Frame::Kind::get ? 0 : std::min<std::size_t>(length, 2 * third),
                                      std::byte{7});
    ASSERT_EQ(::write(peer, data.data(), data.size()), static_cast<ssize_t>(data.size()));
  }
  std::size_t changed(std::size_t begin, std::size_t end) const {
    return static_cast<std::size_t>(std::count(memory.begin() + static_cast<std::ptrdiff_t>(begin),
                                               memory.begin() + static_cast<std::ptrdiff_t>(end), std::byte{7}));
  }

  std::array<std::byte, 3 * third> memory{};
  std::optional<StreamConnection> connection;
  NoEvents events;
  std::uint32_t key = 0;
  int peer = -1;
};

TEST_F(Exposed, APutFillsWhatWasExposedToItsLastByte) {
  say(Frame::Kind::put, 1, third - 1);
  connection->read(events);
  EXPECT_EQ(changed(third + 1, 2 * third), third - 1);
  EXPECT_EQ(changed(0, 3 * third), third - 1);
}

TEST_F(Exposed, APutThatGoesOneByteBeyondWritesNothing) {
  say(Frame::Kind::put, 1, third);
  EXPECT_THROW(connection->read(events), StreamError);
  EXPECT_EQ(changed(0, 3 * third), 0U);
}

TEST_F(Exposed, APutThatBeginsBeyondWritesNothing) {
  say(Frame::Kind::put, third + 1, 1);
  EXPECT_THROW(connection->read(events), StreamError);
  EXPECT_EQ(changed(0, 3 * third), 0U);
}

TEST_F(Exposed, AGetThatGoesOneByteBeyondIsNotAnswered) {
  say(Frame::Kind::get, 0, third + 1);
  EXPECT_THROW(connection->read(events), StreamError);
  std::byte answer{};
  EXPECT_LT(::recv(peer, &answer, 1, MSG_DONTWAIT), 0);
}

// proves listio: expose
TEST_F(Exposed, AKeyThatWasNotGivenNamesNothing) {
  ++key;
  say(Frame::Kind::get, 0, 1);
  EXPECT_THROW(connection->read(events), StreamError);
}

TEST_F(Exposed, ALengthThatWrapsAroundIsNoPlace) {
  say(Frame::Kind::get, 8, ~std::uint64_t{0} - 4);
  EXPECT_THROW(connection->read(events), StreamError);
}

/// A get that was sent twice has two answers: the second one must not be that of the next get.
TEST_F(Exposed, AnAnswerToAnotherGetIsRefused) {
  std::array<std::byte, 4> first{}, second{};
  const iovec into_first{first.data(), first.size()}, into_second{second.data(), second.size()};
  connection->get({Frame::Kind::get, key, 10, 4}, {&into_first, 1}, 1);
  connection->get({Frame::Kind::get, key, 14, 4}, {&into_second, 1}, 2);
  say(Frame::Kind::got, 10, 4);
  EXPECT_NO_THROW(connection->read(events));
  EXPECT_EQ(first[3], std::byte{7});
  say(Frame::Kind::got, 10, 4);
  EXPECT_THROW(connection->read(events), StreamError);
  EXPECT_EQ(second[0], std::byte{});
}

}  // namespace
}  // namespace strider::listio
