// Servers whose disk does not take a write.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "foundation/error.hpp"
#include "server/server_process.hpp"

namespace {

std::mutex stall_mutex;
std::condition_variable stall_changed;
std::optional<std::uint64_t> stalled_offset;
int held = 0;

}  // namespace

// In the place of the C library's.
extern "C" ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t offset) {
  {
    std::unique_lock lock(stall_mutex);
    if (stalled_offset == static_cast<std::uint64_t>(offset)) {
      ++held;
      stall_changed.notify_all();
      stall_changed.wait(lock, [&] { return stalled_offset != static_cast<std::uint64_t>(offset); });
      --held;
    }
  }
  return ::syscall(SYS_pwritev, descriptor, pieces, count, offset, 0);
}

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Writes to files that the disk does not take until it is told to: those of this process that begin at `offset`.
class Stall {
 public:
  explicit Stall(std::uint64_t offset) {
    const std::lock_guard lock(stall_mutex);
    stalled_offset = offset;
  }
  ~Stall() { end(); }
  Stall(const Stall&) = delete;
  Stall& operator=(const Stall&) = delete;

  /// Waits until so many writes are held. Whether they are, within a minute.
  static bool holds(int writes) {
    std::unique_lock lock(stall_mutex);
    return stall_changed.wait_for(lock, std::chrono::minutes(1), [&] { return held == writes; });
  }
  /// Lets those that are held go, and holds no more.
  static void end() {
    const std::lock_guard lock(stall_mutex);
    stalled_offset.reset();
    stall_changed.notify_all();
  }
};

constexpr std::uint64_t stalled = 123'000;  ///< where writes are held

ClientOptions patient(milliseconds patience) {
  ClientOptions options;
  options.method = Method::pack;  // no time for finding out what others cost
  options.patience = patience;
  return options;
}

std::vector<std::byte> text(char letter, std::size_t bytes = 100) { return {bytes, static_cast<std::byte>(letter)}; }

/// A client with a write under way.
struct Writing {
  Writing(const Service& service, const std::string& path, std::uint64_t offset, char letter,
          ClientOptions options = patient(seconds(60)))
      : client(service.volume(), options), bytes(text(letter)), run{offset, bytes.size()} {
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

/// Connects, and does what it can with a file of its own.
void use(const Service& service, const std::string& path) {
  Client client(service.volume(), patient(seconds(20)));
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

TEST_P(StallTest, AStuckWriteHoldsUpNobodyElse) {
  const Service service(1, options());
  const Stall stall(stalled);
  Writing first(service, "stuck", stalled, 'a');
  ASSERT_TRUE(Stall::holds(1));
  use(service, "one");
  // More than there are threads.
  std::vector<std::unique_ptr<Writing>> others;
  for (int i = 0; i < 8; ++i) others.push_back(std::make_unique<Writing>(service, "stuck", stalled, 'a'));
  ASSERT_TRUE(Stall::holds(4));
  use(service, "two");
  Stall::end();
  first.client.wait(first.ticket);
  for (const auto& other : others) other->client.wait(other->ticket);
}

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

TEST(ConnectPatienceTest, AServerThatIsBackInTimeIsConnectedTo) {
  ServerProcesses servers(1, "tcp");
  servers.kill(0, SIGSTOP);
  std::thread later([&servers] {
    std::this_thread::sleep_for(seconds(6));
    servers.kill(0, SIGCONT);
  });
  Client client(servers.volume(), patient(seconds(60)));
  EXPECT_NO_THROW(client.connect());
  later.join();
}

TEST(ConnectPatienceTest, OneThatIsNotIsNamedAtTheDeadline) {
  ServerProcesses servers(1, "tcp");
  servers.kill(0, SIGSTOP);
  Client client(servers.volume(), patient(milliseconds(300)));
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
