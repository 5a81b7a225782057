// Servers whose disk does not take a write.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "foundation/error.hpp"
#include "server/server_process.hpp"

namespace {

std::mutex stall_mutex;
std::condition_variable stall_changed;
std::optional<std::uint64_t> stalled_offset;
std::string stalled_name;
int held = 0, left_to_hold = 0;

/// Holds a call for as long as the stall lasts.
void hold(const std::function<bool()>& is_stalled) {
  std::unique_lock lock(stall_mutex);
  if (left_to_hold == 0 || !is_stalled()) return;
  --left_to_hold;
  ++held;
  stall_changed.notify_all();
  stall_changed.wait(lock, [&] { return !is_stalled(); });
  --held;
  stall_changed.notify_all();
}

}  // namespace

// In the place of the C library's.
extern "C" ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t offset) {
  hold([offset] { return stalled_offset == static_cast<std::uint64_t>(offset); });
  return ::syscall(SYS_pwritev, descriptor, pieces, count, offset, 0);
}
extern "C" int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  hold([to] { return to == stalled_name; });
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Calls of this process that the disk does not answer until released: writes that begin at `offset`, and
/// renaming to `name`; the first ones.
class Stall {
 public:
  explicit Stall(std::uint64_t offset, int calls = 1000, const std::string& name = "") {
    const std::lock_guard lock(stall_mutex);
    stalled_offset = offset;
    stalled_name = name;
    left_to_hold = calls;
  }
  ~Stall() { end(); }
  Stall(const Stall&) = delete;
  Stall& operator=(const Stall&) = delete;

  /// Waits until so many calls are held. Whether they are, within a minute.
  static bool holds(int writes) {
    std::unique_lock lock(stall_mutex);
    return stall_changed.wait_for(lock, std::chrono::minutes(1), [&] { return held == writes; });
  }
  /// Lets those that are held go, and holds no more.
  static void end() {
    const std::lock_guard lock(stall_mutex);
    stalled_offset.reset();
    stalled_name.clear();
    stall_changed.notify_all();
  }
};

constexpr std::uint64_t stalled = 123'000;  ///< where writes are held

ClientOptions patient_packing(milliseconds patience) {
  ClientOptions options;
  options.method = Method::pack;  // no time for finding out what others cost
  options.patience = patience;
  return options;
}

std::vector<std::byte> text(char letter, std::size_t bytes = 100) { return {bytes, static_cast<std::byte>(letter)}; }

/// A client with a write under way.
struct Writing {
  Writing(const Service& service, const std::string& path, std::uint64_t offset, char letter,
          ClientOptions options = patient_packing(seconds(60)))
      : client(service.volume(), options), bytes(text(letter)), run{offset, bytes.size()} {
    // The server grants buffers with the first transfer; without one, the write would begin when the client waits.
    std::byte first{};
    client.read(client.open(path + "-first", Creation::if_missing), {&first, 1}, 0);
    const File file = client.open(path, Creation::if_missing);
    const iovec piece{bytes.data(), bytes.size()};
    ticket = client.start_write_list(file, {&piece, 1}, {&run, 1});
  }
  Client client;
  std::vector<std::byte> bytes;
  ByteRun run;
  Client::Ticket ticket = 0;
};

class StallTest : public testing::TestWithParam<std::string_view> {
 protected:
  static ServerOptions options() {
    ServerOptions options;
    options.transport = GetParam();
    return options;
  }
};

/// Connects, and makes calls on a file of its own.
void use(const Service& service, const std::string& path) {
  Client client(service.volume(), patient_packing(seconds(20)));
  client.connect();
  const File file = client.open(path, Creation::exclusive);
  std::vector<std::byte> bytes = text('b', 200'000), read(bytes.size());
  client.write(file, bytes, 0);
  EXPECT_EQ(client.read(file, read, 0), bytes.size());
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(client.size(file), bytes.size());
  EXPECT_GT(client.status(0).clients, 1);
  client.sync(file);
  client.unlink(path);
}

// proves listio: four-threads, event-loop-executes, slow-disk-alone
TEST_P(StallTest, AStuckWriteHoldsUpNobodyElse) {
  for (const Checksums checksums : {Checksums::off, Checksums::crc32c}) {
    ServerOptions with = options();
    with.checksums = checksums;
    const Service service(1, with);
    const Stall stall(stalled);
    Writing first(service, "stuck", stalled, 'a');
    ASSERT_TRUE(Stall::holds(1));
    use(service, "one");
    // More than there are threads. With checksums, writes of a file wait for each other.
    std::vector<std::unique_ptr<Writing>> others;
    for (int i = 0; i < 8; ++i) others.push_back(std::make_unique<Writing>(service, "stuck", stalled, 'a'));
    ASSERT_TRUE(Stall::holds(checksums == Checksums::off ? 4 : 1));
    use(service, "two");
    Stall::end();
    first.client.wait(first.ticket);
    for (const auto& other : others) other->client.wait(other->ticket);
  }
}

// proves listio: slow-disk-alone
TEST_P(StallTest, AServerWithStuckWritesInManyFilesAnswers) {
  const Service service(1, options());
  const Stall stall(stalled);
  std::vector<std::unique_ptr<Writing>> writers;
  for (int i = 0; i < 12; ++i)
    writers.push_back(std::make_unique<Writing>(service, "stuck-" + std::to_string(i), stalled, 'a'));
  ASSERT_TRUE(Stall::holds(12));
  use(service, "free");
  Stall::end();
  for (const auto& writer : writers) writer->client.wait(writer->ticket);
}

/// The error of an action.
template <typename Action>
std::string error_of(int number, const Action& action) {
  try {
    action();
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().error_number, number) << error.what();
    return error.details().file + ": " + error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

void expect_left_over(const std::string& message, const std::string& what, const std::string& path) {
  EXPECT_NE(message.find("an earlier " + what + " of a client that is gone has not ended"), std::string::npos)
      << message;
  EXPECT_NE(message.find("server 0 ("), std::string::npos) << message;
  EXPECT_NE(message.find(path), std::string::npos) << message;
}

// proves listio: deadline-may-write, not-after-later, stuck-write-etimedout, reconnect-and-names
TEST_P(StallTest, AWriteOfAClientThatIsGoneIsNotOvertaken) {
  const Service service(1, options());
  for (int round = 0; round < 6; ++round) {
    const std::string path = "file-" + std::to_string(round);
    const Stall stall(stalled, 1);
    auto gone =
        std::make_unique<Writing>(service, path, stalled, 'a', patient_packing(milliseconds(500 + 200 * round)));
    ASSERT_TRUE(Stall::holds(1));
    error_of(ETIMEDOUT, [&] { gone->client.wait(gone->ticket); });
    // Others, or the same client again.
    Writing waiting(service, path, stalled, 'b');
    Client reader(service.volume(), patient_packing(milliseconds(800)));
    std::vector<std::byte> bytes = text('c'), read(bytes.size());
    const File file{path, gone->client.open(path).id, Striping(1, 65536)};
    expect_left_over(error_of(ETIMEDOUT, [&] { gone->client.write(file, bytes, stalled); }), "write", path);
    expect_left_over(error_of(ETIMEDOUT, [&] { reader.read(file, read, 0); }), "write", path);
    EXPECT_FALSE(waiting.client.is_done(waiting.ticket));
    if (round % 2 == 0) gone.reset();
    Stall::end();
    waiting.client.wait(waiting.ticket);
    EXPECT_EQ(reader.read(file, read, stalled), read.size());
    EXPECT_EQ(read, text('b'));
    EXPECT_TRUE(Stall::holds(0));
    if (gone) gone->client.write(file, bytes, stalled);
    EXPECT_EQ(reader.read(file, read, stalled), read.size());
    EXPECT_EQ(read, text(gone ? 'c' : 'b'));
  }
}

// proves listio: reconnect-and-names
TEST(LeftOverTest, NeitherIsAChangeOfNames) {
  const Service service(1);
  Client client(service.volume(), patient_packing(seconds(1))), other(service.volume(), patient_packing(seconds(1)));
  const File file = client.open("name", Creation::exclusive);
  const Stall stall(stalled, 1, "renamed");
  error_of(ETIMEDOUT, [&] { client.rename("name", "renamed"); });
  expect_left_over(error_of(ETIMEDOUT, [&] { other.unlink("name"); }), "change of names", "name");
  EXPECT_EQ(other.size(file), 0) << "of the data";
  Stall::end();
  EXPECT_TRUE(Stall::holds(0));
  other.unlink("renamed");
}

// proves listio: call-completes
TEST(ConnectPatienceTest, AServerThatIsBackInTimeIsConnectedTo) {
  ServerProcesses servers(1, "tcp");
  servers.kill(0, SIGSTOP);
  std::thread later([&servers] {
    std::this_thread::sleep_for(seconds(6));
    servers.kill(0, SIGCONT);
  });
  Client client(servers.volume(), patient_packing(seconds(60)));
  EXPECT_NO_THROW(client.connect());
  later.join();
}

// proves listio: call-completes
TEST(ConnectPatienceTest, OneThatIsNotIsNamedAtTheDeadline) {
  ServerProcesses servers(1, "tcp");
  servers.kill(0, SIGSTOP);
  Client client(servers.volume(), patient_packing(milliseconds(300)));
  try {
    client.connect();
    ADD_FAILURE() << "connected to a server that is stopped";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().error_number, ETIMEDOUT);
    EXPECT_NE(std::string(error.what()).find("server 0 ("), std::string::npos) << error.what();
  }
  servers.kill(0, SIGCONT);
}

INSTANTIATE_TEST_SUITE_P(All, StallTest, testing::Values("tcp", "cma"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace strider::listio
