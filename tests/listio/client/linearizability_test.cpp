// Contiguous reads and writes under locks happen one after the other, while servers are killed and started again.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "foundation/error.hpp"
#include "history.hpp"
#include "random_lists.hpp"
#include "server/server_process.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
using Operations = std::vector<HistoricOperation>;

// --- the checker ---

HistoricOperation written(std::size_t first, std::vector<std::uint32_t> values, std::uint64_t begin,
                          std::uint64_t end) {
  return {true, first, std::move(values), begin, end};
}
HistoricOperation found(std::size_t first, std::vector<std::uint32_t> values, std::uint64_t begin, std::uint64_t end) {
  return {false, first, std::move(values), begin, end};
}
bool is_linearizable(const Operations& history) { return HistoryChecker(history, 3).is_linearizable(); }
constexpr std::uint64_t never = HistoricOperation::never;

TEST(HistoryCheckerTest, TakesWhatHasAnOrder) {
  EXPECT_TRUE(is_linearizable({}));
  EXPECT_TRUE(is_linearizable({found(0, {0, 0, 0}, 1, 2)}));
  EXPECT_TRUE(is_linearizable({written(0, {7, 7}, 1, 2), found(1, {7, 0}, 3, 4)}));
  EXPECT_TRUE(is_linearizable({written(0, {7}, 1, 9), found(0, {7}, 2, 3), found(0, {7}, 4, 5)}));
  EXPECT_TRUE(is_linearizable({written(0, {7}, 1, 9), found(0, {0}, 2, 3), found(0, {7}, 4, 5)}));
  EXPECT_TRUE(is_linearizable({written(0, {7}, 1, 6), written(0, {8}, 2, 5), found(0, {7}, 7, 8)}));
}

TEST(HistoryCheckerTest, RefusesWhatHasNone) {
  EXPECT_FALSE(is_linearizable({written(0, {7}, 1, 2), found(0, {0}, 3, 4)})) << "an old value";
  EXPECT_FALSE(is_linearizable({written(0, {7}, 1, 9), found(0, {7}, 2, 3), found(0, {0}, 4, 5)})) << "back again";
  EXPECT_FALSE(is_linearizable({written(0, {7, 7}, 1, 9), found(0, {7, 0}, 2, 3)})) << "half of a write";
  EXPECT_FALSE(is_linearizable({found(0, {7}, 1, 2), written(0, {7}, 3, 4)})) << "a value of later";
  EXPECT_FALSE(
      is_linearizable({written(0, {7}, 1, 6), written(0, {8}, 2, 5), found(0, {7}, 7, 8), found(0, {8}, 9, 10)}));
}

TEST(HistoryCheckerTest, LetsWhatFailedHappenOrNot) {
  EXPECT_TRUE(is_linearizable({written(0, {7}, 1, never), found(0, {0}, 2, 3)}));
  EXPECT_TRUE(is_linearizable({written(0, {7}, 1, never), found(0, {0}, 2, 3), found(0, {7}, 4, 5)}));
  EXPECT_FALSE(is_linearizable({written(0, {7}, 1, never), found(0, {7}, 2, 3), found(0, {0}, 4, 5)}));
  EXPECT_FALSE(is_linearizable({written(0, {7}, 4, never), found(0, {7}, 2, 3)})) << "before its begin";
}

// --- histories ---

enum class Discipline { locks, reads_without_locks };

/// Clients that read and write the registers of one history after the other, and their reads. A register is a
/// strip of the file, and neighbours are on different servers.
class Histories {
 public:
  static constexpr std::uint32_t servers = 3;
  static constexpr std::size_t registers = 4, clients = 3, operations = 5;
  static constexpr std::uint64_t strip_bytes = 1024;

  Histories(std::string transport, Discipline discipline, std::uint64_t seed, std::uint32_t copies = 1)
      : processes_(servers, std::move(transport), {}, copies), discipline_(discipline), dice_(seed) {
    ClientOptions options;
    options.patience = milliseconds(20'000);
    for (std::size_t i = 0; i < clients; ++i)
      clients_.push_back(std::make_unique<Client>(processes_.volume(), options));
    file_ = clients_.front()->open("data", Creation::exclusive, 0644, {.strip_bytes = strip_bytes, .first = 0});
  }

  /// One more history; servers are killed meanwhile if `restarting`.
  Operations record(bool restarting) {
    base_ = next_base_;
    next_base_ += registers * strip_bytes;
    history_.clear();
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < clients; ++i)
      threads.emplace_back([this, i, dice = Dice(dice_.roll(0, ~std::uint32_t{0}))]() mutable { work(i, dice); });
    if (restarting) restart();
    for (std::jthread& thread : threads) thread.join();
    read_at_the_end();
    return history_;
  }
  std::size_t uncertain() const { return uncertain_; }
  std::size_t lost_locks() const { return lost_locks_; }
  std::size_t fills() const { return fills_; }

 private:
  void restart() {
    const auto number = static_cast<std::uint32_t>(dice_.roll(0, servers - 1));
    std::this_thread::sleep_for(std::chrono::microseconds(dice_.roll(0, 3000)));
    filling_ = {};
    processes_.kill(number, SIGKILL);
    if (processes_.volume().copies > 1) std::this_thread::sleep_for(milliseconds(dice_.roll(0, 1500)));
    start(number);
    if (processes_.volume().copies > 1) filling_ = std::jthread([this] { fill(); });
  }

  /// While clients work.
  void fill() {
    Client client(processes_.volume());
    for (const FilledServer& each : client.fill()) {
      EXPECT_EQ(each.reason, "");
      ++fills_;
    }
  }

  /// Again if another program has taken the server's port meanwhile.
  void start(std::uint32_t number) {
    for (const Deadline deadline = in(milliseconds(60'000)); !has_passed(deadline);) try {
        return processes_.start(number);
      } catch (const std::runtime_error&) {
        processes_.kill(number, SIGKILL);
        std::this_thread::sleep_for(milliseconds(50));
      }
    FAIL() << "server " << number << " does not start";
  }

  void work(std::size_t number, Dice& dice) {
    for (std::size_t i = 0; i < operations; ++i) {
      HistoricOperation operation;
      operation.writes = dice.one_in(2);
      operation.first = dice.roll(0, registers - 1);
      const auto value = static_cast<std::uint32_t>(number * operations + i + 1);  // of no other operation
      operation.values.assign(dice.roll(1, registers - operation.first), value);
      carry_out(*clients_[number], operation);
    }
  }

  void carry_out(Client& client, HistoricOperation& operation) {
    const ByteRun range{base_ + operation.first * strip_bytes, operation.values.size() * strip_bytes};
    operation.begin = clock_++;
    bool is_certain = false;
    try {
      is_certain = transfer(client, operation, range);
    } catch (const IoError&) {  // it may have happened, or not
    }
    const std::uint64_t end = clock_++;
    const std::lock_guard lock(mutex_);
    if (is_certain) operation.end = end;
    else ++uncertain_;
    if (is_certain) history_.push_back(operation);
    else if (operation.writes) add_uncertain(operation);
  }

  /// Whether its lock was held all the time.
  bool transfer(Client& client, HistoricOperation& operation, const ByteRun& range) {
    if (!operation.writes && discipline_ == Discipline::reads_without_locks) {
      read(client, operation, range);
      return true;
    }
    const LockId held = client.lock(file_, {&range, 1}, operation.writes ? LockKind::exclusive : LockKind::shared);
    try {
      if (operation.writes) write(client, operation, range);
      else read(client, operation, range);
    } catch (const IoError&) {
      give_up(client, held);
      throw;
    }
    return give_up(client, held);
  }

  bool give_up(Client& client, LockId held) {
    try {
      client.unlock(held);
      return true;
    } catch (const IoError&) {
      ++lost_locks_;
      return false;
    }
  }

  void write(Client& client, const HistoricOperation& operation, const ByteRun& range) {
    const std::vector<std::byte> bytes(range.length, static_cast<std::byte>(operation.values.front()));
    client.write(file_, bytes, range.offset);
  }

  void read(Client& client, HistoricOperation& operation, const ByteRun& range) {
    std::vector<std::byte> bytes(range.length);
    client.read(file_, bytes, range.offset);
    for (std::size_t i = 0; i < operation.values.size(); ++i) {
      const auto strip = std::span(bytes).subspan(i * strip_bytes, strip_bytes);
      const bool is_whole = std::ranges::all_of(strip, [&](std::byte each) { return each == strip.front(); });
      operation.values[i] = is_whole ? std::to_integer<std::uint32_t>(strip.front()) : torn;
    }
  }

  /// A write that failed, or lost its lock, may change each of its registers at another time, or never.
  void add_uncertain(const HistoricOperation& operation) {
    for (std::size_t i = 0; i < operation.values.size(); ++i)
      history_.push_back({true, operation.first + i, {operation.values[i]}, operation.begin, HistoricOperation::never});
  }

  /// The final content.
  void read_at_the_end() {
    for (const Deadline deadline = in(milliseconds(60'000)); !has_passed(deadline);) {
      HistoricOperation all;
      all.values.resize(registers);
      const std::size_t before = history_.size();
      carry_out(*clients_.front(), all);
      if (history_.size() > before) return;
    }
    ADD_FAILURE() << "no read succeeds after a restart";
  }

  static constexpr std::uint32_t torn = 1000;  // no operation writes it

  ServerProcesses processes_;
  const Discipline discipline_;
  Dice dice_;
  std::vector<std::unique_ptr<Client>> clients_;
  File file_;
  std::uint64_t base_ = 0, next_base_ = 0;
  std::atomic<std::uint64_t> clock_ = 1;
  std::atomic<std::size_t> lost_locks_ = 0;
  std::mutex mutex_;
  Operations history_;
  std::size_t uncertain_ = 0;
  std::atomic<std::size_t> fills_ = 0;
  std::jthread filling_;
};

std::string text_of(const Operations& history) {
  std::string text;
  for (const HistoricOperation& each : history) {
    text += each.writes ? "write" : "read";
    for (std::size_t i = 0; i < each.values.size(); ++i)
      text += " " + std::to_string(each.first + i) + "=" + std::to_string(each.values[i]);
    text += " from " + std::to_string(each.begin) + (each.is_certain() ? " to " + std::to_string(each.end) : "") + "\n";
  }
  return text;
}

int wanted_histories() {
  const char* const text = std::getenv("STRIDER_HISTORIES");
  return text == nullptr ? 200 : std::atoi(text);
}

class LinearizabilityTest : public testing::TestWithParam<std::string_view> {};

TEST_P(LinearizabilityTest, ReadsAndWritesUnderLocksHaveAnOrderWhileServersAreKilled) {
  constexpr int restart_every = 8;
  Histories histories(std::string(GetParam()), Discipline::locks, 20261127);
  std::size_t most_states = 0, operations = 0;
  const int wanted = wanted_histories();
  for (int i = 0; i < wanted; ++i) {
    const Operations history = histories.record(i % restart_every == 0);
    HistoryChecker checker(history, Histories::registers);
    ASSERT_TRUE(checker.is_linearizable()) << "history " << i << ":\n" << text_of(history);
    most_states = std::max(most_states, checker.states());
    operations += history.size();
  }
  EXPECT_GT(histories.uncertain(), 0U) << "no operation met a restart";
  std::printf("%d histories, %zu operations, %zu without a known end, %zu locks lost, at most %zu states\n", wanted,
              operations, histories.uncertain(), histories.lost_locks(), most_states);
}

/// Servers are killed for longer, and filled while clients work.
// proves listio: continue-meanwhile
TEST(CopiedLinearizabilityTest, ReadsAndWritesUnderLocksHaveAnOrder) {
  constexpr int restart_every = 12;
  Histories histories("tcp", Discipline::locks, 20261128, 2);
  const int wanted = wanted_histories() / 2;
  std::size_t operations = 0;
  for (int i = 0; i < wanted; ++i) {
    const Operations history = histories.record(i % restart_every == 0);
    ASSERT_TRUE(HistoryChecker(history, Histories::registers).is_linearizable()) << "history " << i << ":\n"
                                                                                 << text_of(history);
    operations += history.size();
  }
  EXPECT_GT(histories.fills(), 0U) << "no server was out";
  std::printf("%d histories, %zu operations, %zu without a known end, %zu locks lost, %zu servers filled\n", wanted,
              operations, histories.uncertain(), histories.lost_locks(), histories.fills());
}

TEST_P(LinearizabilityTest, ReadsWithoutLocksAreFound) {
  Histories histories(std::string(GetParam()), Discipline::reads_without_locks, 7);
  int recorded = 0;
  bool all_right = true;
  for (const Deadline deadline = in(milliseconds(60'000)); all_right && !has_passed(deadline); ++recorded)
    all_right = HistoryChecker(histories.record(false), Histories::registers).is_linearizable();
  EXPECT_FALSE(all_right) << "of " << recorded << " histories";
  std::printf("found in history %d\n", recorded);
}

INSTANTIATE_TEST_SUITE_P(All, LinearizabilityTest, testing::Values("cma", "tcp"),
                         [](const auto& each) { return std::string(each.param); });

// --- a lost lock ---

/// A writer loses its lock between the halves of its write, to another one.
TEST(LostLockTest, IsAViolationIfIgnoredAndNoneIfTheWriteCountsAsFailed) {
  constexpr std::uint64_t strip = 1024;
  ServerProcesses servers(2, "tcp");
  Client writer(servers.volume()), other(servers.volume());
  const File file = writer.open("data", Creation::exclusive, 0644, {.strip_bytes = strip, .first = 0});
  const ByteRun both{0, 2 * strip};
  const auto fill = [&](Client& client, std::uint64_t first, std::uint64_t strips, int value) {
    client.write(file, std::vector<std::byte>(strips * strip, static_cast<std::byte>(value)), first * strip);
  };
  const LockId lost = writer.lock(file, {&both, 1}, LockKind::exclusive);
  fill(writer, 0, 1, 1);
  servers.kill(Client::lock_server(file), SIGKILL);
  servers.start(Client::lock_server(file));
  const LockId held = other.lock(file, {&both, 1}, LockKind::exclusive);
  fill(other, 0, 2, 2);
  other.unlock(held);
  fill(writer, 1, 1, 1);
  EXPECT_THROW(writer.unlock(lost), IoError);
  std::vector<std::byte> bytes(2 * strip);
  other.read(file, bytes, 0);
  const auto seen = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i * strip]); };
  const Operations rest{written(0, {2, 2}, 2, 3), found(0, {seen(0), seen(1)}, 5, 6)};
  Operations ignored = rest, failed = rest;
  ignored.push_back(written(0, {1, 1}, 1, 4));
  failed.push_back(written(0, {1}, 1, never));
  failed.push_back(written(1, {1}, 1, never));
  EXPECT_FALSE(is_linearizable(ignored));
  EXPECT_TRUE(is_linearizable(failed));
}

}  // namespace
}  // namespace strider::listio
