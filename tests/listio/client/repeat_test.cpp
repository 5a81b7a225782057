// Of a volume with one copy: repeated calls after the loss of a server.
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client_calls.hpp"
#include "foundation/error.hpp"
#include "listio/client/client.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

ClientOptions repeating(std::chrono::milliseconds patience) {
  ClientOptions options;
  options.patience = patience;
  options.repeats = true;
  return options;
}

class RepeatTest : public ::testing::Test {
 protected:
  /// Stops a server, and starts it while `action` waits for it.
  void restart_during(std::uint32_t server, const std::function<void()>& action) {
    service_.stop(server);
    std::jthread starter([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      service_.start(server);
    });
    action();
  }
  Service service_{2, {}, strip};
};

// proves listio: manager-down, repeats
TEST_F(RepeatTest, WhatMayBeDoneTwiceWaitsForARestart) {
  Client client(service_.volume(), repeating(std::chrono::milliseconds(15000)));
  const File file = client.open("a", Creation::exclusive);
  const std::vector<std::byte> bytes = random_bytes(10 * strip, 1);
  client.write(file, bytes, 0);
  client.sync(file);
  restart_during(1, [&] { EXPECT_EQ(contents(client, file), bytes); });
  restart_during(1, [&] { client.write(file, bytes, strip); });
  restart_during(0, [&] { EXPECT_EQ(client.stat("a").bytes, 11 * strip); });
  restart_during(1, [&] { client.truncate(file, 5); });
  restart_during(0, [&] { EXPECT_EQ(client.open("a").id, file.id); });
  restart_during(0, [&] { EXPECT_EQ(client.open("a", Creation::if_missing).id, file.id); });
  restart_during(0, [&] { client.open("b", Creation::if_missing); });
  EXPECT_NO_THROW(client.open("b"));
  EXPECT_EQ(contents(client, file), std::vector<std::byte>(bytes.begin(), bytes.begin() + 5));
}

// proves listio: manager-down, not-repeated
TEST_F(RepeatTest, WhatMayNotOrIsNotAskedForFailsAtOnce) {
  Client repeats(service_.volume(), repeating(std::chrono::milliseconds(15000))), client(service_.volume());
  const File file = repeats.open("a", Creation::exclusive);
  repeats.write(file, random_bytes(10 * strip, 1), 0);
  EXPECT_EQ(client.size(file), 10 * strip);
  service_.stop(0);
  EXPECT_EQ(error_of([&] { repeats.make_directory("b"); }), ECONNRESET);
  EXPECT_EQ(error_of([&] { repeats.open("b", Creation::exclusive); }), ECONNREFUSED);
  EXPECT_EQ(error_of([&] { client.size(file); }), ECONNRESET);
  EXPECT_EQ(error_of([&] { client.size(file); }), ECONNREFUSED);
}

/// As by `strider listio stop` and `serve`: at other addresses, with the number of the next start.
// proves listio: volume-file-again
TEST(VolumeRestartTest, IsFoundByItsFileWithinPatience) {
  for (const bool repeats : {true, false}) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/volume.json";
    ServerOptions options;
    options.directory = folder.path();
    options.secret = make_secret();
    options.volume = {make_volume_id(), 1};
    std::optional<Service> service;
    const auto start = [&] {
      service.emplace(2, options, strip);
      write_volume(path, service->volume());
      ++options.volume.epoch;
    };
    start();
    ClientOptions of_client = repeating(std::chrono::milliseconds(30000));
    of_client.repeats = repeats;
    Client client(read_volume(path), of_client);
    const File file = client.open("a", Creation::exclusive);
    const std::vector<std::byte> bytes = random_bytes(10 * strip, 1);
    client.write(file, bytes, 0);
    const std::vector<std::string> before = service->volume().servers;
    service.reset();
    if (repeats) {
      std::jthread starter([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        start();
      });
      EXPECT_EQ(contents(client, file), bytes);
    } else {
      EXPECT_EQ(error_of([&] { client.size(file); }), ECONNRESET);
      start();
      error_of([&] { client.size(file); });  // the other server
      EXPECT_EQ(contents(client, file), bytes);
    }
    EXPECT_NE(service->volume().servers, before) << "the addresses are no new ones";
    client.make_directory("b");
    service.reset();
    options.volume.id = make_volume_id();  // another volume in its place
    std::filesystem::remove_all(folder.path() + "/server-0");
    std::filesystem::remove_all(folder.path() + "/server-1");
    start();
    Client another(service->volume(), repeating(std::chrono::milliseconds(15000)));
    EXPECT_EQ(error_of([&] { another.stat("b"); }), ENOENT);
    EXPECT_NE(error_of([&] { client.make_directory("c"); }), 0);
    EXPECT_EQ(error_of([&] { another.stat("c"); }), ENOENT) << "it was made in another volume";
  }
}

/// A file on both servers that a client has written and locked.
struct LockedFile {
  explicit LockedFile(const Volume& volume) : client(volume, repeating(std::chrono::milliseconds(15000))) {
    client.write(file, bytes, 0);
    const ByteRun all{0, bytes.size()};
    lock = client.lock(file, {&all, 1}, LockKind::exclusive);
  }
  int write() {
    return error_of([&] { client.write(file, bytes, 0); });
  }
  int truncate() {
    return error_of([&] { client.truncate(file, 5); });
  }
  int unlock() {
    return error_of([&] { client.unlock(lock); });
  }

  Client client;
  const File file = client.open("a", Creation::exclusive, 0644, {strip, 2, 0});
  const std::vector<std::byte> bytes = random_bytes(10 * strip, 1);
  LockId lock = 0;
};

// proves listio: lost-lock-not-repeated
TEST_F(RepeatTest, ALostLockEndsTheWriteThatItProtected) {
  LockedFile locked(service_.volume());
  service_.stop(0);
  service_.start(0);
  EXPECT_EQ(locked.write(), ENOLCK);
  EXPECT_EQ(locked.unlock(), ENOLCK);
  EXPECT_EQ(locked.write(), 0);
}

// proves listio: lost-lock-not-repeated
TEST_F(RepeatTest, ALostLockEndsTheTruncationThatItProtected) {
  LockedFile locked(service_.volume());
  restart_during(0, [&] { EXPECT_EQ(locked.truncate(), ENOLCK); });
  EXPECT_GT(locked.client.size(locked.file), 5U) << "server 1 did not need to be asked again";
  EXPECT_EQ(locked.unlock(), ENOLCK);
  EXPECT_EQ(locked.truncate(), 0);
}

/// The server is away when the write begins: it connects for its second attempt only.
TEST_F(RepeatTest, ALockThatIsLostWhileTheClientConnectsEndsTheWrite) {
  LockedFile locked(service_.volume());
  service_.stop(0);
  while (locked.client.is_held(locked.lock)) EXPECT_NE(error_of([&] { locked.client.make_directory("b"); }), 0);
  std::jthread starter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    service_.start(0);
  });
  EXPECT_EQ(locked.write(), ENOLCK);
  EXPECT_EQ(locked.unlock(), ENOLCK);
}

// proves listio: lost-lock-not-repeated
TEST_F(RepeatTest, ALockOfAnOwnerCountsUntilItIsGivenUp) {
  Client client(service_.volume(), repeating(std::chrono::milliseconds(15000)));
  const File file = client.open("a", Creation::exclusive, 0644, {strip, 2, 0});
  const std::vector<std::byte> bytes = random_bytes(10 * strip, 1);
  const ByteRun some{0, 10}, all{0, most_file_bytes};
  const auto lock = [&](std::uint64_t owner, LockKind kind, const ByteRun& range) {
    client.wait(client.start_owner_lock(file, owner, kind, range, std::chrono::milliseconds(0)));
  };
  lock(1, LockKind::exclusive, some);
  lock(2, LockKind::exclusive, {20, 10});
  EXPECT_EQ(error_of([&] { lock(3, LockKind::exclusive, some); }), ETIMEDOUT) << "which owner 3 has not got";
  lock(1, LockKind::none, all);
  restart_during(0, [&] { EXPECT_EQ(error_of([&] { client.write(file, bytes, 0); }), ENOLCK); });
  lock(2, LockKind::exclusive, {40, 10});
  restart_during(0, [&] { EXPECT_EQ(error_of([&] { client.write(file, bytes, 0); }), ENOLCK) << "the first one"; });
  lock(2, LockKind::none, {20, 10});
  lock(2, LockKind::none, {40, 5});
  lock(2, LockKind::none, {45, 5});
  restart_during(0, [&] { client.write(file, bytes, 0); });
}

/// `flock` on a mount: kept apart from `fcntl`.
TEST_F(RepeatTest, ALostLockThatIsKeptApartCountsToo) {
  Client client(service_.volume(), repeating(std::chrono::milliseconds(15000)));
  const File file = client.open("a", Creation::exclusive, 0644, {strip, 2, 0});
  File other = file;
  other.id = apart(file.id);
  const std::vector<std::byte> bytes = random_bytes(10 * strip, 1);
  const auto start = [&](LockKind kind) {
    return client.start_owner_lock(other, 1, kind, {0, most_file_bytes}, std::chrono::milliseconds(0));
  };
  client.wait(start(LockKind::exclusive));
  restart_during(0, [&] { EXPECT_EQ(error_of([&] { client.write(file, bytes, 0); }), ENOLCK); });
  service_.stop(0);
  EXPECT_NE(error_of([&] { client.wait(start(LockKind::none)); }), 0);
  service_.start(0);
  restart_during(0, [&] { client.write(file, bytes, 0); });
}

/// Names are gone at once, data when their server is back.
// proves listio: unlink-durable
TEST_F(RepeatTest, DataOfRemovedFilesWaitForTheirServer) {
  Client client(service_.volume(), repeating(std::chrono::milliseconds(5000)));
  for (const char* path : {"a", "b"})
    client.write(client.open(path, Creation::exclusive), random_bytes(10 * strip, 1), 0);
  service_.stop(1);
  client.unlink("a");
  EXPECT_EQ(error_of([&] { client.finish_removals(); }), ECONNREFUSED);
  EXPECT_FALSE(client.removals_are_waiting()) << "not at once";
  client.unlink("b");
  service_.start(1);
  while (!client.removals_are_waiting()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  client.finish_removals();
  EXPECT_TRUE(client.check().orphans.empty());
}

/// A server that was waited for once is not waited for by each call.
// proves listio: patience-over
TEST_F(RepeatTest, AfterItsPatienceCallsFailAtOnceUntilTheServerIsBack) {
  Client client(service_.volume(), repeating(std::chrono::milliseconds(5000)));
  const File file = client.open("a", Creation::exclusive);
  client.write(file, random_bytes(10 * strip, 1), 0);
  service_.stop(1);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NE(error_of([&] { client.size(file); }), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(5000));
  const auto later = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(error_of([&] { client.size(file); }), ECONNREFUSED);
  EXPECT_LT(std::chrono::steady_clock::now() - later, std::chrono::seconds(95)) << "each waited for 5 s";
  service_.start(1);
  EXPECT_EQ(client.size(file), 10 * strip);
  restart_during(1, [&] { EXPECT_EQ(client.size(file), 10 * strip); });
}

}  // namespace
}  // namespace strider::listio
