// The parts of a server, each for itself.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <future>
#include <thread>

#include "listio/server/file_calls.hpp"
#include "listio/server/standby_thread.hpp"
#include "listio/server/window.hpp"
#include "listio/server/worker_pool.hpp"

namespace strider::listio {
namespace {

// proves listio: sorted-runs, overlapping-runs
TEST(FileCallsTest, SortsRunsAndJoinsNeighbours) {
  std::vector<std::byte> buffer(60);
  const ByteRun runs[] = {{100, 10}, {0, 20}, {110, 5}, {20, 25}};
  FileCalls plan(runs, buffer);
  ASSERT_EQ(plan.calls().size(), 2);
  const FileCall &low = plan.calls()[0], &high = plan.calls()[1];
  EXPECT_EQ(low.offset, 0);
  EXPECT_EQ(low.bytes, 45);
  ASSERT_EQ(low.pieces.size(), 2);
  EXPECT_EQ(low.pieces[0].iov_base, &buffer[10]);
  EXPECT_EQ(low.pieces[1].iov_base, &buffer[35]);
  EXPECT_EQ(high.offset, 100);
  EXPECT_EQ(high.pieces.size(), 2);
}

TEST(FileCallsTest, JoinsNeighboursOfTheBufferToo) {
  std::vector<std::byte> buffer(30);
  const ByteRun runs[] = {{0, 10}, {10, 10}, {20, 10}};
  FileCalls plan(runs, buffer);
  ASSERT_EQ(plan.calls().size(), 1);
  ASSERT_EQ(plan.calls()[0].pieces.size(), 1);
  EXPECT_EQ(plan.calls()[0].pieces[0].iov_len, 30);
}

// proves listio: sorted-runs, overlapping-runs
TEST(FileCallsTest, LeavesRunsThatOverlapInTheirOrder) {
  std::vector<std::byte> buffer(30);
  const ByteRun runs[] = {{15, 10}, {5, 11}, {40, 5}};
  FileCalls plan(runs, buffer);
  ASSERT_EQ(plan.calls().size(), 3);
  EXPECT_EQ(plan.calls()[0].offset, 15);
  EXPECT_EQ(plan.calls()[1].offset, 5);
}

TEST(FileCallsTest, ACallHasNoMorePiecesThanTheKernelTakes) {
  std::vector<std::byte> buffer(3000);
  std::vector<ByteRun> runs;
  for (std::uint64_t i = 0; i < 3000; ++i) runs.push_back({2999 - i, 1});  // neighbours, but not in the buffer
  FileCalls plan(runs, buffer);
  ASSERT_EQ(plan.calls().size(), 3);
  for (const FileCall& call : plan.calls()) EXPECT_LE(call.pieces.size(), 1024);
}

/// Adds a job that waits as long as it has to.
void add(WorkerPool& work, std::uint64_t client, std::optional<FileId> file, WorkerPool::Job job) {
  work.add(client, {file, true}, std::move(job), Deadline::max(), {});
}

// proves listio: four-threads, sorted-runs, overlapping-runs
TEST(WorkerPoolTest, DoesWhatAClientWantsInOrderAndLetsClientsTakeTurns) {
  std::vector<int> done;
  std::promise<void> go, over;
  {
    WorkerPool work(1);
    add(work, 9, {}, [wait = go.get_future().share()] { wait.wait(); });
    for (const int job : {10, 11, 12, 13}) add(work, 1, {}, [&done, job] { done.push_back(job); });
    add(work, 2, {}, [&done] { done.push_back(20); });
    add(work, 1, {}, [&over] { over.set_value(); });
    go.set_value();
    over.get_future().wait();
  }
  EXPECT_EQ(done, (std::vector{10, 20, 11, 12, 13}));
}

TEST(WorkerPoolTest, DropsWhatHasNotBegun) {
  std::atomic<int> done = 0;
  std::promise<void> begun, go;
  WorkerPool work(1);
  add(work, 1, {}, [&] {
    begun.set_value();
    go.get_future().wait();
    ++done;
  });
  add(work, 1, {}, [&] { ++done; });
  begun.get_future().wait();
  EXPECT_FALSE(work.drop(1)) << "its first job runs";
  go.set_value();
  std::promise<void> over;
  add(work, 2, {}, [&over] { over.set_value(); });
  over.get_future().wait();
  EXPECT_TRUE(work.drop(1));
  EXPECT_EQ(done, 1);
}

/// Jobs that do not end before they are let go.
class StuckJobs {
 public:
  WorkerPool::Job job() {
    return [this] {
      ++begun;
      go_.wait();
    };
  }
  void let_go() { release_.set_value(); }
  std::atomic<int> begun = 0;

 private:
  std::promise<void> release_;
  std::shared_future<void> go_ = release_.get_future().share();
};

/// Until something holds; meanwhile the pool looks after its threads, as in a server.
template <typename Condition>
void relieve_until(WorkerPool& work, const Condition& holds) {
  const Deadline deadline = in(std::chrono::seconds(60));
  while (!holds()) {
    ASSERT_FALSE(has_passed(deadline));
    work.relieve();
    work.give_up();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// proves listio: 50-ms
TEST(WorkerPoolTest, JobsThatTakeLongLeaveThreadsToOtherFiles) {
  StuckJobs stuck;
  std::atomic<int> done = 0;
  WorkerPool work(2);
  for (const std::uint64_t client : {1, 2, 3, 4, 5, 6}) add(work, client, 7, stuck.job());
  for (const std::uint64_t client : {7, 8, 9}) add(work, client, 8, stuck.job());
  for (const std::uint64_t client : {10, 11, 12}) add(work, client, client, [&done] { ++done; });
  relieve_until(work, [&] { return done == 3; });
  EXPECT_EQ(stuck.begun, 4) << "two of each file";
  stuck.let_go();
  relieve_until(work, [&] { return stuck.begun == 9; });
}

// proves listio: 50-ms
TEST(WorkerPoolTest, HasNoMoreThreadsThanItMayHave) {
  StuckJobs stuck;
  WorkerPool work(1);
  for (std::uint64_t client = 0; client < 2 * WorkerPool::most_growth; ++client) add(work, client, client, stuck.job());
  relieve_until(work, [&] { return stuck.begun == WorkerPool::most_growth; });
  std::this_thread::sleep_for(3 * WorkerPool::most_job_time);
  work.relieve();
  std::this_thread::sleep_for(3 * WorkerPool::most_job_time);
  EXPECT_EQ(stuck.begun, WorkerPool::most_growth);
  stuck.let_go();
}

// proves listio: four-threads
TEST(WorkerPoolTest, WhatTheCallerDoesItselfIsInOrderToo) {
  std::vector<int> done;
  std::promise<void> over;
  WorkerPool work(1);
  ASSERT_TRUE(work.begin(1, {7}));
  EXPECT_FALSE(work.begin(1, {7})) << "one at a time";
  EXPECT_FALSE(work.begin(2, {7})) << "no more of a file than there are threads";
  add(work, 1, 7, [&] {
    done.push_back(2);
    over.set_value();
  });
  work.hand_over(1, [&] { done.push_back(1); });
  over.get_future().wait();
  EXPECT_EQ(done, (std::vector{1, 2}));
  relieve_until(work, [&] { return work.begin(2, {7, true}); });
  EXPECT_FALSE(work.drop(2)) << "it runs";
  work.hand_over(2, [&] { done.push_back(3); });
  EXPECT_TRUE(work.begin(2, {7})) << "of a client that is gone nothing begins";
  EXPECT_EQ(done.size(), 2);
  work.end(2);
}

// proves listio: not-after-later
TEST(WorkerPoolTest, WhatAClientThatIsGoneChangesIsNotOvertaken) {
  StuckJobs stuck;
  std::atomic<int> done = 0, late = 0, elsewhere = 0;
  const auto count = [](std::atomic<int>& counter) { return [&counter] { ++counter; }; };
  WorkerPool work(6);
  add(work, 1, 7, stuck.job());
  work.add(9, {7, false}, stuck.job(), Deadline::max(), {});
  relieve_until(work, [&] { return stuck.begun == 2; });
  EXPECT_FALSE(work.drop(9)) << "it reads";
  EXPECT_FALSE(work.drop(1));
  EXPECT_FALSE(work.drop(1)) << "again";
  EXPECT_FALSE(work.begin(2, {7}));
  for (const std::uint64_t client : {2, 3})
    work.add(client, {7}, count(done), in(std::chrono::seconds(0)), count(late));
  add(work, 2, 8, count(elsewhere));  // behind the one that is late
  add(work, 4, 7, count(done));
  add(work, 5, 8, count(elsewhere));
  relieve_until(work, [&] { return elsewhere == 2; });
  EXPECT_EQ(late, 2);
  EXPECT_EQ(done, 0);
  stuck.let_go();
  relieve_until(work, [&] { return done == 1; });
  relieve_until(work, [&] { return work.begin(2, {7}); });
  work.end(2);
}

// proves listio: event-loop-hands-on
TEST(StandbyThreadTest, TakesALoopOverThatIsNotBackSoon) {
  std::atomic<int> turns = 0;
  std::thread::id looping;
  StandbyThread standby(
      [&] {
        looping = std::this_thread::get_id();
        ++turns;
      },
      [] {});
  const StandbyThread::Duty duty(standby);
  for (int round = 0; round < 3; ++round) {
    const int before = turns;
    const Deadline deadline = in(std::chrono::seconds(60));
    EXPECT_TRUE(standby.step_aside([&] {
      while (turns < before + 3 && !has_passed(deadline)) std::this_thread::yield();
    }));
    EXPECT_GE(turns, before + 3);
    EXPECT_NE(looping, std::this_thread::get_id());
    const int back = turns;
    std::this_thread::sleep_for(std::chrono::milliseconds(round * 300));  // so that it sleeps, too
    EXPECT_EQ(turns, back) << "the loop is this thread's again";
  }
}

// proves listio: event-loop-executes
TEST(StandbyThreadTest, DoesNothingWhereWorkIsShort) {
  int turns = 0, others = 0;
  StandbyThread standby([&] { ++turns; }, [] {});
  const StandbyThread::Duty duty(standby);
  for (int i = 0; i < 100000; ++i) others += standby.step_aside([] {}) ? 1 : 0;
  EXPECT_EQ(turns > 0, others > 0) << "taken over only where this thread was held up";
  EXPECT_LT(others, 1000);
}

// proves listio: resources-free, addresses-reused
TEST(WindowsTest, NoAddressIsUsedAgainSoon) {
  constexpr std::size_t bytes = 4096 * 3;
  Windows windows;
  std::vector<std::byte*> seen;
  for (int i = 0; i < 20; ++i) {
    const std::span<std::byte> window = windows.take(bytes);
    ASSERT_EQ(window.size(), bytes);
    EXPECT_TRUE(std::all_of(window.begin(), window.end(), [](std::byte each) { return each == std::byte{0}; }));
    window.back() = std::byte{1};
    EXPECT_EQ(std::count(seen.begin(), seen.end(), window.data()), 0);
    seen.push_back(window.data());
    windows.give_back(window);
  }
  EXPECT_TRUE(windows.take(std::size_t{1} << 50).empty());
}

/// The end of the addresses is used by a window that stays, so that none of the others fits behind it.
TEST(WindowsTest, BeginAgainWhereTheEndIsInUse) {
  constexpr std::size_t gigabyte = std::size_t{1} << 30;
  Windows windows;
  for (const std::size_t gigabytes : {200, 200, 200, 200, 100}) windows.give_back(windows.take(gigabytes * gigabyte));
  const std::span<std::byte> kept = windows.take(4096);
  ASSERT_FALSE(kept.empty());
  for (int i = 0; i < 20; ++i) {
    const std::span<std::byte> window = windows.take(200 * gigabyte);
    ASSERT_FALSE(window.empty()) << i;
    EXPECT_TRUE(window.data() + window.size() <= kept.data() || window.data() > kept.data());
    windows.give_back(window);
  }
}

/// Pages of a window that are in memory.
std::size_t resident_pages(std::span<std::byte> window) {
  std::vector<unsigned char> states(window.size() / 4096);
  EXPECT_EQ(::mincore(window.data(), window.size(), states.data()), 0);
  return static_cast<std::size_t>(
      std::count_if(states.begin(), states.end(), [](auto each) { return (each & 1) != 0; }));
}

// proves listio: other-half
TEST(WindowsTest, TakeMemoryWhenItIsUsed) {
  Windows windows;
  const std::span<std::byte> window = windows.take(std::size_t{2} << 20);
  EXPECT_EQ(resident_pages(window), 0U);
  window[5000] = std::byte{1};
  EXPECT_EQ(resident_pages(window), 1U);
  Windows::discard(window.subspan(5000, 100));
  EXPECT_EQ(resident_pages(window), 1U) << "others may use the rest of the page";
  Windows::discard(window.subspan(4096, 8192));
  EXPECT_EQ(resident_pages(window), 0U);
  Windows::populate(window);
  EXPECT_EQ(resident_pages(window), 512U);
  windows.give_back(window);
}

}  // namespace
}  // namespace strider::listio
