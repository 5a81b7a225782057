// What a server is made of, each for itself.
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "listio/server/file_calls.hpp"
#include "listio/server/window.hpp"
#include "listio/server/worker_pool.hpp"

namespace strider::listio {
namespace {

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

TEST(WorkerPoolTest, DoesWhatAClientWantsInOrderAndLetsClientsTakeTurns) {
  std::vector<int> done;
  std::promise<void> go, over;
  {
    WorkerPool work(1);
    work.add(9, [wait = go.get_future().share()] { wait.wait(); });
    for (const int job : {10, 11, 12, 13}) work.add(1, [&done, job] { done.push_back(job); });
    work.add(2, [&done] { done.push_back(20); });
    work.add(1, [&over] { over.set_value(); });
    go.set_value();
    over.get_future().wait();
  }
  EXPECT_EQ(done, (std::vector{10, 20, 11, 12, 13}));
}

TEST(WorkerPoolTest, DropsWhatHasNotBegun) {
  std::atomic<int> done = 0;
  std::promise<void> begun, go;
  WorkerPool work(1);
  work.add(1, [&] {
    begun.set_value();
    go.get_future().wait();
    ++done;
  });
  work.add(1, [&] { ++done; });
  begun.get_future().wait();
  EXPECT_FALSE(work.drop(1)) << "its first job runs";
  go.set_value();
  std::promise<void> over;
  work.add(2, [&over] { over.set_value(); });
  over.get_future().wait();
  EXPECT_TRUE(work.drop(1));
  EXPECT_EQ(done, 1);
}

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

}  // namespace
}  // namespace strider::listio
