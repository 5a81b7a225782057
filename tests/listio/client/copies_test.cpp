#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "client_calls.hpp"
#include "foundation/error.hpp"
#include "listio/client/client.hpp"
#include "listio/client/driver.hpp"
#include "listio/client/scrub.hpp"
#include "server/server_process.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

class CopiesTest : public ::testing::Test {
 protected:
  Service service_{4, two_copies(), strip};
  Client client_{service_.volume(), patient()};
};

// proves listio: copies, copies-written
TEST_F(CopiesTest, EachDataFileHasACopyOnTheNextServer) {
  const File file = client_.open("a", Creation::exclusive, 0644, {strip, 4, 0});
  client_.write(file, random_bytes(40 * strip, 1), 0);
  for (std::uint32_t server = 0; server < 4; ++server) {
    const DataPage first = client_.list_data(server, 0);
    const DataPage second = client_.list_data((server + 1) % 4, 0, DataCopy::second);
    ASSERT_EQ(first.files.size(), 1U);
    ASSERT_EQ(second.files.size(), 1U);
    EXPECT_EQ(first.files[0].file, file.id);
    EXPECT_EQ(second.files[0].file, file.id);
    EXPECT_EQ(first.files[0].bytes, 10 * strip);
    EXPECT_EQ(second.files[0].bytes, 10 * strip);
  }
  EXPECT_TRUE(client_.check().problems.empty());
  client_.unlink("a");
  client_.finish_removals();
  for (std::uint32_t server = 0; server < 4; ++server)
    for (const DataCopy copy : {DataCopy::first, DataCopy::second})
      EXPECT_TRUE(client_.list_data(server, 0, copy).files.empty());
}

// proves listio: out
TEST_F(CopiesTest, AServerThatIsGoneIsMissedByNobody) {
  const File file = client_.open("a", Creation::exclusive, 0644, {strip, 4, 0});
  std::vector<std::byte> expected = random_bytes(40 * strip, 1);
  client_.write(file, expected, 0);
  service_.stop(1);
  EXPECT_EQ(contents(client_, file), expected);
  const std::vector<std::byte> newer = random_bytes(13 * strip, 2);
  client_.write(file, newer, 100);
  std::copy(newer.begin(), newer.end(), expected.begin() + 100);
  client_.sync(file);
  EXPECT_EQ(contents(client_, file), expected);
  EXPECT_EQ(client_.view().out, std::vector<std::uint32_t>{1});
  // No client reads its old content.
  service_.start(1);
  Client other(service_.volume(), patient());
  EXPECT_EQ(contents(other, other.open("a")), expected);
}

// proves listio: one-server-down
TEST_F(CopiesTest, AServerIsInAgainWhenItHasWhatItMissed) {
  const File file = client_.open("a", Creation::exclusive, 0644, {strip, 4, 0});
  const File gone = client_.open("gone", Creation::exclusive);
  const File cut = client_.open("cut", Creation::exclusive);
  std::vector<std::byte> expected = random_bytes(40 * strip, 1);
  for (const File& each : {file, gone, cut}) client_.write(each, expected, 0);
  service_.stop(2);
  const std::vector<std::byte> newer = random_bytes(30 * strip, 2);
  client_.write(file, newer, 20 * strip);
  expected.resize(50 * strip);
  std::copy(newer.begin(), newer.end(), expected.begin() + 20 * strip);
  client_.unlink("gone");
  client_.truncate(cut, 5);
  const File made = client_.open("made", Creation::exclusive);
  client_.write(made, newer, 7);
  client_.finish_removals();
  service_.start(2);
  const std::vector<FilledServer> filled = client_.fill();
  ASSERT_EQ(filled.size(), 1U);
  EXPECT_EQ(filled[0].server, 2U);
  EXPECT_EQ(filled[0].reason, "");
  EXPECT_GT(filled[0].bytes, 0U);
  EXPECT_TRUE(client_.view().out.empty());
  EXPECT_TRUE(client_.fill().empty());
  // The copies it has, and its own data, are as good as those of others: one neighbour goes, then the other.
  for (const std::uint32_t neighbour : {1U, 3U}) {
    service_.stop(neighbour);
    Client other(service_.volume(), patient());
    EXPECT_EQ(contents(other, other.open("a")), expected);
    EXPECT_EQ(contents(other, other.open("cut")).size(), 5U);
    EXPECT_EQ(contents(other, other.open("made")).size(), 7 + newer.size());
    EXPECT_EQ(other.view().out, std::vector<std::uint32_t>{neighbour});
    service_.start(neighbour);
    EXPECT_EQ(other.fill().size(), 1U);
  }
  const CheckReport report = client_.check();
  EXPECT_TRUE(report.problems.empty());
  EXPECT_TRUE(report.orphans.empty());
}

// proves listio: two-neighbours-down
TEST_F(CopiesTest, OfTwoNeighboursOneAtMostIsOut) {
  const File file = client_.open("a", Creation::exclusive, 0644, {strip, 4, 0});
  const std::vector<std::byte> bytes = random_bytes(40 * strip, 1);
  client_.write(file, bytes, 0);
  service_.stop(1);
  client_.write(file, bytes, strip);
  service_.stop(2);
  ClientOptions options;
  options.patience = std::chrono::milliseconds(3000);
  Client other(service_.volume(), options);
  try {
    other.write(other.open("a"), bytes, 0);
    FAIL() << "a write that only a server that is out could have";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("server 2"), std::string::npos) << error.what();
  }
  service_.start(2);
  Client third(service_.volume(), patient());
  EXPECT_EQ(contents(third, third.open("a")).size(), 41 * strip);
}

// proves listio: damage-other-copy
TEST_F(CopiesTest, DamagedDataAreReadFromTheOtherCopy) {
  const File file = client_.open("a", Creation::exclusive, 0644, {strip, 4, 0});
  const std::vector<std::byte> expected = random_bytes(40 * strip, 1);
  client_.write(file, expected, 0);
  const std::string path = service_.path_of(3, "data", file.id);
  {
    std::fstream data(path, std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(data.is_open()) << path;
    data.seekp(strip + 5);
    data.put(static_cast<char>(~static_cast<int>(expected[0])));
    data.put(static_cast<char>(~static_cast<int>(expected[0])));
  }
  EXPECT_EQ(contents(client_, file), expected);
  const ScrubReport report = scrub(client_, {}, [](const ScrubProgress&) {});
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_TRUE(report.findings[0].is_repaired);
  EXPECT_EQ(report.findings[0].path, "a");
  EXPECT_TRUE(client_.view().out.empty());
  EXPECT_TRUE(scrub(client_, {}, [](const ScrubProgress&) {}).findings.empty());
  EXPECT_EQ(contents(client_, file), expected);
}

/// Of server 0, in the last block, which is no whole one; and a second copy that is gone.
// proves listio: damage-other-copy
TEST_F(CopiesTest, AScrubRepairsEachDamage) {
  const File file = client_.open("a", Creation::exclusive, 0644, {strip, 4, 0});
  const std::vector<std::byte> expected = random_bytes(36 * strip + 100, 1);
  client_.write(file, expected, 0);
  client_.sync(file);
  {
    std::fstream data(service_.path_of(0, "data", file.id), std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(data.is_open());
    data.seekp(9 * strip + 50);
    data.put(static_cast<char>(~static_cast<int>(expected[36 * strip + 50])));
  }
  service_.stop(3);
  ASSERT_TRUE(std::filesystem::remove(service_.path_of(3, "second/data", file.id)));
  service_.start(3);
  Client other(service_.volume(), patient());
  const ScrubReport report = scrub(other, {}, [](const ScrubProgress&) {});
  ASSERT_EQ(report.findings.size(), 2U);
  for (const ScrubFinding& each : report.findings) EXPECT_TRUE(each.is_repaired) << each.server << each.damage;
  EXPECT_TRUE(scrub(other, {}, [](const ScrubProgress&) {}).findings.empty());
  for (const std::uint32_t server : {1U, 2U}) {
    EXPECT_EQ(contents(other, file), expected);
    service_.stop(server);
    EXPECT_EQ(contents(other, file), expected);
    service_.start(server);
    EXPECT_EQ(other.fill().size(), 1U);
  }
}

/// A block whose copies are both damaged stays as it is, and is named; its server is in again.
// proves listio: second-and-missed
TEST_F(CopiesTest, WhatIsDamagedInBothCopiesIsNotRepaired) {
  const File file = client_.open("a", Creation::exclusive, 0644, {strip, 4, 0});
  client_.write(file, random_bytes(40 * strip, 1), 0);
  for (const std::string& path : {service_.path_of(1, "data", file.id), service_.path_of(2, "second/data", file.id)}) {
    std::fstream data(path, std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(data.is_open());
    data.put('a').put('b').put('c').put('d');
  }
  std::vector<std::byte> bytes(40 * strip);
  EXPECT_EQ(error_of([&] { client_.read(file, bytes, 0); }), EIO);
  const ScrubReport report = scrub(client_, {}, [](const ScrubProgress&) {});
  ASSERT_EQ(report.findings.size(), 2U);
  for (const ScrubFinding& each : report.findings) EXPECT_FALSE(each.is_repaired);
  EXPECT_TRUE(client_.view().out.empty());
  EXPECT_EQ(error_of([&] { client_.read(file, bytes, 0); }), EIO);
}

// --- what must not be lost when servers go and come ---

/// A client that does one step after the other.
class Steps {
 public:
  explicit Steps(const Volume& volume) : driver_(volume, patient()) {}
  void at(const Place& place, Request request) {
    const auto operation = driver_.prepare("step", "");
    driver_.add(*operation, place, std::move(request));
    driver_.run(*operation);
  }
  /// Until the view changes, or a pause begins.
  void insist(const Request& request, int error_number = EAGAIN) {
    while (error_of([&] { at({0, {}}, request); }) == error_number) driver_.turn(std::chrono::milliseconds(10));
  }
  void write(const Place& place, FileId file, std::span<const std::byte> bytes) {
    const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    const ByteRun run{0, bytes.size()};
    driver_.run(*driver_.prepare(Direction::write, file, place, {&piece, 1}, {&run, 1}));
  }
  void start_fill(std::uint64_t fill, std::uint64_t view) {
    for (const std::uint32_t server : {1U, 2U, 0U}) at({server, {}}, StartFillRequest{fill, 1, view});
  }

 private:
  Driver driver_;
};

std::vector<std::byte> all(int value, std::size_t count = 40 * strip) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

class StepsTest : public CopiesTest {
 protected:
  void take_out(std::uint32_t server) { steps_.insist(LeaseRequest{server, client_.view().number}); }
  int value_of(const File& file, std::uint64_t at) {
    std::vector<std::byte> byte(1);
    Client other(service_.volume(), patient());
    other.read(file, byte, at);
    return static_cast<int>(byte[0]);
  }
  void expect_filled() {
    for (const FilledServer& each : client_.fill()) EXPECT_EQ(each.reason, "");
    EXPECT_TRUE(client_.view().out.empty());
  }

  const File file_ = client_.open("a", Creation::exclusive, 0644, {strip, 4, 0});
  Steps steps_{service_.volume()};
};

/// A fill that stands still for longer than the pause, after its last copy.
TEST_F(StepsTest, WhatIsWrittenAfterThePauseIsNotForgotten) {
  client_.write(file_, all(1), 0);
  service_.stop(1);
  client_.write(file_, all(2), 0);
  service_.start(1);
  constexpr std::uint64_t fill = 77;
  steps_.start_fill(fill, client_.view().number);
  const Place from{2, {DataCopy::second, false, 0, fill}};
  steps_.at(from, TakeMissedRequest{file_.id});
  steps_.write({1, {DataCopy::first, false, 0, fill}}, file_.id, all(2, 10 * strip));
  steps_.insist(PauseRequest{fill, 1});
  steps_.at(from, TakeMissedRequest{file_.id});
  client_.write(file_, all(3), 0);
  client_.sync(file_);
  EXPECT_EQ(error_of([&] { steps_.at(from, ForgetMissedRequest{}); }), EAGAIN);
  EXPECT_EQ(error_of([&] { steps_.at({0, {}}, AdmitRequest{fill, 1}); }), EAGAIN);
  expect_filled();
  EXPECT_EQ(value_of(file_, strip), 3);
}

/// The power failure is an older state of the server's folder.
TEST_F(StepsTest, WhatIsSyncedWhileAServerIsOutIsCopiedToIt) {
  client_.write(file_, all(1), 0);
  client_.sync(file_);
  service_.stop(1);
  const std::string folder = service_.folder() + "/server-1", older = service_.folder() + "/older";
  std::filesystem::copy(folder, older, std::filesystem::copy_options::recursive);
  service_.start(1);
  Client writer(service_.volume(), patient());
  writer.write(file_, all(2), 0);
  service_.stop(1);
  std::filesystem::remove_all(folder);
  std::filesystem::rename(older, folder);
  writer.sync(file_);
  service_.start(1);
  expect_filled();
  EXPECT_EQ(value_of(file_, strip), 2);
}

/// Its data file is gone already, and was not copied yet.
TEST_F(StepsTest, ARepairThatWasCutIsDoneByTheNextFill) {
  client_.write(file_, all(1), 0);
  take_out(1);
  steps_.start_fill(77, client_.view().number);
  steps_.at({2, {DataCopy::second, false, 0, 77}}, MarkMissedRequest{file_.id});
  steps_.at({1, {DataCopy::first, false, 0, 77}}, RemoveDataRequest{file_.id});
  expect_filled();
  EXPECT_EQ(value_of(file_, strip), 1);
}

/// The network delivers it when the server is in again.
TEST_F(StepsTest, AChangeOfAViewInWhichTheServerWasOutIsRefused) {
  client_.write(file_, all(1), 0);
  const std::uint64_t view = client_.view().number;
  take_out(1);
  client_.write(file_, all(2), 0);
  expect_filled();
  client_.write(file_, all(3), 0);
  const auto late = [&] { steps_.write({1, {DataCopy::first, false, view}}, file_.id, all(1, 10 * strip)); };
  EXPECT_EQ(error_of(late), ESTALE);
  EXPECT_EQ(value_of(file_, strip), 3);
}

TEST_F(StepsTest, WhatAnEarlierFillDoesIsRefused) {
  client_.write(file_, all(1), 0);
  take_out(1);
  const std::uint64_t view = client_.view().number;
  steps_.start_fill(17, view);
  steps_.start_fill(18, view);
  const Place from{2, {DataCopy::second, false, 0, 17}}, to{1, {DataCopy::first, false, 0, 17}};
  EXPECT_EQ(error_of([&] { steps_.write(to, file_.id, all(9, strip)); }), ESTALE);
  EXPECT_EQ(error_of([&] { steps_.at(to, RemoveDataRequest{file_.id}); }), ESTALE);
  EXPECT_EQ(error_of([&] { steps_.at(from, TakeMissedRequest{file_.id}); }), ESTALE);
  EXPECT_EQ(error_of([&] { steps_.at(from, ForgetMissedRequest{}); }), ESTALE);
  // The fill of another server is no other turn of this one.
  for (const std::uint32_t server : {3U, 2U, 0U}) steps_.at({server, {}}, StartFillRequest{19, 3, view});
  steps_.at({2, {DataCopy::second, false, 0, 18}}, TakeMissedRequest{file_.id});
}

/// Both were begun on server 1, which went out before they ended; it still runs.
TEST_F(StepsTest, WhatEndsInAnotherViewIsDoneAgain) {
  client_.write(file_, all(1), 0);
  Client slow(service_.volume(), patient());
  std::vector<std::byte> read_bytes(40 * strip), written = all(5, 40 * strip);
  const ByteRun whole{0, read_bytes.size()};
  iovec piece{read_bytes.data(), read_bytes.size()};
  const Client::Ticket reading = slow.start_read_list(file_, {&piece, 1}, {&whole, 1});
  while (!slow.is_done(reading)) continue;
  take_out(1);
  client_.write(file_, all(2), 0);
  slow.wait(reading);
  EXPECT_EQ(read_bytes, all(2));
  expect_filled();
  piece.iov_base = written.data();
  const Client::Ticket writing = slow.start_write_list(file_, {&piece, 1}, {&whole, 1});
  while (!slow.is_done(writing)) continue;
  take_out(1);
  client_.write(file_, all(2), 0);
  slow.wait(writing);
  EXPECT_EQ(value_of(file_, strip), 5);
  EXPECT_EQ(value_of(file_, 0), 5);
}

/// A scrub's first fill fails after it has taken the missed changes; its second one, for repairs, copies all of that.
TEST_F(StepsTest, AFillAfterOneThatFailedCopiesAll) {
  client_.write(file_, all(1), 0);
  service_.stop(1);
  client_.write(file_, all(2, strip), 5 * strip);
  const auto put = [&](const std::string& path, std::uint64_t where) {
    std::fstream data(path, std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(data.is_open());
    data.seekp(static_cast<std::streamoff>(where));
    data.put(7);
  };
  put(service_.path_of(2, "second/data", file_.id), 0);
  put(service_.path_of(1, "data", file_.id), 9 * strip);
  service_.start(1);
  const ScrubReport report = scrub(client_, {}, [](const ScrubProgress&) {});
  EXPECT_EQ(value_of(file_, 5 * strip), 2);
  ASSERT_FALSE(report.filled.empty());
  EXPECT_NE(report.filled[0].reason.find("remove or overwrite the file"), std::string::npos) << report.filled[0].reason;
  // What makes the source whole again lets the server in.
  client_.write(file_, all(3), 0);
  expect_filled();
  EXPECT_EQ(value_of(file_, strip), 3);
}

/// The later one of a server takes the turn of the other.
TEST_F(StepsTest, TwoFillsAtOnceDoNoHarm) {
  for (const std::uint32_t server : {1U, 3U}) service_.stop(server);
  for (int i = 0; i < 100; ++i)
    client_.write(client_.open(std::to_string(i), Creation::exclusive, 0644, {strip, 4, 0}), all(2), 0);
  for (const std::uint32_t server : {1U, 3U}) service_.start(server);
  const std::vector<std::uint32_t> out = client_.view().out;
  EXPECT_EQ(out, (std::vector<std::uint32_t>{1, 3}));
  std::jthread another([&] {
    Client other(service_.volume(), patient());
    other.fill();
  });
  client_.fill();
  another.join();
  expect_filled();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(contents(client_, client_.open(std::to_string(i))), all(2));
}

/// It takes most of the patience, and answers meanwhile.
TEST(SlowServerTest, IsWaitedForAsWithOneCopy) {
  ServerOptions options = two_copies();
  options.bytes_per_s = 1000000;
  Service service(2, options, strip);
  Client client(service.volume(), patient(std::chrono::milliseconds(8000)));
  const File file = client.open("a", Creation::exclusive, 0644, {strip, 2, 0});
  const ByteRun range{0, 100};
  const LockId lock = client.lock(file, {&range, 1}, LockKind::exclusive);
  client.write(file, all(1, 3000000), 0);
  EXPECT_TRUE(client.is_held(lock)) << "the connection was given up";
  client.unlock(lock);
}

/// Server 2 does not answer; server 0, which has the lock, is slow, but answers.
TEST(SlowServerTest, BesideOneThatDoesNotAnswerKeepsItsConnection) {
  ServerProcesses servers(4, "tcp", {}, 2, {"--rate", "500000"});
  Client client(servers.volume(), patient(std::chrono::milliseconds(20000)));
  const File file = client.open("a", Creation::exclusive, 0644, {strip, 4, 0});
  const ByteRun range{0, 100};
  const LockId lock = client.lock(file, {&range, 1}, LockKind::exclusive);
  client.write(file, all(1), 0);
  servers.kill(2, SIGSTOP);
  const std::vector<std::byte> newer = all(2, 5400000);
  client.write(file, newer, 0);
  EXPECT_TRUE(client.is_held(lock)) << "the connection was given up";
  client.unlock(lock);
  EXPECT_EQ(client.view().out, std::vector<std::uint32_t>{2});
  servers.kill(2, SIGCONT);
}

TEST_F(StepsTest, AWriteWhoseLockWasLostIsNotDoneAgain) {
  client_.write(file_, all(1), 0);
  const ByteRun whole{0, 40 * strip};
  const LockId lock = client_.lock(file_, {&whole, 1}, LockKind::exclusive);
  std::vector<std::byte> bytes = all(2);
  const iovec piece{bytes.data(), bytes.size()};
  const Client::Ticket writing = client_.start_write_list(file_, {&piece, 1}, {&whole, 1});
  while (!client_.is_done(writing)) continue;
  take_out(1);
  service_.stop(0);
  service_.start(0);
  EXPECT_EQ(error_of([&] { client_.wait(writing); }), ENOLCK);
  EXPECT_EQ(error_of([&] { client_.unlock(lock); }), ENOLCK);
}

TEST_F(CopiesTest, WhoIsOutIsKept) {
  const File file = client_.open("a", Creation::exclusive, 0644, {strip, 4, 0});
  client_.write(file, random_bytes(40 * strip, 1), 0);
  service_.stop(1);
  const std::vector<std::byte> newer = random_bytes(40 * strip, 2);
  client_.write(file, newer, 0);
  for (std::uint32_t server = 0; server < 4; ++server) service_.stop(server);
  for (std::uint32_t server = 0; server < 4; ++server) service_.start(server);
  Client other(service_.volume(), patient());
  EXPECT_EQ(other.view().out, std::vector<std::uint32_t>{1});
  EXPECT_EQ(contents(other, other.open("a")), newer);
  ASSERT_EQ(other.fill().size(), 1U);
  EXPECT_TRUE(other.view().out.empty());
  EXPECT_EQ(contents(other, other.open("a")), newer);
}

}  // namespace
}  // namespace strider::listio
