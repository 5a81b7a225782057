// Servers and clients that die, stop, or do not keep to the protocol.
#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include "client_calls.hpp"
#include "foundation/error.hpp"
#include "listio/protocol/parse.hpp"
#include "server/server_process.hpp"
#include "transfer/transport_pair.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A process that writes to `path` again and again, in lists of 1000 pieces, until it is killed.
class Writer {
 public:
  Writer(const Volume& volume, const std::string& path) {
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    process_ = ::fork();
    if (process_ == 0) {
      Client client(volume);
      const File file = client.open(path, Creation::if_missing);
      std::vector<std::byte> bytes(4'000'000, std::byte{7});
      std::vector<iovec> memory;
      for (std::size_t i = 0; i < 1000; ++i) memory.push_back({&bytes[i * 4000], 3000});
      const ByteRun run{0, 3'000'000};
      for (int i = 0;; ++i) {
        client.write_list(file, memory, {&run, 1});
        if (i == 2 && ::write(ready[1], "x", 1) != 1) ::_exit(1);
      }
    }
    ::close(ready[1]);
    char word = 0;
    if (::read(ready[0], &word, 1) != 1) throw std::runtime_error("the writer does not write");
    ::close(ready[0]);
  }
  ~Writer() { kill(); }
  void stop() const { ::kill(process_, SIGSTOP); }
  void kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
};

class FailureTest : public testing::TestWithParam<std::string_view> {};

// proves listio: restart-at-addresses
TEST_P(FailureTest, AServerKilledInMidWriteIsNamedAndLosesNothingThatWasSynced) {
  ServerProcesses servers(3, std::string(GetParam()));
  Client client(servers.volume(), patient(seconds(20)));
  std::vector<std::byte> bytes(1'000'000, std::byte{3}), read(bytes.size());
  const File kept = client.open("kept", Creation::exclusive), hit = client.open("hit", Creation::exclusive);
  const File elsewhere = client.open("elsewhere", Creation::exclusive, 0644, {.servers = 1, .first = 0});
  client.write(kept, bytes, 0);
  client.sync(kept);

  std::vector<Client::Ticket> tickets;
  const iovec piece{bytes.data(), bytes.size()};
  for (std::uint64_t i = 0; i < 20; ++i) {
    const ByteRun run{i * bytes.size(), bytes.size()};
    tickets.push_back(client.start_write_list(hit, {&piece, 1}, {&run, 1}));
  }
  servers.kill(1, SIGKILL);
  int failures = 0;
  for (const Client::Ticket ticket : tickets) {
    try {
      client.wait(ticket);
    } catch (const IoError& error) {
      ++failures;
      const std::string name = "server 1 (" + servers.volume().servers[1] + ")";
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(failures, 0);
  client.write(elsewhere, bytes, 0);
  EXPECT_EQ(client.read(elsewhere, read, 0), read.size()) << "files on other servers stay usable";

  servers.start(1);
  EXPECT_EQ(client.read(kept, read, 0), read.size());
  EXPECT_TRUE(read == bytes);
  const CheckReport report = client.check();
  EXPECT_EQ(report.files, 3);
  EXPECT_TRUE(report.problems.empty());
  EXPECT_TRUE(report.orphans.empty());
}

// proves listio: call-completes, connects-again
TEST_P(FailureTest, AServerThatDoesNotAnswerIsNamedAtTheDeadline) {
  ServerProcesses servers(2, std::string(GetParam()));
  Client client(servers.volume(), patient(seconds(2)));
  client.connect();
  const File file = client.open("data", Creation::exclusive);
  servers.kill(1, SIGSTOP);
  try {
    client.sync(file);
    ADD_FAILURE() << "synced without server 1";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().error_number, ETIMEDOUT);
    EXPECT_NE(std::string(error.what()).find("server 1 ("), std::string::npos) << error.what();
  }
  servers.kill(1, SIGCONT);
  client.sync(file);
}

TEST(ServerTest, EndsWithItsInputAndNotWithWhatIsSaidThere) {
  ServerProcesses servers(1, "tcp");
  servers.kill(0, SIGTERM);
  int input[2];
  ASSERT_EQ(::pipe2(input, O_CLOEXEC), 0);
  servers.start(0, input[0]);
  const auto is_read = [&] {
    int left = 0;
    const Deadline deadline = in(seconds(60));
    do ::ioctl(input[0], FIONREAD, &left);
    while (left > 0 && !has_passed(deadline));
    return left == 0;
  };
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(::write(input[1], "x", 1), 1);
    ASSERT_TRUE(is_read()) << "after " << i << " bytes nobody reads any more";
  }
  Client(servers.volume()).connect();
  ::close(input[1]);
  servers.wait(0);
  ::close(input[0]);
}

// proves listio: open-files
TEST(ServerTest, TakesAsManyDescriptorsAsItMay) {
  const ServerProcesses servers(1, "tcp", rlimit{64, 128});
  rlimit found{};
  ASSERT_EQ(::prlimit(servers.process(0), RLIMIT_NOFILE, nullptr, &found), 0);
  EXPECT_EQ(found.rlim_cur, 128U);
}

// proves listio: open-files
TEST(ServerTest, ServesMoreFilesThanItMayHaveDescriptors) {
  constexpr int files = 200;
  const ServerProcesses servers(1, "tcp", rlimit{48, 48});
  Client client(servers.volume(), patient(seconds(60)));
  std::vector<File> opened;
  for (int i = 0; i < files; ++i) {
    opened.push_back(client.open("file-" + std::to_string(i), Creation::if_missing));
    const std::string text = "content " + std::to_string(i);
    client.write(opened.back(), std::as_bytes(std::span(text)), 0);
  }
  for (int i = 0; i < files; ++i) {
    const std::string text = "content " + std::to_string(i);
    std::string found(text.size(), '?');
    client.read(opened[static_cast<std::size_t>(i)], std::as_writable_bytes(std::span(found)), 0);
    EXPECT_EQ(found, text);
  }
}

// proves listio: resources-free, addresses-reused, idle-client-free, locks-of-lost-host
TEST_P(FailureTest, WhatAKilledClientHeldIsFreed) {
  ServerProcesses servers(1, std::string(GetParam()));
  Client client(servers.volume());
  Writer writer(servers.volume(), "data");
  const ServerStatus before = client.status(0);
  EXPECT_EQ(before.clients, 2);
  writer.kill();
  const Deadline deadline = in(seconds(60));
  while (client.status(0).clients > 1 && !has_passed(deadline)) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(client.status(0).clients, 1);
  EXPECT_GT(before.buffer_bytes, 0U);
  EXPECT_EQ(client.status(0).buffer_bytes, 0U);
}

// proves listio: never-waits
TEST_P(FailureTest, AStoppedClientDelaysNoOther) {
  ServerProcesses servers(1, std::string(GetParam()));
  Client client(servers.volume());
  const Writer writer(servers.volume(), "data");
  writer.stop();
  const File file = client.open("other", Creation::exclusive);
  std::vector<std::byte> bytes(3'000'000, std::byte{5}), read(bytes.size());
  client.write(file, bytes, 0);
  EXPECT_EQ(client.read(file, read, 0), read.size());
  EXPECT_TRUE(read == bytes);
}

TEST(MethodCostsFailureTest, OfAConnectionThatBreaksNoneAreKept) {
  ServerProcesses servers(1, "tcp");
  ClientOptions options;
  options.patience = seconds(2);
  Client client(servers.volume(), options);
  client.connect();
  servers.kill(0, SIGSTOP);
  try {
    client.method_costs();
    ADD_FAILURE() << "costs without a server that answers";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().call, "connect");
    EXPECT_NE(std::string(error.what()).find("server 0 ("), std::string::npos) << error.what();
  }
  servers.kill(0, SIGCONT);
  for (const MethodSample& each : client.method_costs().samples()) EXPECT_GT(each.pack_us, 0) << each.piece_bytes;
  EXPECT_FALSE(client.method_costs().samples().empty());
}

TEST(MethodCostsFailureTest, AreFoundWhileAllBuffersAreInUse) {
  ServerProcesses servers(1, "tcp");
  Client client(servers.volume());
  const File file = client.open("file", Creation::exclusive);
  std::vector<std::byte> bytes(8 << 20, std::byte{7}), read(bytes.size());
  const iovec piece{bytes.data(), bytes.size()};
  const ByteRun run{0, bytes.size()};
  const Client::Ticket ticket = client.start_write_list(file, {&piece, 1}, {&run, 1});
  EXPECT_FALSE(client.method_costs().samples().empty());
  client.wait(ticket);
  EXPECT_EQ(client.read(file, read, 0), read.size());
  EXPECT_TRUE(read == bytes);
}

INSTANTIATE_TEST_SUITE_P(All, FailureTest, testing::ValuesIn(transport_names()),
                         [](const auto& each) { return std::string(each.param); });

/// A client that sends messages to a server by hand.
class Stranger {
 public:
  explicit Stranger(const Volume& volume) : volume_(volume), transport_(make_transport("tcp", {})) {
    peer_ = transport_->connect(volume.servers[0], in(seconds(60)));
  }
  /// The server's answer; a refusal if it has closed the connection without a word.
  ServerMessage ask(const std::vector<std::byte>& message) {
    const std::size_t before = notes_.messages.size();
    transport_->send(peer_, message);
    while (notes_.messages.size() == before) {
      if (!notes_.lost.empty()) return Refusal{"(closed)"};
      transport_->progress(notes_, milliseconds(1000));
    }
    return std::get<ServerMessage>(parse_server_message(notes_.messages.back()));
  }
  std::string refusal(const std::vector<std::byte>& message) {
    const ServerMessage answer = ask(message);
    const auto* const refusal = std::get_if<Refusal>(&answer);
    return refusal == nullptr ? "(accepted)" : refusal->reason;
  }
  void introduce(std::uint64_t client = 0) {
    const Nonce nonce = make_nonce();
    const auto challenge = std::get<Challenge>(ask(write_message(Hello{protocol_version, 0, nonce, client, 0, ""})));
    const auto answer = ask(write_message(Proof{prove(volume_.secret, Role::client, 0, nonce, challenge.nonce)}));
    welcome = std::get<Welcome>(answer);
  }
  /// The connection is closed by the other side.
  void expect_closed() {
    const Deadline deadline = in(seconds(60));
    while (notes_.lost.empty() && !has_passed(deadline)) transport_->progress(notes_, milliseconds(100));
    EXPECT_EQ(notes_.lost.size(), 1);
  }
  Welcome welcome;

 private:
  const Volume& volume_;
  Notes notes_;
  std::unique_ptr<Transport> transport_;
  Peer peer_ = 0;
};

TEST(RefusalTest, AnOldVersionIsAnsweredWithTheCurrentOne) {
  const Service service(1);
  Stranger stranger(service.volume());
  const std::string refusal = stranger.refusal(write_message(Hello{99, 0, {}, 0, 0, ""}));
  EXPECT_NE(refusal.find("the client speaks version 99 of the protocol, server 0 version " +
                         std::to_string(protocol_version)),
            std::string::npos)
      << refusal;
  stranger.expect_closed();
}

TEST(RefusalTest, AnotherServerThanTheOneMeant) {
  const Service service(1);
  Stranger stranger(service.volume());
  EXPECT_NE(stranger.refusal(write_message(Hello{protocol_version, 7, {}, 0, 0, ""})).find("this is server 0, not 7"),
            std::string::npos);
}

TEST(RefusalTest, NothingIsServedBeforeTheSecretIsProven) {
  const Service service(1);
  Stranger early(service.volume()), wrong(service.volume());
  EXPECT_NE(early.refusal(write_message(NumberedRequest{1, StatusRequest{}})).find("before the end of the handshake"),
            std::string::npos);
  wrong.ask(write_message(Hello{}));
  EXPECT_NE(wrong.refusal(write_message(Proof{})).find("does not know the volume's secret"), std::string::npos);
  wrong.expect_closed();
}

// proves listio: buffer-in-cache, 64-requests
TEST(RefusalTest, AListThatIsTooLongOrTooLarge) {
  const Service service(1);
  Stranger lengthy(service.volume()), large(service.volume());
  lengthy.introduce();
  WriteRequest request{{1, 0, std::vector<ByteRun>(lengthy.welcome.most_runs + 1, {0, 1})}};
  EXPECT_NE(lengthy.refusal(write_message(NumberedRequest{1, request})).find("129 runs in a request; at most 128"),
            std::string::npos);
  large.introduce();
  request.runs.assign(2, {0, large.welcome.buffer_bytes / 2 + 1});
  EXPECT_NE(large.refusal(write_message(NumberedRequest{1, request})).find("more bytes than the 1048576 of a buffer"),
            std::string::npos);
  large.expect_closed();
}

/// Otherwise it would write what its buffer has by then.
TEST(RefusalTest, ARequestThatIsRepeated) {
  const Service service(1);
  Stranger stranger(service.volume());
  stranger.introduce();
  const std::vector<std::byte> request = write_message(NumberedRequest{7, StatusRequest{}});
  EXPECT_TRUE(std::holds_alternative<Reply>(stranger.ask(request)));
  EXPECT_NE(stranger.refusal(request).find("request 7 follows request 7"), std::string::npos);
  stranger.expect_closed();
}

// proves listio: reconnect-and-names
TEST(ReconnectionTest, EndsEarlierConnectionsOfTheClient) {
  const Service service(1);
  Stranger earlier(service.volume()), other(service.volume()), later(service.volume());
  earlier.introduce(7);
  other.introduce(8);
  later.introduce(7);
  earlier.expect_closed();
  for (Stranger* const each : {&other, &later})
    EXPECT_TRUE(std::holds_alternative<Reply>(each->ask(write_message(NumberedRequest{1, StatusRequest{}}))));
}

// proves listio: buffers-on-transfer
TEST(RefusalTest, BuffersThatWereNotGranted) {
  const Service service(1);
  Stranger early(service.volume()), wrong(service.volume());
  early.introduce();
  EXPECT_NE(early.refusal(write_message(NumberedRequest{1, WriteRequest{{1, 0, {{0, 1}}}}})).find("was not granted"),
            std::string::npos);
  wrong.introduce();
  EXPECT_NE(wrong.refusal(write_message(Release{1})).find("released buffer 1, which it does not have"),
            std::string::npos);
}

// proves listio: buffer-in-cache, 64-requests, registered-at-connect
TEST(RefusalTest, MoreClientsWithRegisteredBuffersThanThereIsMemoryFor) {
  ServerOptions options;
  options.registration = "model";
  options.memory_bytes = 2 * options.buffers * options.buffer_bytes;
  const Service service(1, options);
  Client one(service.volume()), two(service.volume()), three(service.volume());
  one.connect();
  two.connect();
  try {
    three.connect();
    FAIL();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("no memory is left for another client's registered buffers"),
              std::string::npos)
        << error.what();
  }
}

/// The error of a client that cannot connect.
std::string error_of_connecting(const Volume& volume) {
  try {
    Client(volume).connect();
  } catch (const IoError& error) {
    return error.what();
  }
  return "(connected)";
}

// proves listio: client-limit
TEST(RefusalTest, MoreClientsThanTheOptionAllows) {
  ServerOptions options;
  options.most_clients = 1;
  const Service service(1, options);
  Client one(service.volume());
  one.connect();
  EXPECT_NE(error_of_connecting(service.volume()).find("limit of clients (1) is reached; raise the server's --most-cl"),
            std::string::npos);
}

// proves listio: client-limit
TEST(RefusalTest, MoreClientsThanThereAreDescriptorsFor) {
  const ServerProcesses servers(1, "tcp", rlimit{48, 48});
  Client one(servers.volume());
  one.connect();
  EXPECT_NE(error_of_connecting(servers.volume()).find("limit of clients (1) is reached; raise the hard limit of open"),
            std::string::npos);
}

// proves listio: plain-files, data-and-sums
TEST(RefusalTest, AFolderThatIsInUseOrOfAnotherVolume) {
  const Service service(1);
  ServerOptions options;
  options.directory = service.folder();
  EXPECT_THROW(Server{options}, InputError) << "in use";
  const TemporaryFolder folder;
  options.directory = folder.path();
  {
    const Server server(options);
  }
  options.servers = 2;
  EXPECT_THROW(Server{options}, InputError) << "of one server";
}

}  // namespace
}  // namespace strider::listio
