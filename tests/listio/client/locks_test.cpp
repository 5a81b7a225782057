#include "listio/client/locks.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <set>
#include <thread>

#include "client_calls.hpp"
#include "foundation/error.hpp"
#include "server/server_process.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds short_time{2000}, long_time{120000};

/// The error of an action that has to fail.
IoError io_error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const IoError& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return IoError({}, "");
}

LockId acquire(Client& client, const File& file, const std::vector<ByteRun>& ranges,
               LockKind kind = LockKind::exclusive) {
  return client.lock(file, ranges, kind);
}

/// Until a lock on the file waits at its server.
void wait_for_waiting(Client& client, const File& file, std::uint64_t count) {
  while (client.status(Client::lock_server(file)).waiting_locks != count) std::this_thread::yield();
}

// proves listio: lock, lock-patience, lock-error
TEST(LocksTest, AnExclusiveLockExcludesOthersWhoHearWhoHoldsIt) {
  const Service service(3);
  Client holder(service.volume()), other(service.volume(), patient(short_time));
  const File file = holder.open("data", Creation::exclusive);
  const LockId held = acquire(holder, file, {{1'000'000, 100}, {0, 10}});
  EXPECT_TRUE(holder.is_held(held));
  const IoError error = io_error_of([&] { acquire(other, file, {{5, 1000}}, LockKind::shared); });
  EXPECT_EQ(error.details().error_number, ETIMEDOUT);
  EXPECT_EQ(error.details().offset, 5U);
  EXPECT_EQ(error.details().length, 1000U);
  const std::string text = error.what();
  for (const std::string& part :
       {std::string("lock bytes 5 … 1004 of 'data'"), "server " + std::to_string(Client::lock_server(file)) + " (",
        "process " + std::to_string(::getpid()) + " on ", std::string("holds an exclusive lock on bytes 5 … 9")})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  EXPECT_NO_THROW(other.unlock(acquire(other, file, {{10, 900'000}}))) << "bytes between the ranges";
  holder.unlock(held);
  EXPECT_FALSE(holder.is_held(held));
  EXPECT_NO_THROW(acquire(other, file, {{5, 1000}}));
  EXPECT_THROW(holder.unlock(held), InputError) << "once";
}

/// Its own data and unlocks come after them on the same connection; the holder is one of its owners, too.
TEST(LocksTest, ManyThatWaitKeepNoOtherRequestOfTheClientBack) {
  constexpr std::uint64_t waiting = 100;
  const Service service(1);
  Client client(service.volume(), patient(long_time)), watcher(service.volume());
  const File file = client.open("data", Creation::exclusive);
  const ByteRun range{0, 10};
  const auto start = [&](std::uint64_t owner, LockKind kind) {
    return client.start_owner_lock(file, owner, kind, range, long_time);
  };
  client.wait(start(1, LockKind::exclusive));
  std::vector<Client::Ticket> tickets;
  for (std::uint64_t owner = 2; owner < 2 + waiting; ++owner) tickets.push_back(start(owner, LockKind::exclusive));
  wait_for_waiting(watcher, file, waiting);
  client.write(file, std::vector<std::byte>(10), 0);
  EXPECT_EQ(client.size(file), 10U);
  client.cancel_lock(tickets.back());
  EXPECT_EQ(io_error_of([&] { client.wait(tickets.back()); }).details().error_number, EINTR);
  tickets.pop_back();
  client.wait(start(1, LockKind::none));
  for (std::uint64_t owner = 2; owner < 1 + waiting; ++owner) {
    client.wait(tickets[owner - 2]);
    client.wait(start(owner, LockKind::none));
  }
  EXPECT_EQ(watcher.status(0).waiting_locks, 0U);
}

// proves listio: lock
TEST(LocksTest, SharedLocksExcludeExclusiveOnesAlone) {
  const Service service(1);
  Client one(service.volume()), two(service.volume()), three(service.volume(), patient(short_time));
  const File file = one.open("data", Creation::exclusive);
  const LockId first = acquire(one, file, {{0, 100}}, LockKind::shared);
  const LockId second = acquire(two, file, {{50, 100}}, LockKind::shared);
  EXPECT_EQ(io_error_of([&] { acquire(three, file, {{99, 1}}); }).details().error_number, ETIMEDOUT);
  one.unlock(first);
  two.unlock(second);
  EXPECT_NO_THROW(acquire(three, file, {{99, 1}}));
}

// proves listio: locks-are-advice
TEST(LocksTest, WhoWaitsGoesOnWithTheUnlockAndHoldsNobodyUp) {
  const Service service(2);
  Client holder(service.volume()), third(service.volume());
  const File file = holder.open("data", Creation::exclusive);
  const LockId held = acquire(holder, file, {{0, 100}});
  std::thread waiter([&] {
    Client client(service.volume(), patient(long_time));
    client.unlock(acquire(client, file, {{0, 100}}));
  });
  wait_for_waiting(third, file, 1);
  const std::vector<std::byte> bytes(100'000, std::byte{5});
  third.write(file, bytes, 0);
  EXPECT_EQ(third.size(file), bytes.size());
  holder.write(file, bytes, 0);
  holder.unlock(held);
  waiter.join();
  EXPECT_EQ(third.status(Client::lock_server(file)).locked_ranges, 0U);
}

// proves listio: no-circle
TEST(LocksTest, ListsInAnyOrderNeverWaitForEachOther) {
  const Service service(3);
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      Client client(service.volume(), patient(long_time));
      const File file = client.open("data", Creation::if_missing);
      for (std::uint64_t round = 0; round < 100; ++round) {
        // Two strips on different servers, first one and then the other.
        std::vector<ByteRun> ranges{{0, 10}, {70'000, 10}, {140'000 + round % 3, 10}};
        if (number % 2 == 0) std::ranges::reverse(ranges);
        client.unlock(acquire(client, file, ranges));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// proves listio: locks-end
TEST(LocksTest, AClientThatEndsFreesItsLocks) {
  const Service service(1);
  Client other(service.volume(), patient(long_time));
  const File file = other.open("data", Creation::exclusive);
  {
    Client holder(service.volume());
    acquire(holder, file, {{0, 100}});
    acquire(holder, file, {{200, 100}}, LockKind::shared);
  }
  acquire(other, file, {{0, 300}});
  EXPECT_EQ(other.status(0).locked_ranges, 1U);
}

// proves listio: locks-of-lost-host, stopped-keeps-locks
TEST(LocksTest, AProcessThatIsKilledFreesItsLocksAndItsPlaceAndOneThatIsStoppedDoesNot) {
  ServerProcesses servers(2, "tcp");
  Client client(servers.volume(), patient(long_time)), hasty(servers.volume(), patient(short_time));
  const File file = client.open("data", Creation::exclusive);
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Client holder(servers.volume(), patient(long_time));
    acquire(holder, file, {{0, 100}});
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    acquire(holder, file, {{0, 100}});  // waits for itself
    ::_exit(1);
  }
  char word = 0;
  ASSERT_EQ(::read(ready[0], &word, 1), 1);
  wait_for_waiting(client, file, 1);
  ::kill(child, SIGSTOP);
  const IoError error = io_error_of([&] { acquire(hasty, file, {{50, 100}}); });
  EXPECT_NE(std::string(error.what()).find("process " + std::to_string(child) + " on "), std::string::npos)
      << error.what();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  acquire(client, file, {{50, 100}});
  EXPECT_EQ(client.status(Client::lock_server(file)).locked_ranges, 1U);
  ::close(ready[0]);
  ::close(ready[1]);
}

// proves listio: lost-connection-enolck
TEST(LocksTest, ALockThatWasLostWithItsConnectionIsNotGivenUpSilently) {
  Service service(1);
  Client client(service.volume());
  const File file = client.open("data", Creation::exclusive);
  const LockId held = acquire(client, file, {{0, 100}});
  service.stop(0);
  service.start(0);
  const std::vector<std::byte> bytes(100, std::byte{5});
  for (int written = 0; written == 0;) try {
      client.write(file, bytes, 0);  // connects again
      ++written;
    } catch (const IoError&) {  // the first one meets the end of the old connection
    }
  EXPECT_FALSE(client.is_held(held));
  const IoError error = io_error_of([&] { client.unlock(held); });
  EXPECT_EQ(error.details().error_number, ENOLCK);
  EXPECT_NE(std::string(error.what()).find("was lost with the connection to server 0"), std::string::npos)
      << error.what();
}

// proves listio: lock-gaps
TEST(LocksTest, ListsOfAnyLengthCanBeLocked) {
  const Service service(1);
  Client client(service.volume()), other(service.volume(), patient(short_time));
  const File file = client.open("data", Creation::exclusive);
  std::vector<ByteRun> ranges;
  for (std::uint64_t i = 0; i < 5000; ++i) ranges.push_back({i * 100, 10});
  ranges.push_back({10'000'000, 10});
  const LockId held = acquire(client, file, ranges);
  EXPECT_EQ(client.status(0).locked_ranges, most_lock_ranges);
  EXPECT_THROW(acquire(other, file, {{499'905, 1}}), IoError);
  EXPECT_NO_THROW(acquire(other, file, {{600'000, 1'000'000}})) << "the largest gap stays free";
  client.unlock(held);
  EXPECT_NO_THROW(client.unlock(acquire(client, file, {}))) << "of no bytes";
  EXPECT_NO_THROW(client.unlock(acquire(client, file, {{5, 0}})));
  EXPECT_THROW(acquire(client, file, {{most_file_bytes, 1}}), InputError);
}

// proves listio: lock-limits
TEST(LocksTest, TheTableOfAServerIsBounded) {
  const Service service(1);
  Client client(service.volume());
  const File file = client.open("data", Creation::exclusive);
  std::vector<ByteRun> ranges;
  for (std::uint64_t i = 0; i < most_lock_ranges; ++i) ranges.push_back({i * 100, 10});
  std::vector<LockId> held;
  const IoError error = io_error_of([&] {
    for (;;) held.push_back(acquire(client, file, ranges, LockKind::shared));
  });
  EXPECT_EQ(error.details().error_number, ENOLCK);
  EXPECT_EQ(held.size(), 16U) << "16384 ranges";
  client.unlock(held.back());
  EXPECT_NO_THROW(acquire(client, file, ranges, LockKind::shared));
}

// --- what locks are for ---

/// Lists of pieces in a file over several servers, which one client writes as a whole and others do too.
class OverlappingWriters : public testing::Test {
 protected:
  static constexpr std::uint64_t pieces = 16, piece_bytes = 3000, stride = 9000;

  OverlappingWriters() {
    for (std::uint64_t i = 0; i < pieces; ++i) runs.push_back({i * stride, piece_bytes});
  }
  static int trials() {
    const char* const text = std::getenv("STRIDER_LOCK_TRIALS");
    return text == nullptr ? 300 : std::atoi(text);
  }
  void write(Client& client, const File& file, int number) const {
    std::vector<std::byte> bytes(pieces * piece_bytes, static_cast<std::byte>(number));
    const iovec memory{bytes.data(), bytes.size()};
    const LockId held = client.lock(file, runs, LockKind::exclusive);
    client.write_list(file, {&memory, 1}, runs);
    client.unlock(held);
  }
  /// Whether all bytes are of one writer.
  bool is_whole(Client& client, const File& file) const {
    std::vector<std::byte> bytes(pieces * piece_bytes);
    const iovec memory{bytes.data(), bytes.size()};
    const LockId held = client.lock(file, runs, LockKind::shared);
    client.read_list(file, {&memory, 1}, runs);
    client.unlock(held);
    return std::ranges::all_of(bytes, [&](std::byte each) { return each == bytes.front(); });
  }
  std::vector<ByteRun> runs;
};

// proves listio: list-during-write, two-writes
TEST_F(OverlappingWriters, DoNotMixUnderLocksAndReadersSeeWholeLists) {
  const Service service(3);
  Client reader(service.volume(), patient(long_time));
  const File file = reader.open("data", Creation::exclusive);
  const int wanted = trials();
  std::atomic<int> written = 0;
  std::vector<std::thread> writers;
  for (int number = 1; number <= 3; ++number) {
    writers.emplace_back([&, number] {
      Client client(service.volume(), patient(long_time));
      while (written < wanted) {
        write(client, file, number + 10 * (written % 20));
        ++written;
      }
    });
  }
  int torn = 0, reads = 0;
  for (; written < wanted || reads < wanted; ++reads) torn += is_whole(reader, file) ? 0 : 1;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(torn, 0) << "of " << reads << " reads during " << written << " writes";
}

// proves listio: list-during-write, two-writes
TEST_F(OverlappingWriters, LeaveBytesOfOneOfThemWithoutLocks) {
  const Service service(3);
  Client reader(service.volume());
  const File file = reader.open("data", Creation::exclusive);
  std::vector<std::byte> bytes(pieces * piece_bytes);
  std::atomic<int> writing = 2;
  std::vector<std::thread> writers;
  for (int number = 1; number <= 2; ++number) {
    writers.emplace_back([&, number] {
      Client client(service.volume(), patient(long_time));
      std::vector<std::byte> own(bytes.size(), static_cast<std::byte>(number));
      const iovec memory{own.data(), own.size()};
      for (int i = 0; i < 50; ++i) client.write_list(file, {&memory, 1}, runs);
      --writing;
    });
  }
  const auto is_of_them = [](std::byte each) { return std::to_integer<int>(each) <= 2; };
  const iovec memory{bytes.data(), bytes.size()};
  while (writing > 0) {
    reader.read_list(file, {&memory, 1}, runs);
    EXPECT_TRUE(std::ranges::all_of(bytes, is_of_them)) << "or 0, before the first";
  }
  for (std::thread& writer : writers) writer.join();
  reader.read_list(file, {&memory, 1}, runs);
  EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{1} || each == std::byte{2}; }));
}

/// Each reads a hull, changes its own pieces and writes all of it back.
// proves listio: read-during-write, read-change-write
TEST_F(OverlappingWriters, ThatReadAndWriteBackTheBytesOfOthersLoseNothingUnderLocks) {
  const Service service(3);
  constexpr std::uint64_t writers = 3, rounds = 60;
  Client owner(service.volume());
  const File file = owner.open("data", Creation::exclusive);
  const ByteRun hull{0, writers * 1000};
  std::vector<std::thread> threads;
  for (std::uint64_t number = 0; number < writers; ++number) {
    threads.emplace_back([&, number] {
      Client client(service.volume(), patient(long_time));
      std::vector<std::byte> bytes(hull.length);
      for (std::uint64_t round = 1; round <= rounds; ++round) {
        const LockId held = client.lock(file, {&hull, 1}, LockKind::exclusive);
        client.read(file, bytes, 0);
        for (std::uint64_t i = number; i < hull.length; i += writers) bytes[i] = static_cast<std::byte>(round);
        client.write(file, bytes, 0);
        client.unlock(held);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::byte> bytes(hull.length);
  owner.read(file, bytes, 0);
  EXPECT_TRUE(std::ranges::all_of(bytes, [&](std::byte each) { return each == static_cast<std::byte>(rounds); }));
}

// --- cells ---

// proves listio: make-cell, fetch-add
TEST(CellsOfAVolumeTest, CountEachAddOnce) {
  const Service service(2);
  Client maker(service.volume());
  const CellId cell = maker.make_cell();
  constexpr int clients = 4, adds = 250;
  std::vector<std::vector<std::int64_t>> seen(clients);
  std::vector<std::thread> threads;
  for (int number = 0; number < clients; ++number) {
    threads.emplace_back([&, number] {
      Client client(service.volume(), patient(long_time));
      for (int i = 0; i < adds; ++i) seen[static_cast<std::size_t>(number)].push_back(client.fetch_add(cell, 3));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::int64_t> all;
  for (const auto& each : seen) {
    EXPECT_TRUE(std::ranges::is_sorted(each));
    all.insert(each.begin(), each.end());
  }
  EXPECT_EQ(all.size(), static_cast<std::size_t>(clients * adds)) << "no value twice";
  EXPECT_EQ(maker.fetch_add(cell, 0), 3 * clients * adds);
  maker.set_cell(cell, -5);
  EXPECT_EQ(maker.fetch_add(cell, 1), -5);
  maker.free_cell(cell);
  EXPECT_EQ(io_error_of([&] { maker.fetch_add(cell, 1); }).details().error_number, ENOENT);
  EXPECT_THROW(maker.fetch_add(0, 1), InputError);
}

// proves listio: cells-in-memory
TEST(CellsOfAVolumeTest, EndWithTheServer) {
  Service service(1);
  CellId cell = 0;
  {
    Client maker(service.volume());
    cell = maker.make_cell();
    service.stop(0);
  }
  service.start(0);
  Client other(service.volume());
  EXPECT_EQ(io_error_of([&] { other.fetch_add(cell, 1); }).details().error_number, ENOENT);
}

// proves listio: cell-ends
TEST(CellsOfAVolumeTest, EndWithTheClientThatMadeThem) {
  const Service service(1);
  Client other(service.volume());
  CellId cell = 0;
  {
    Client maker(service.volume());
    cell = maker.make_cell();
    EXPECT_EQ(other.fetch_add(cell, 1), 0);
    EXPECT_EQ(other.status(0).cells, 1U);
  }
  while (other.status(0).cells > 0) std::this_thread::yield();
  const IoError error = io_error_of([&] { other.fetch_add(cell, 1); });
  EXPECT_EQ(error.details().error_number, ENOENT);
  EXPECT_NE(std::string(error.what()).find("there is no such cell"), std::string::npos) << error.what();
}

}  // namespace
}  // namespace strider::listio
