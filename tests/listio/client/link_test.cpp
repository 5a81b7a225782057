#include "listio/client/link.hpp"

#include <gtest/gtest.h>

#include "listio/protocol/secret.hpp"

namespace strider::listio {
namespace {

/// A transport that connects to nothing and keeps sent messages.
class KeepingTransport final : public Transport {
 public:
  std::string_view name() const override { return "keeping"; }
  TransportProperties properties() const override { return {}; }
  std::string address() const override { return ""; }
  Peer connect(const std::string&, const Deadline&) override { return 1; }
  void close(Peer) override { ++closed; }
  void progress(TransportEvents&, std::chrono::milliseconds) override {}
  void wake() override {}

  std::vector<ClientMessage> sent;
  int closed = 0;

 private:
  RemoteMemory do_expose(Peer, std::span<std::byte>, const Region*) override { return {}; }
  void do_send(Peer, std::span<const std::byte> message) override {
    sent.push_back(std::get<ClientMessage>(parse_client_message(message, {})));
  }
  Posted do_put(Peer, const LocalMemory&, const RemotePlace&, std::uint64_t) override { return Posted::done; }
  Posted do_get(Peer, const LocalMemory&, const RemotePlace&, std::uint64_t) override { return Posted::done; }
};

/// A link that has said hello, and the server's side of the handshake.
class Handshake : public testing::Test {
 protected:
  Handshake() { link.connect(in(std::chrono::seconds(60))); }
  void challenge(const Secret& secret, Role role, std::uint32_t server, const VolumeState& state) {
    const Nonce of_client = std::get<Hello>(transport.sent.front()).nonce, of_server = make_nonce();
    link.received(write_message(
        Challenge{protocol_version, of_server, prove(secret, role, server, of_client, of_server), state}));
  }
  void challenge(const Secret& secret, Role role, std::uint32_t server) {
    challenge(secret, role, server, volume.state);
  }
  void expect_distrust(const std::string& why = "the server does not know the volume's secret") {
    EXPECT_EQ(transport.sent.size(), 1U) << "the client proves nothing to such a server";
    EXPECT_EQ(transport.closed, 1);
    EXPECT_NE(link.refusal().find(why), std::string::npos) << link.refusal();
  }

  const Volume volume{.servers = {"127.0.0.1:1"}, .secret = make_secret(), .state = {make_volume_id(), 3}};
  KeepingTransport transport;
  Link link{transport, nullptr, volume, 0, std::chrono::seconds(60)};
};

TEST_F(Handshake, AServerThatKnowsTheSecretGetsTheClientsProof) {
  challenge(volume.secret, Role::server, 0);
  ASSERT_EQ(transport.sent.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Proof>(transport.sent.back()));
  EXPECT_EQ(link.refusal(), "");
}

TEST_F(Handshake, AServerWithAnotherSecretGetsNothing) {
  challenge(make_secret(), Role::server, 0);
  expect_distrust();
}

TEST_F(Handshake, AServerThatProvesToBeAClientGetsNothing) {
  challenge(volume.secret, Role::client, 0);
  expect_distrust();
}

TEST_F(Handshake, AnotherServerOfTheVolumeGetsNothing) {
  challenge(volume.secret, Role::server, 1);
  expect_distrust();
}

/// A server that is stopped ends connections so: the client may try again.
TEST_F(Handshake, AConnectionThatEndsIsLostAndNotRefused) {
  link.closed("the other side has closed the connection");
  EXPECT_EQ(link.refusal_error(), ECONNRESET);
  link.connect(in(std::chrono::seconds(60)));
  link.received(write_message(Refusal{"too many clients"}));
  EXPECT_EQ(link.refusal_error(), EACCES);
  EXPECT_EQ(link.refusal(), "too many clients");
}

// proves listio: client-refuses-other
TEST_F(Handshake, AServerOfAnotherVolumeIsNamed) {
  const VolumeId other = make_volume_id();
  challenge(volume.secret, Role::server, 0, {other, 3});
  expect_distrust("the server belongs to volume " + to_hex(other));
}

// proves listio: client-refuses-other
TEST_F(Handshake, AServerOfAnotherStartIsNamed) {
  challenge(volume.secret, Role::server, 0, {volume.state.id, 2});
  expect_distrust("the server is of start 2 of the volume, the volume file of start 3");
}

/// A link that is up, where servers take `requests` at a time in buffers of so many bytes.
class LinkThatIsUp : public Handshake {
 protected:
  void be_welcome(std::uint64_t buffer_bytes) {
    challenge(volume.secret, Role::server, 0);
    Welcome welcome;
    welcome.servers = 1;
    welcome.most_requests = 8;
    welcome.buffers = 2;
    welcome.buffer_bytes = buffer_bytes;
    welcome.most_runs = 128;
    link.received(write_message(welcome));
    ASSERT_TRUE(link.is_up()) << link.refusal();
  }
};

/// Otherwise a caller that waits for the link to be up would wait until its deadline.
TEST_F(LinkThatIsUp, SaysWhyItIsBrokenOffAtOnce) {
  be_welcome(4096);
  link.received(write_message(Refusal{"the server stops"}));
  EXPECT_FALSE(link.is_up());
  EXPECT_EQ(link.refusal(), "the server stops");
}

TEST_F(LinkThatIsUp, MemoryToPackIntoFitsTheBuffersOfTheServerThatIsThereNow) {
  be_welcome(4096);
  EXPECT_EQ(link.pack_memory().bytes().size(), 2 * 4096U);
  link.closed("the server was started again with larger buffers");
  transport.sent.clear();
  link.connect(in(std::chrono::seconds(60)));
  be_welcome(1 << 20);
  EXPECT_EQ(link.pack_memory().bytes().size(), 2U << 20);
}

TEST_F(LinkThatIsUp, AnOperationThatFailsTakesNoOthersCallsAlong) {
  be_welcome(4096);
  Operation failed, other;
  Call first, second;
  for (auto [call, operation] : {std::pair(&first, &failed), std::pair(&second, &other)}) {
    call->operation = operation;
    call->request = DataStatRequest{1};
    operation->unfinished = 1;
    link.add(*call);
  }
  link.drop_waiting(failed);
  EXPECT_EQ(failed.unfinished, 0U);
  EXPECT_EQ(other.unfinished, 1U);
  const std::size_t before = transport.sent.size();
  link.drive();
  EXPECT_EQ(transport.sent.size() - before, 1U) << "the other's call";
  link.closed("end");
}

/// Otherwise the requests that end the wait of others would wait for these.
TEST_F(LinkThatIsUp, SendsAtOnceWhatTheServerDoesNotCount) {
  be_welcome(4096);
  Operation all;
  std::vector<Call> calls(11);
  all.unfinished = calls.size();
  for (Call& call : calls) {
    call.operation = &all;
    call.request = DataStatRequest{1};
  }
  calls.back().request = StatusRequest{};
  const auto sent_since = [&, before = transport.sent.size()] { return transport.sent.size() - before; };
  for (Call& call : calls) link.add(call);
  EXPECT_EQ(sent_since(), 1U) << "the status";
  link.drive();
  EXPECT_EQ(sent_since(), 9U) << "and as many as the server allows";
  link.received(write_message(Reply{1, 0, {}}));
  link.drive();
  EXPECT_EQ(sent_since(), 9U) << "the reply to the status makes no room";
  link.received(write_message(Reply{2, 0, {}}));
  link.drive();
  EXPECT_EQ(sent_since(), 10U);
  link.closed("end");
}

/// Otherwise an idle client would keep it from waiting ones, and be disconnected for it.
TEST_F(LinkThatIsUp, GivesABufferBackThatIsGrantedTooLate) {
  be_welcome(4096);
  Operation failed;
  Call call;
  call.operation = &failed;
  call.data = Call::Data::out;
  failed.unfinished = 1;
  link.add(call);
  link.drive();
  EXPECT_TRUE(std::holds_alternative<BufferRequest>(transport.sent.back()));
  link.drop_waiting(failed);
  link.received(write_message(Grant{1, 1, Term::request}));
  link.drive();
  const auto* const release = std::get_if<Release>(&transport.sent.back());
  ASSERT_NE(release, nullptr);
  EXPECT_EQ(release->buffer, 1U);
}

TEST_F(LinkThatIsUp, KeepsABufferForABorrowerUntilItGivesUp) {
  be_welcome(4096);
  EXPECT_EQ(link.borrow_buffer(), std::nullopt);
  link.received(write_message(Grant{0, 1, Term::request}));
  link.drive();
  EXPECT_EQ(link.borrow_buffer(), 0U);
  EXPECT_EQ(link.borrow_buffer(), std::nullopt);
  link.stop_borrowing();
  link.received(write_message(Grant{1, 1, Term::request}));
  link.drive();
  EXPECT_TRUE(std::holds_alternative<Release>(transport.sent.back()));
}

}  // namespace
}  // namespace strider::listio
