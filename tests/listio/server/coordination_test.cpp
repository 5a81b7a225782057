#include "listio/server/coordination.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>

#include "listio/protocol/parse.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;

/// The reply to one request.
struct Heard {
  std::uint32_t error = 0;
  std::string reason;
  CellState cell;
};

class CoordinationTest : public testing::Test {
 protected:
  void say(Coordination& server, Peer session, Request request) {
    NumberedRequest numbered{++numbers, std::move(request)};
    ASSERT_TRUE(is_coordination(numbered.request));
    server.hear(session, "client " + std::to_string(session), numbered);
  }
  /// The replies that are due, by session.
  std::map<Peer, Heard> listen(Coordination& server) {
    std::map<Peer, Heard> heard;
    for (const auto& answer : server.take_answers()) {
      const auto parsed = parse_server_message(answer.message);
      const auto& reply = std::get<Reply>(std::get<ServerMessage>(parsed));
      Heard& each = heard[answer.session];
      each.error = reply.error;
      Reason reason;
      if (reply.error != 0 && parse_body(reply.body, reason)) each.reason = reason.text;
      if (reply.error == 0 && !reply.body.empty()) {
        EXPECT_TRUE(parse_body(reply.body, each.cell));
      }
    }
    return heard;
  }
  std::uint64_t numbers = 0;
};

const ByteRun ten{0, 10};

TEST_F(CoordinationTest, OnlyRequestsForCellsAndLocksAreForIt) {
  EXPECT_TRUE(is_coordination(LockRequest{}));
  EXPECT_TRUE(is_coordination(FreeCellRequest{1}));
  EXPECT_FALSE(is_coordination(StatusRequest{}));
  EXPECT_FALSE(is_coordination(WriteRequest{}));
}

TEST_F(CoordinationTest, CellsAreServerZerosAlone) {
  Coordination zero({.server = 0}), one({.server = 1});
  say(zero, 1, MakeCellRequest{});
  const CellState made = listen(zero)[1].cell;
  say(zero, 2, AddToCellRequest{made.cell, 3});
  EXPECT_EQ(listen(zero)[2].cell.value, 0);
  EXPECT_EQ(zero.cells(), 1U);
  say(one, 1, MakeCellRequest{});
  EXPECT_EQ(listen(one)[1].error, static_cast<std::uint32_t>(EOPNOTSUPP));
  zero.end(1);
  say(zero, 2, AddToCellRequest{made.cell, 3});
  const Heard heard = listen(zero)[2];
  EXPECT_EQ(heard.error, static_cast<std::uint32_t>(ENOENT));
  EXPECT_NE(heard.reason.find("there is no such cell"), std::string::npos) << heard.reason;
}

TEST_F(CoordinationTest, WhoHasWaitedLongEnoughHearsWhoHoldsWhat) {
  Coordination server({.server = 3, .most_wait = milliseconds(5)});
  say(server, 1, LockRequest{7, 1, LockKind::exclusive, 0, {ten}});
  EXPECT_EQ(listen(server)[1].error, 0U);
  say(server, 2, LockRequest{7, 1, LockKind::shared, 4'000'000'000, {{5, 100}}});
  EXPECT_EQ(server.waiting_locks(), 1U);
  std::map<Peer, Heard> heard;
  while (heard.empty()) heard = listen(server);
  EXPECT_EQ(heard[2].error, static_cast<std::uint32_t>(ETIMEDOUT));
  EXPECT_EQ(heard[2].reason, "client 1 holds an exclusive lock on bytes 5 … 9");
  EXPECT_EQ(server.waiting_locks(), 0U);
}

TEST_F(CoordinationTest, AnUnlockServesThoseThatWait) {
  Coordination server({.server = 0, .most_wait = milliseconds(60000)});
  say(server, 1, LockRequest{7, 1, LockKind::exclusive, 0, {ten}});
  say(server, 2, LockRequest{7, 1, LockKind::exclusive, 60000, {ten}});
  EXPECT_EQ(listen(server).size(), 1U);
  EXPECT_EQ(server.waiting_locks(), 1U);
  say(server, 1, LockRequest{7, 1, LockKind::none, 0, {ten}});
  auto heard = listen(server);
  EXPECT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[2].error, 0U);
}

// proves listio: locks-end
TEST_F(CoordinationTest, ExclusiveLocksOutliveTheirSessionByTheGrace) {
  const auto begin = std::chrono::steady_clock::now();
  Coordination server({.server = 0, .most_wait = milliseconds(60000), .grace = milliseconds(30)});
  say(server, 1, LockRequest{7, 1, LockKind::exclusive, 0, {ten}});
  say(server, 2, LockRequest{7, 1, LockKind::exclusive, 60000, {ten}});
  listen(server);
  server.end(1);
  std::map<Peer, Heard> heard;
  while (heard.empty()) heard = listen(server);
  EXPECT_EQ(heard[2].error, 0U);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(30));
}

}  // namespace
}  // namespace strider::listio
