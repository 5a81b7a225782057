#include "listio/client/client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <set>
#include <thread>
#include <utility>

#include "foundation/error.hpp"
#include "registration/memory.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

std::vector<std::byte> some_bytes(std::size_t count, unsigned seed) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>((i + seed) * 2654435761U >> 13);
  return bytes;
}

template <typename Action>
int error_of(const Action& action) {
  try {
    action();
  } catch (const IoError& error) {
    return error.details().error_number;
  }
  return 0;
}

TEST(ClientTest, ReadsBackWhatItWroteAcrossServers) {
  const Service service(4);
  Client client(service.volume());
  const File file = client.open("data", Creation::exclusive);
  const auto written = some_bytes(3'000'000, 1);
  client.write(file, written, 12345);
  std::vector<std::byte> read(written.size() + 12345 + 100, std::byte{1});
  EXPECT_EQ(client.read(file, read, 0), written.size() + 12345) << "short at the end of the file";
  EXPECT_TRUE(std::all_of(read.begin(), read.begin() + 12345, [](std::byte each) { return each == std::byte{0}; }));
  EXPECT_TRUE(std::equal(written.begin(), written.end(), read.begin() + 12345));
  EXPECT_EQ(client.size(file), written.size() + 12345);
  EXPECT_EQ(client.stat("data").bytes, written.size() + 12345);
}

// proves listio: client-matches, servers-in-parallel, counters
TEST(ClientTest, CountsOneRequestForEachServerThatAListTouches) {
  const Service service(4);
  Client client(service.volume());
  const File file = client.open("data", Creation::exclusive, 0644, {.first = 0});
  const auto bytes = some_bytes(128 * 512, 1);
  std::vector<iovec> memory;
  std::vector<ByteRun> runs;
  for (std::size_t i = 0; i < 128; ++i) {
    memory.push_back({const_cast<std::byte*>(&bytes[i * 512]), 256});
    runs.push_back({i * 4096, 256});
  }
  const std::uint64_t before = client.counters().requests;
  client.write_list(file, memory, runs);
  EXPECT_EQ(client.counters().requests - before, 4) << "8 strips of 64 KiB, two on each server";
}

// proves listio: replies-held-back, rate-does-not-block
TEST(ClientTest, AServerThatHasToWaitAnswersOthers) {
  ServerOptions slow;
  slow.bytes_per_s = 64 << 10;
  const Service service(1, slow);
  Client waiting(service.volume()), other(service.volume());
  const File file = waiting.open("data", Creation::exclusive);
  const auto bytes = some_bytes(1 << 20, 3);  // 16 s
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  const ByteRun run{0, bytes.size()};
  const Client::Ticket ticket = waiting.start_write_list(file, {&piece, 1}, {&run, 1});
  while (other.size(file) < bytes.size()) EXPECT_FALSE(waiting.is_done(ticket));
  EXPECT_EQ(other.stat("data").bytes, bytes.size());
  EXPECT_FALSE(waiting.is_done(ticket));
}

/// On several servers, with a hole before the end, by each method; in order and not.
// proves listio: mpi-read-beyond-end
TEST(ClientTest, MemoryForWhatIsBeyondTheEndStaysAsItIs) {
  constexpr std::uint64_t bytes = 1000, room = 3000;
  ServerOptions small;
  small.buffer_bytes = 512;
  for (const std::uint32_t copies : {1U, 2U}) {
    small.copies = copies;
    const Service service(3, small, 64);
    for (const Method method : {Method::pack, Method::gather, Method::multiple}) {
      ClientOptions options;
      options.method = method;
      Client client(service.volume(), options);
      const File file = client.open("data", Creation::if_missing);
      client.truncate(file, 0);
      const std::vector<std::byte> one(1, std::byte{7});
      client.write(file, one, 10);
      client.write(file, one, bytes - 1);
      std::vector<std::byte> expected(bytes), read(room, std::byte{3});
      expected[10] = expected[bytes - 1] = std::byte{7};
      expected.resize(room, std::byte{3});
      EXPECT_EQ(client.read(file, read, 0), bytes);
      EXPECT_TRUE(read == expected);
      std::fill(read.begin(), read.end(), std::byte{3});
      const iovec pieces[] = {{&read[900], 2100}, {read.data(), 900}};
      const ByteRun runs[] = {{900, 2100}, {0, 900}};
      EXPECT_EQ(client.read_list(file, pieces, runs), bytes);
      EXPECT_TRUE(read == expected);
    }
  }
}

/// With one copy, with repetitions, and with two copies: two transfers of 5 s each, the second of which waits for the
/// first, by a client with a patience of 4 s.
// proves listio: call-completes
TEST(ClientTest, ATransferThatMovesIsWaitedForLongerThanPatience) {
  const auto transfer = [](bool repeats, std::uint32_t copies) {
    constexpr std::uint64_t bytes_per_s = 800'000;
    ServerOptions slow;
    slow.bytes_per_s = bytes_per_s;
    slow.buffer_bytes = 65536;
    slow.copies = copies;
    const Service service(copies, slow);
    ClientOptions options;
    options.patience = std::chrono::seconds(4);
    options.repeats = repeats;
    options.method = Method::pack;
    Client client(service.volume(), options);
    const File file = client.open("data", Creation::exclusive);
    const auto written = some_bytes(5 * bytes_per_s, 3);
    std::vector<Client::Ticket> tickets;
    for (std::uint64_t i = 0; i < 2; ++i) {
      const iovec piece{const_cast<std::byte*>(written.data()), written.size()};
      const ByteRun run{i * written.size(), written.size()};
      tickets.push_back(client.start_write_list(file, {&piece, 1}, {&run, 1}));
    }
    for (const Client::Ticket ticket : tickets) EXPECT_EQ(client.wait(ticket), written.size());
  };
  std::vector<std::jthread> threads;
  for (const auto& [repeats, copies] : {std::pair{false, 1U}, {true, 1U}, {false, 2U}})
    threads.emplace_back([&transfer, repeats, copies] { EXPECT_NO_THROW(transfer(repeats, copies)) << copies; });
}

TEST(ClientTest, TransfersGoOnWhileTheCallerDoesSomethingElse) {
  const Service service(2);
  Client client(service.volume());
  const File file = client.open("data", Creation::exclusive);
  const auto written = some_bytes(1 << 20, 3);
  std::vector<Client::Ticket> tickets;
  for (std::size_t i = 0; i < 16; ++i) {
    const iovec piece{const_cast<std::byte*>(&written[i << 16]), 1 << 16};
    const ByteRun run{i << 16, 1 << 16};
    tickets.push_back(client.start_write_list(file, {&piece, 1}, {&run, 1}));
  }
  std::reverse(tickets.begin(), tickets.end());
  for (const Client::Ticket ticket : tickets) EXPECT_EQ(client.wait(ticket), 1 << 16);
  std::vector<std::byte> read(written.size());
  const iovec piece{read.data(), read.size()};
  const ByteRun run{0, read.size()};
  const Client::Ticket ticket = client.start_read_list(file, {&piece, 1}, {&run, 1});
  while (!client.is_done(ticket)) continue;
  EXPECT_EQ(client.wait(ticket), read.size());
  EXPECT_TRUE(read == written);
  EXPECT_THROW(client.wait(ticket), InputError) << "once";
}

TEST(ClientTest, TimeSpentElsewhereIsNotHeldAgainstTheServer) {
  const Service service(2);
  ClientOptions options;
  options.patience = std::chrono::seconds(3);
  Client client(service.volume(), options);
  const File file = client.open("data", Creation::exclusive);
  const auto bytes = some_bytes(20'000'000, 1);
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  const ByteRun run{0, bytes.size()};
  const Client::Ticket ticket = client.start_write_list(file, {&piece, 1}, {&run, 1});
  std::this_thread::sleep_for(std::chrono::milliseconds(3100));
  EXPECT_NO_THROW(client.wait(ticket));
}

// proves listio: manager
TEST(ClientTest, NamesLiveOnTheManager) {
  const Service service(3);
  Client client(service.volume()), other(service.volume());
  client.make_directory("a");
  client.make_directory("a/b");
  const File file = client.open("a/b/file", Creation::if_missing);
  EXPECT_EQ(other.open("a/b/file").id, file.id);
  EXPECT_EQ(error_of([&] { other.open("a/b/file", Creation::exclusive); }), EEXIST);
  EXPECT_EQ(error_of([&] { other.open("missing"); }), ENOENT);
  EXPECT_EQ(error_of([&] { other.open("a"); }), EISDIR);
  EXPECT_EQ(error_of([&] { client.make_directory("a"); }), EEXIST);
  EXPECT_EQ(error_of([&] { client.remove_directory("a"); }), ENOTEMPTY);
  EXPECT_EQ(client.stat("a/b").kind, EntryKind::directory);
  EXPECT_EQ(client.stat("").kind, EntryKind::directory);
  client.rename("a/b/file", "file");
  EXPECT_EQ(error_of([&] { client.stat("a/b/file"); }), ENOENT);
  EXPECT_EQ(client.stat("file").id, file.id);
  client.remove_directory("a/b");
  client.remove_directory("a");
  const auto names = client.read_directory("");
  ASSERT_EQ(names.size(), 1);
  EXPECT_EQ(names.front().name, "file");
  EXPECT_EQ(names.front().kind, EntryKind::file);
}

TEST(ClientTest, PathsThatLeadOutAreRefused) {
  const Service service(1);
  Client client(service.volume());
  for (const char* path : {"/etc/passwd", "..", "a/../b", "a//b", "a/", "."})
    EXPECT_THROW(client.open(path, Creation::if_missing), InputError) << path;
  std::filesystem::create_symlink("/", service.folder() + "/server-0/names/out");
  EXPECT_EQ(error_of([&] { client.stat("out/etc"); }), ENOTDIR);
  EXPECT_EQ(error_of([&] { client.open("out", Creation::if_missing); }), ELOOP);
}

// proves listio: symlinks
TEST(ClientTest, LinksAreTextsThatNoServerFollows) {
  const Service service(2);
  Client client(service.volume());
  client.write(client.open("file", Creation::exclusive), some_bytes(100, 1), 0);
  for (const char* text : {"file", "/etc/passwd", "nowhere", "../../x"}) {
    client.make_link("link", text);
    EXPECT_EQ(client.read_link("link"), text);
    EXPECT_EQ(client.stat("link").kind, EntryKind::link);
    EXPECT_EQ(client.stat("link").bytes, std::string(text).size());
    EXPECT_EQ(error_of([&] { client.open("link", Creation::if_missing); }), ELOOP);
    EXPECT_EQ(error_of([&] { client.open("link/passwd", Creation::if_missing); }), ENOTDIR);
    EXPECT_EQ(error_of([&] { client.make_link("link", "x"); }), EEXIST);
    EXPECT_EQ(error_of([&] { client.set_mode("link", 0777); }), EOPNOTSUPP) << "it would change what it names";
    client.unlink("link");
  }
  EXPECT_EQ(error_of([&] { client.read_link("file"); }), EINVAL);
  EXPECT_THROW(client.make_link("link", ""), InputError);
  client.make_link("link", "file");
  client.rename("link", "file");
  const CheckReport report = client.check();
  EXPECT_EQ(report.files, 0);
  EXPECT_EQ(report.data_files, 0) << "the replaced file's data are gone";
  EXPECT_TRUE(report.problems.empty());
}

// proves listio: mount-mode
TEST(ClientTest, ModeAndTimeAreKeptUntilTheNextWrite) {
  const Service service(3);
  Client client(service.volume());
  const File file = client.open("file", Creation::exclusive, 0600);
  client.write(file, some_bytes(300'000, 1), 0);
  client.make_directory("directory", 0700);
  for (const char* path : {"file", "directory"}) {
    client.set_mode(path, 0750);
    EXPECT_EQ(client.stat(path).mode, 0750);
    client.set_mode(path, 07775);
    EXPECT_EQ(client.stat(path).mode, 01775) << "with the sticky bit, without set-user-ID and set-group-ID";
    for (const std::int64_t ns : {std::int64_t{1'500'000'000'123'456'789}, std::int64_t{0}, std::int64_t{-1'500}}) {
      client.set_time(path, ns);
      EXPECT_EQ(client.stat(path).modified_ns, ns);
    }
  }
  client.open("empty", Creation::exclusive);
  client.set_time("empty", -1'500);
  EXPECT_EQ(client.stat("empty").modified_ns, -1'500) << "without data files";
  client.write(file, some_bytes(10, 2), 0);
  EXPECT_GT(client.stat("file").modified_ns, 1'500'000'000'000'000'000);
  EXPECT_EQ(error_of([&] { client.set_mode("none", 0700); }), ENOENT);
  EXPECT_EQ(error_of([&] { client.set_time("none", 0); }), ENOENT);
  client.sync_names();
}

// proves listio: unlink-rename
TEST(ClientTest, WhatIsUnlinkedOrReplacedLeavesNoData) {
  const Service service(2);
  Client client(service.volume());
  const auto bytes = some_bytes(300'000, 1);
  for (const char* path : {"one", "two", "three"}) client.write(client.open(path, Creation::exclusive), bytes, 0);
  client.unlink("one");
  client.rename("two", "three");
  const CheckReport report = client.check();
  EXPECT_EQ(report.files, 1);
  EXPECT_EQ(report.data_files, 2);
  EXPECT_EQ(report.bytes, 300'000);
  EXPECT_TRUE(report.orphans.empty());
  EXPECT_TRUE(report.problems.empty());
}

// proves listio: unlink-rename, remove-orphans
TEST(ClientTest, CheckFindsOrphanedData) {
  Service service(2);
  Client client(service.volume());
  const auto bytes = some_bytes(300'000, 1);
  for (const char* path : {"one", "two"}) client.write(client.open(path, Creation::exclusive), bytes, 0);
  // As if their names had been removed by a client that died before it removed the data.
  std::filesystem::remove(service.folder() + "/server-0/names/one");
  for (const auto& shard : std::filesystem::directory_iterator(service.folder() + "/server-0/entries"))
    std::filesystem::remove_all(shard);
  CheckReport report = client.check();
  EXPECT_EQ(report.orphans.size(), 2);
  EXPECT_EQ(report.reason_to_keep_orphans(), "1 name entries have no copy, such as two; --repair writes it");
  client.repair(report);
  report = client.check();
  ASSERT_EQ(report.orphans.size(), 2);
  EXPECT_EQ(report.reason_to_keep_orphans(), "");
  for (const auto& orphan : report.orphans) client.remove_orphan(orphan);
  report = client.check();
  EXPECT_TRUE(report.orphans.empty());
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(client.stat("two").bytes, bytes.size());
}

// proves listio: names-folder, damaged-name-listed, damaged-name-fails
TEST(ClientTest, ADamagedEntryIsNamedAndTheRestGoesOn) {
  Service service(2);
  Client client(service.volume());
  client.make_directory("a");
  const auto bytes = some_bytes(300'000, 1);
  for (const char* path : {"a/hit", "a/whole"}) client.write(client.open(path, Creation::exclusive), bytes, 0);
  std::ofstream(service.folder() + "/server-0/names/a/hit")
      << "strider-listio-file 1 0123456789abcdef servers 4000000000 first 0 strip 65536\n";
  for (const auto& action : std::vector<std::function<void()>>{
           [&] { client.open("a/hit"); }, [&] { client.open("a/hit", Creation::if_missing); },
           [&] { client.stat("a/hit"); }, [&] { client.rename("a/hit", "a/other"); }}) {
    try {
      action();
      FAIL() << "the entry is damaged";
    } catch (const IoError& error) {
      EXPECT_EQ(error.details().error_number, EUCLEAN);
      EXPECT_NE(std::string(error.what())
                    .find("name entry of a/hit is damaged: it names 4000000000 servers, and the "
                          "volume has 2; run strider listio check"),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(client.read_directory("a").size(), 2);
  EXPECT_EQ(client.stat("a/whole").bytes, bytes.size());
  const CheckReport report = client.check();
  EXPECT_EQ(report.files, 2);
  EXPECT_EQ(report.problems.size(), 1);
}

// proves listio: size
TEST(ClientTest, TruncatesAndExtends) {
  const Service service(3, {}, 1000);
  Client client(service.volume());
  const File file = client.open("data", Creation::exclusive);
  const auto bytes = some_bytes(10'000, 1);
  client.write(file, bytes, 0);
  for (const std::uint64_t size : {std::uint64_t{4321}, std::uint64_t{54321}, std::uint64_t{0}, std::uint64_t{3000}}) {
    client.truncate(file, size);
    EXPECT_EQ(client.size(file), size);
  }
  std::vector<std::byte> read(4000, std::byte{1});
  EXPECT_EQ(client.read(file, read, 0), 3000);
  EXPECT_TRUE(std::all_of(read.begin(), read.begin() + 3000, [](std::byte each) { return each == std::byte{0}; }));
}

TEST(ClientTest, ListsLongDirectories) {
  const Service service(1);
  Client client(service.volume());
  std::set<std::string> made;
  client.make_directory("many");
  for (int i = 0; i < 1000; ++i) {
    const std::string name = std::string(150, 'x') + std::to_string(i);
    client.make_directory("many/" + name);
    made.insert(name);
  }
  std::set<std::string> found;
  for (const auto& [name, kind, inode] : client.read_directory("many")) found.insert(name);
  EXPECT_TRUE(found == made);
}

// proves listio: plain-files, data-and-sums, restart-finds-all, call-completes, connects-again
TEST(ClientTest, EverythingIsFoundAgainAfterARestart) {
  Service service(2);
  Client client(service.volume());
  const File file = client.open("data", Creation::exclusive);
  const auto written = some_bytes(500'000, 5);
  client.write(file, written, 0);
  client.sync(file);
  for (const std::uint32_t number : {0U, 1U}) service.stop(number);
  EXPECT_EQ(error_of([&] { client.size(file); }), ECONNRESET);
  for (const std::uint32_t number : {0U, 1U}) service.start(number);
  std::vector<std::byte> read(written.size());
  EXPECT_EQ(client.read(client.open("data"), read, 0), written.size()) << "connects again";
  EXPECT_TRUE(read == written);
}

TEST(ClientTest, AWrongSecretIsRefusedClearly) {
  const Service service(1);
  Volume volume = service.volume();
  volume.secret = make_secret();
  Client client(volume);
  try {
    client.connect();
    FAIL();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("does not know the volume's secret"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("server 0 (" + volume.servers[0]), std::string::npos) << error.what();
  }
}

TEST(ClientTest, ListsOfDifferentLengthsAreTheCallersMistake) {
  const Service service(1);
  Client client(service.volume());
  const File file = client.open("data", Creation::exclusive);
  std::byte byte{};
  const iovec piece{&byte, 1};
  const ByteRun run{0, 2};
  EXPECT_THROW(client.write_list(file, {&piece, 1}, {&run, 1}), InputError);
  EXPECT_NO_THROW(client.write_list(file, {}, {}));
}

TEST(ClientTest, TheMethodCanBeChosenForEachList) {
  const Service service(2);
  Client client(service.volume());
  const File file = client.open("data", Creation::exclusive);
  std::vector<std::byte> bytes(1000);
  for (const Method method : {Method::pack, Method::gather, Method::gather, Method::multiple}) {
    client.choose(method);
    client.write(file, bytes, 0);
  }
  const ClientCounters counters = client.counters();
  EXPECT_EQ(counters.packed_lists, 1U);
  EXPECT_EQ(counters.gathered_lists, 2U);
  EXPECT_EQ(counters.multiple_lists, 1U);
}

TEST(ClientTest, OnlyADomainHasCosts) {
  const Service service(1);
  Client none(service.volume());
  EXPECT_THROW(none.calibrate_registration(), InputError);
  ClientOptions options;
  options.registration = "model";
  Client client(service.volume(), options);
  // Other work on the machine makes registering slower; a wrong fit is repeated.
  double slope = 0;
  for (int attempt = 0; attempt < 5 && std::abs(slope - 0.77) > 0.3; ++attempt)
    slope = client.calibrate_registration().registering.slope;
  EXPECT_NEAR(slope, 0.77, 0.3);
}

/// A list of two pieces.
void write_some(Client& client, const File& file) {
  const auto bytes = some_bytes(8192, 1);
  const std::vector<iovec> memory{{const_cast<std::byte*>(&bytes[0]), 1000},
                                  {const_cast<std::byte*>(&bytes[4096]), 1000}};  // only read
  const std::vector<ByteRun> runs{{0, 2000}};
  client.write_list(file, memory, runs);
}

ClientOptions locking(Method method) { return {.transport = "tcp", .method = method, .registration = "mlock"}; }

TEST(ClientTest, PacksWhereThereIsNoMemoryToMeasureMethodsWith) {
  const Service service(1);
  const auto write = [&] {
    Client client(service.volume(), locking(Method::hybrid));
    const File file = client.open("data", Creation::if_missing);
    for (int i = 0; i < 4; ++i) write_some(client, file);
    return client.counters().packed_lists == 4 ? 0 : 1;
  };
  // The two buffers of 1 MiB to pack into have 512 pages; the memory of a measurement would need 256 more.
  EXPECT_EQ(with_little_memory(600, write), 0);
}

// proves listio: pack-without-memory
TEST(ClientTest, SaysWhenThereIsNoMemoryToPackIntoAndGoesOn) {
  const Service service(1);
  const auto write = [&] {
    Client client(service.volume(), locking(Method::pack));
    const File file = client.open("data", Creation::if_missing);
    try {
      write_some(client, file);
      return 1;
    } catch (const std::system_error& error) {
      if (error.code().value() != ENOMEM) return 2;
    }
    return client.size(file) == 0 ? 0 : 3;
  };
  EXPECT_EQ(with_little_memory(100, write), 0);
}

}  // namespace
}  // namespace strider::listio
