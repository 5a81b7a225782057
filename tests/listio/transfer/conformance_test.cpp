// What every transport has to do, in strict mode: a new one is tested by being named in make_transport.cpp.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <stdexcept>

#include "foundation/error.hpp"
#include "listio/transfer/sockets.hpp"
#include "random_lists.hpp"
#include "transfer/transport_pair.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;

std::vector<std::byte> some_bytes(std::size_t count, unsigned seed) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>((i + seed) * 2654435761U >> 13);
  return bytes;
}

/// Pieces of `memory` that hold `bytes` bytes, at most `most` of them, in any order, and the regions to name for them.
struct Scattered {
  Scattered(Dice& dice, const RegisteredMemory& memory, std::size_t most) {
    const std::size_t count = dice.roll(1, most), stride = memory.bytes().size() / count;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t hole = dice.roll(0, stride / 2);
      pieces.push_back(memory.piece(i * stride + hole, dice.roll(0, stride - hole)));
    }
    for (std::size_t i = count; i > 1; --i) std::swap(pieces[i - 1], pieces[dice.roll(0, i - 1)]);
    regions.assign(count, memory.region());
  }
  std::vector<std::byte> gathered() const {
    std::vector<std::byte> all;
    for (const iovec& piece : pieces) {
      const auto* const begin = static_cast<const std::byte*>(piece.iov_base);
      all.insert(all.end(), begin, begin + piece.iov_len);
    }
    return all;
  }
  LocalMemory local() const { return {pieces, regions}; }

  std::vector<iovec> pieces;
  std::vector<const Region*> regions;
};

class TransportConformance : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string missing = missing_provider(GetParam());
    if (!missing.empty()) GTEST_SKIP() << "libfabric has no " << missing << " here";
    pair_ = std::make_unique<Pair>(GetParam());
  }
  Transport& client() { return *pair_->client.transport; }
  Transport& server() { return *pair_->server.transport; }
  RemoteMemory expose(const RegisteredMemory& memory) {
    return server().expose(pair_->to_client(), memory.bytes(), memory.region());
  }
  /// Puts or gets, and waits until it is done.
  template <typename Start>
  void finish(const Start& start) {
    const std::size_t before = pair_->client.notes.tokens.size();
    if (start() == Transport::Posted::pending) pair_->pump([&] { return pair_->client.notes.tokens.size() > before; });
  }

  std::unique_ptr<Pair> pair_;
};

// proves listio: send
TEST_P(TransportConformance, MessagesArriveWholeAndInOrderBothWays) {
  std::vector<std::vector<std::byte>> sent;
  for (unsigned i = 0; i < 500; ++i) sent.push_back(some_bytes(i % 50 == 0 ? Transport::most_message_bytes : i, i));
  for (const auto& message : sent) {
    client().send(pair_->to_server, message);
    server().send(pair_->to_client(), message);
  }
  pair_->pump([&] {
    return pair_->server.notes.messages.size() == sent.size() && pair_->client.notes.messages.size() == sent.size();
  });
  EXPECT_TRUE(pair_->server.notes.messages == sent);
  EXPECT_TRUE(pair_->client.notes.messages == sent);
}

// proves listio: put, put-then-read
TEST_P(TransportConformance, WhatWasPutIsThereWhenALaterMessageArrives) {
  const RegisteredMemory window(pair_->server.domain(), 1 << 20), memory(pair_->client.domain(), 3 << 18);
  const RemoteMemory remote = expose(window);
  Dice dice(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t most = std::min<std::size_t>(client().properties().most_pieces, round % 2 == 0 ? 1024 : 7);
    const Scattered scattered(dice, memory, most);
    const std::vector<std::byte> expected = scattered.gathered();
    const std::uint64_t offset = dice.roll(0, window.bytes().size() - expected.size());
    finish([&] { return client().put(pair_->to_server, scattered.local(), {remote, offset}, 7); });
    pair_->settle();
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), window.bytes().begin() + static_cast<long>(offset)));
  }
}

// proves listio: get
TEST_P(TransportConformance, WhatWasGottenIsInThePieces) {
  const RegisteredMemory window(pair_->server.domain(), 1 << 20), memory(pair_->client.domain(), 3 << 18);
  const RemoteMemory remote = expose(window);
  Dice dice(2);
  for (int round = 0; round < 200; ++round) {
    const std::size_t most = std::min<std::size_t>(client().properties().most_pieces, round % 2 == 0 ? 1024 : 7);
    const Scattered scattered(dice, memory, most);
    const std::size_t bytes = scattered.gathered().size();
    const auto at = window.bytes().begin() + static_cast<long>(dice.roll(0, window.bytes().size() - bytes));
    const auto offset = static_cast<std::uint64_t>(at - window.bytes().begin());
    finish([&] { return client().get(pair_->to_server, scattered.local(), {remote, offset}, 9); });
    const std::vector<std::byte> gotten = scattered.gathered();
    ASSERT_TRUE(std::equal(gotten.begin(), gotten.end(), at));
  }
}

TEST_P(TransportConformance, ManyLargeOperationsMayBeUnderWay) {
  constexpr std::size_t each = 1 << 20, count = 16;
  const RegisteredMemory window(pair_->server.domain(), each * count), memory(pair_->client.domain(), each * count),
      back(pair_->client.domain(), each * count);
  std::fill(back.bytes().begin(), back.bytes().end(), std::byte{0});
  const RemoteMemory remote = expose(window);
  std::vector<std::uint64_t> pending;
  for (const bool puts : {true, false}) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const RegisteredMemory& local = puts ? memory : back;
      const iovec piece = local.piece(i * each, each);
      const Region* const region = local.region();
      const LocalMemory pieces{{&piece, 1}, {&region, 1}};
      const RemotePlace place{remote, i * each};
      const auto posted = puts ? client().put(pair_->to_server, pieces, place, 100 + i)
                               : client().get(pair_->to_server, pieces, place, 200 + i);
      if (posted == Transport::Posted::pending) pending.push_back((puts ? 100 : 200) + i);
    }
    pair_->pump([&] { return pair_->client.notes.tokens.size() == pending.size(); });
    pair_->settle();
  }
  std::sort(pair_->client.notes.tokens.begin(), pair_->client.notes.tokens.end());
  EXPECT_EQ(pair_->client.notes.tokens, pending);
  EXPECT_TRUE(std::equal(memory.bytes().begin(), memory.bytes().end(), window.bytes().begin()));
  EXPECT_TRUE(std::equal(memory.bytes().begin(), memory.bytes().end(), back.bytes().begin()));
}

// proves listio: cma, ofi, tcp
TEST_P(TransportConformance, CountsWhatItMoves) {
  const RegisteredMemory window(pair_->server.domain(), 4096), memory(pair_->client.domain(), 4096);
  const RemoteMemory remote = expose(window);
  const iovec pieces[] = {memory.piece(0, 100)};
  const Region* const regions[] = {memory.region()};
  finish([&] { return client().put(pair_->to_server, {pieces, regions}, {remote, 0}, 1); });
  finish([&] { return client().get(pair_->to_server, {pieces, regions}, {remote, 0}, 2); });
  client().send(pair_->to_server, some_bytes(30, 0));
  const TransportCounters& counters = client().counters();
  EXPECT_EQ(counters.puts, 1);
  EXPECT_EQ(counters.gets, 1);
  EXPECT_EQ(counters.pieces, 2);
  EXPECT_EQ(counters.bytes, 200);
  EXPECT_EQ(counters.messages_sent, 1);
  EXPECT_EQ(counters.message_bytes_sent, 30);
}

// proves listio: expose, key-for-client, deregistered-at-end
TEST_P(TransportConformance, RefusesTooManyPiecesAndPlacesOutside) {
  const RegisteredMemory window(pair_->server.domain(), 4096), memory(pair_->client.domain(), 4096);
  const RemoteMemory remote = expose(window);
  const std::vector<iovec> pieces(client().properties().most_pieces + 1, memory.piece(0, 1));
  const std::vector<const Region*> regions(pieces.size(), memory.region());
  EXPECT_THROW(client().put(pair_->to_server, {pieces, regions}, {remote, 0}, 1), std::logic_error);
  EXPECT_THROW(client().get(pair_->to_server, {}, {remote, 0}, 1), std::logic_error);
  const LocalMemory one{std::span(pieces).first(1), std::span(regions).first(1)};
  EXPECT_THROW(client().put(pair_->to_server, one, {remote, 4096}, 1), std::logic_error);
  EXPECT_THROW(client().get(pair_->to_server, one, {remote, ~std::uint64_t{0}}, 1), std::logic_error);
}

// proves listio: strict-mode, strict-on-tcp, verbs-own-domain
TEST_P(TransportConformance, StrictModeRefusesWhatIsNotRegistered) {
  const RegisteredMemory window(pair_->server.domain(), 4096), other(pair_->client.domain(), 4096);
  RegisteredMemory memory(pair_->client.domain(), 4096);
  const RemoteMemory remote = expose(window);
  const auto put = [&](const RegisteredMemory& from, const Region* region) {
    const iovec piece = from.piece(10, 20);
    return client().put(pair_->to_server, {{&piece, 1}, {&region, 1}}, {remote, 0}, 1);
  };
  EXPECT_NO_THROW(put(memory, memory.region()));
  EXPECT_THROW(put(memory, nullptr), std::logic_error);
  EXPECT_THROW(put(memory, other.region()), std::logic_error);
  const iovec piece = memory.piece(0, 8);
  EXPECT_THROW(client().put(pair_->to_server, {{&piece, 1}, {}}, {remote, 0}, 1), std::logic_error);
  pair_->settle();
  memory.deregister();
  EXPECT_THROW(put(memory, memory.region()), std::logic_error);
  EXPECT_THROW(server().expose(pair_->to_client(), window.bytes(), nullptr), std::logic_error);
  EXPECT_EQ(client().registering(), Registering::needed);
}

// proves listio: unmapped-kills, pages-loaded
TEST_P(TransportConformance, MemoryThatIsNotThereIsTheCallersMistake) {
  if (client().properties().registering == Registering::needed)
    GTEST_SKIP() << "pieces have to be registered, and what is registered is there";
  const RegisteredMemory window(pair_->server.domain(), 4096), memory(pair_->client.domain(), 4096);
  Side lax(GetParam(), {}, Checks::lax);
  const Peer peer = pair_->meet(lax);
  const RemoteMemory remote = expose(window);
  const iovec pieces[] = {memory.piece(0, 100), {reinterpret_cast<void*>(page_bytes()), 100}};
  try {
    lax.transport->put(peer, {pieces, {}}, {remote, 0}, 1);
    FAIL() << "memory at " << page_bytes() << " was read";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().error_number, EFAULT);
    EXPECT_EQ(error.details().offset, page_bytes());
  }
  pair_->settle();
}

// proves listio: progress
TEST_P(TransportConformance, APeerThatEndsIsNoticed) {
  const Peer gone = pair_->to_client();
  client().close(pair_->to_server);
  pair_->pump([&] { return !pair_->server.notes.lost.empty(); });
  EXPECT_EQ(pair_->server.notes.lost, std::vector{gone});
  EXPECT_FALSE(pair_->server.notes.reasons.front().empty());
  EXPECT_NO_THROW(server().send(gone, some_bytes(10, 0))) << "what is sent to nobody is lost";
  EXPECT_TRUE(pair_->client.notes.lost.empty()) << "who closes knows";
}

// proves listio: key-for-client, deregistered-at-end, endpoint-per-server, closing-ends-operations
TEST_P(TransportConformance, MemoryIsTheCallersAgainOnceAConnectionIsClosed) {
  constexpr std::size_t bytes = 4 << 20;
  const RegisteredMemory window(pair_->server.domain(), bytes);
  const RemoteMemory remote = expose(window);
  auto memory = std::make_unique<RegisteredMemory>(pair_->client.domain(), bytes);
  const iovec piece = memory->piece(0, bytes);
  const Region* const region = memory->region();
  for (std::uint64_t i = 0; i < 8; ++i) {
    client().get(pair_->to_server, {{&piece, 1}, {&region, 1}}, {remote, 0}, i);
    client().put(pair_->to_server, {{&piece, 1}, {&region, 1}}, {remote, 0}, 100 + i);
  }
  client().close(pair_->to_server);
  std::fill(memory->bytes().begin(), memory->bytes().end(), std::byte{7});
  pair_->client.notes.tokens.clear();
  pair_->pump([&] { return !pair_->server.notes.lost.empty(); });
  EXPECT_TRUE(pair_->client.notes.tokens.empty());
  EXPECT_TRUE(
      std::all_of(memory->bytes().begin(), memory->bytes().end(), [](std::byte b) { return b == std::byte{7}; }));
  memory.reset();
  pair_->meet(pair_->client);
  const std::byte word{1};
  server().send(pair_->to_client(), {&word, 1});
  pair_->pump([&] { return pair_->client.notes.messages.size() == 1; });
}

TEST_P(TransportConformance, AProcessThatIsKilledIsNoticed) {
  if (client().name().starts_with("ofi:verbs"))
    GTEST_SKIP() << "machine: the kernel does not let the child of a process that uses verbs use it as well";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      Side other(GetParam(), {});
      other.transport->connect(server().address(), in(milliseconds(20000)));
      const char word = 'x';
      if (::write(ready[1], &word, 1) == 1) ::pause();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    ::_exit(1);
  }
  ::fcntl(ready[0], F_SETFL, O_NONBLOCK);
  char word = 0;
  // A server that stopped might leave a client that is still connecting without an answer.
  bool has_connected = false;
  pair_->pump([&] {
    has_connected = has_connected || ::read(ready[0], &word, 1) == 1;
    return has_connected && pair_->server.notes.peers.size() == 2;
  });
  ::kill(child, SIGKILL);
  pair_->pump([&] { return !pair_->server.notes.lost.empty(); });
  EXPECT_EQ(pair_->server.notes.lost, std::vector{pair_->server.notes.peers.back()});
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  server().send(pair_->server.notes.peers.front(), some_bytes(10, 0));
  pair_->pump([&] { return pair_->client.notes.messages.size() == 1; });
}

TEST_P(TransportConformance, APeerThatDoesNotReadDelaysNoOther) {
  Side slow(GetParam(), {});
  pair_->meet(slow);
  const Peer to_slow = pair_->server.notes.peers.back(), to_client = pair_->server.notes.peers.front();
  for (unsigned i = 0; i < 200; ++i) server().send(to_slow, some_bytes(Transport::most_message_bytes, i));
  server().send(to_client, some_bytes(10, 0));
  pair_->pump([&] { return pair_->client.notes.messages.size() == 1; });
  EXPECT_TRUE(slow.notes.messages.empty());
  pair_->pump([&] { return slow.notes.messages.size() == 200; }, {&slow});
}

TEST_P(TransportConformance, AnAddressWithoutAListenerIsAnErrorThatNamesIt) {
  Side other(GetParam(), {});
  const std::string address = server().address();
  pair_->server.transport.reset();
  try {
    other.transport->connect(address, in(milliseconds(5000)));
    FAIL() << "connected to nobody";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find(address), std::string::npos) << error.what();
  }
  EXPECT_THROW(other.transport->connect("nowhere", in(milliseconds(100))), InputError);
}

// proves listio: connect-reads, fabric-verified
TEST_P(TransportConformance, WhoDoesNotAnswerIsAnErrorAtTheDeadline) {
  Side other(GetParam(), {});
  const Descriptor silent = listen_on("127.0.0.1:0");
  EXPECT_THROW(other.transport->connect(address_of(silent.get()), in(milliseconds(50))), IoError);
}

// proves listio: progress
TEST_P(TransportConformance, WakeEndsAProgressThatWaits) {
  std::thread helper([&] { server().wake(); });
  const Deadline deadline = in(std::chrono::seconds(20));
  server().progress(pair_->server.notes, std::chrono::seconds(30));
  EXPECT_FALSE(has_passed(deadline));
  helper.join();
}

INSTANTIATE_TEST_SUITE_P(All, TransportConformance, testing::ValuesIn(transports_to_test()),
                         [](const auto& each) { return as_test_name(each.param); });

}  // namespace
}  // namespace strider::listio
