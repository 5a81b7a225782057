#include "operations/queued_transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <set>
#include <thread>

#include "operations/work.hpp"

namespace strider {
namespace {

/// Stands in for a file whose requests are done `at_once` at a time, the last one first, and not before complete()
/// asks: until then it moves no bytes.
class LazyFile final : public QueuedFile {
 public:
  explicit LazyFile(std::uint32_t depth) : in_flight(depth) {}
  void submit(Direction direction, const Request& request, std::uint32_t slot) override {
    EXPECT_FALSE(in_flight.at(slot)) << "slot " << slot << " is handed over twice";
    in_flight[slot] = Submitted{direction, request};
    order.push_back(slot);
    numbers.push_back(request.number);
    most = std::max(most, order.size());
  }
  void send() override { ++sends; }
  std::size_t complete(std::span<std::uint32_t> slots) override {
    EXPECT_FALSE(order.empty()) << "nothing is in flight";
    meanwhile();
    std::size_t count = 0;
    while (count < std::min(at_once, slots.size()) && !order.empty()) {
      const std::uint32_t slot = order.back();
      order.pop_back();
      move(*in_flight[slot]);
      in_flight[slot].reset();
      slots[count++] = slot;
    }
    return count;
  }
  void write(const Request&) override { FAIL() << "not queued"; }
  void read(const Request&) override { FAIL() << "not queued"; }
  void sync() override {}
  void close() override {}
  std::uint64_t size() override { return content.size(); }

  struct Submitted {
    Direction direction;
    Request request;
  };
  std::vector<std::byte> content = std::vector<std::byte>(1 << 16);
  std::vector<std::optional<Submitted>> in_flight;
  std::vector<std::uint32_t> order;    ///< of the slots in flight
  std::vector<std::uint64_t> numbers;  ///< of the requests that were handed over
  std::size_t most = 0;                ///< requests in flight at any time
  std::size_t at_once = 1;
  int sends = 0;
  std::uint64_t fails_at = ~std::uint64_t{0};  ///< number of the request
  std::function<void()> meanwhile = [] {};

 private:
  void move(const Submitted& submitted) {
    const Request& request = submitted.request;
    if (request.number == fails_at) throw IoError({"io", "file", request.extents[0].file_offset, 4, EIO});
    for (const Extent& extent : request.extents) {
      std::byte *in_file = content.data() + extent.file_offset, *in_memory = request.memory + extent.memory_offset;
      submitted.direction == Direction::write ? std::memcpy(in_file, in_memory, extent.length)
                                              : std::memcpy(in_memory, in_file, extent.length);
    }
  }
};

/// A job with memory for several requests.
struct QueuedJob : Job {
  QueuedJob(Operation operation, std::uint64_t requests, std::uint32_t depth, OrderKind kind = OrderKind::forward)
      : Job(operation, requests, kind) {
    memory.resize(depth * slot_bytes);
    work.memory = memory;
    work.depth = depth;
  }
  static constexpr std::uint64_t slot_bytes = 8;  ///< more than a request's four
};

Stop run(QueuedJob& job, LazyFile& file, std::uint64_t last, std::uint64_t deadline_ticks = 0) {
  QueuedTransfer transfer(job.work, file, job.timer, job.tally, job.watch);
  return transfer.run(last, deadline_ticks);
}

TEST(QueuedTransfer, KeepsAsManyRequestsInFlightAsItMay) {
  QueuedJob job(Operation::write, 50, 8);
  LazyFile file(8);
  EXPECT_EQ(run(job, file, 50), Stop::finished);
  EXPECT_EQ(file.most, 8U);
  EXPECT_TRUE(file.order.empty());
  std::vector<std::uint64_t> wanted(50);
  for (std::uint64_t i = 0; i < 50; ++i) wanted[i] = i;
  EXPECT_EQ(file.numbers, wanted);
}

TEST(QueuedTransfer, HandsOverARequestAsSoonAsOneIsDone) {
  QueuedJob job(Operation::write, 20, 4);
  LazyFile file(4);
  std::vector<std::size_t> in_flight;
  file.meanwhile = [&] { in_flight.push_back(file.order.size()); };
  run(job, file, 20);
  EXPECT_EQ(std::ranges::count(in_flight, 4U), 17) << "until the last ones";
}

TEST(QueuedTransfer, IssuesItsRequestsInRandomOrderEachOnce) {
  QueuedJob job(Operation::write, 100, 8, OrderKind::random);
  LazyFile file(8);
  run(job, file, 100);
  EXPECT_EQ(std::set(file.numbers.begin(), file.numbers.end()).size(), 100U);
  EXPECT_FALSE(std::ranges::is_sorted(file.numbers));
}

TEST(QueuedTransfer, WithoutRequestsNothingIsCalled) {
  QueuedJob job(Operation::write, 3, 2);
  LazyFile file(2);
  EXPECT_EQ(run(job, file, 0), Stop::finished);
  EXPECT_TRUE(file.numbers.empty());
}

TEST(QueuedTransfer, TalliesEachRequestOnce) {
  QueuedJob job(Operation::read, 50, 8);
  LazyFile file(8);
  file.at_once = 3;
  run(job, file, 50);
  EXPECT_EQ(job.tally.requests, 50U);
  EXPECT_EQ(job.tally.bytes, 200U);
  EXPECT_EQ(job.tally.latency_ns.count(), 50U);
}

// proves measuring: depth-latency, depth-queue, depth-grows
TEST(QueuedTransfer, LatencyIsFromHandingOverToSeeingTheEnd) {
  QueuedJob job(Operation::write, 4, 4);
  LazyFile file(4);
  file.meanwhile = [] { std::this_thread::sleep_for(std::chrono::milliseconds(3)); };
  run(job, file, 4);
  // All four are handed over first; one ends every 3 ms.
  EXPECT_GE(job.tally.latency_ns.minimum(), 2'900'000U);
  EXPECT_GE(job.tally.latency_ns.maximum(), 11'900'000U);
}

TEST(QueuedTransfer, WritesAndFindsTheDataOfEachRequest) {
  // Fails where slots share memory: none of the bytes of a request is moved before four others are prepared.
  const FileData data({1, 2, 3, 4});
  QueuedJob writing(Operation::write, 40, 5);
  writing.work.written = &data;
  LazyFile file(5);
  run(writing, file, 40);
  for (std::uint64_t offset = 0; offset < 320; offset += 8)
    EXPECT_EQ(data.first_mismatch(std::span(file.content).subspan(offset, 4), offset), std::nullopt) << offset;

  Examiner examiner({1, 2, 3, 4}, 1, 320);
  QueuedJob reading(Operation::read, 40, 5);
  reading.work.expected.examiner = &examiner;
  file.at_once = 2;
  run(reading, file, 40);
  EXPECT_EQ(examiner.checked_bytes(), 160U);
  EXPECT_EQ(examiner.mismatches(), 0U);
  EXPECT_GT(writing.tally.prepare_ticks, 0U);
  EXPECT_GT(reading.tally.prepare_ticks, 0U);
}

TEST(QueuedTransfer, FindsWrongData) {
  const FileData data({1, 2, 3, 4});
  LazyFile file(4);
  data.fill(std::span(file.content).first(320), 0);
  file.content[81] ^= std::byte{1};
  Examiner examiner({1, 2, 3, 4}, 1, 320);
  QueuedJob job(Operation::read, 40, 4);
  job.work.expected.examiner = &examiner;
  run(job, file, 40);
  ASSERT_EQ(examiner.mismatches(), 1U);
  EXPECT_EQ(examiner.first_mismatches()[0].file_offset, 81U);
}

// proves measuring: runtime-end
TEST(QueuedTransfer, ADeadlineWaitsForWhatIsInFlight) {
  QueuedJob job(Operation::write, 100, 8);
  LazyFile file(8);
  QueuedTransfer transfer(job.work, file, job.timer, job.tally, job.watch);
  EXPECT_EQ(transfer.run(100, long_ago), Stop::deadline);
  EXPECT_TRUE(file.order.empty());
  EXPECT_EQ(job.tally.requests, 8U) << "no more than were in flight";
  EXPECT_EQ(transfer.run(30, 0), Stop::finished);  // the wear-out goes on from there
  EXPECT_EQ(job.tally.requests, 30U);
  EXPECT_EQ(file.numbers.back(), 29U);
  EXPECT_EQ(std::set(file.numbers.begin(), file.numbers.end()).size(), 30U);
}

TEST(QueuedTransfer, HasFinishedIfTheDeadlineComesWithTheLastRequests) {
  QueuedJob job(Operation::write, 4, 8);
  LazyFile file(8);
  EXPECT_EQ(run(job, file, 4, long_ago), Stop::finished);
  EXPECT_EQ(job.tally.requests, 4U);
}

TEST(QueuedTransfer, IsEndedByTheWatchAndWaitsForWhatIsInFlight) {
  QueuedJob job(Operation::write, 1000, 4);
  job.watch.allowed = 2;
  LazyFile file(4);
  file.meanwhile = [] { std::this_thread::sleep_for(std::chrono::milliseconds(3)); };
  EXPECT_EQ(run(job, file, 1000), Stop::ended);
  EXPECT_TRUE(file.order.empty());
  EXPECT_EQ(job.watch.looks, 3);
  EXPECT_EQ(job.tally.requests, file.numbers.size());
}

TEST(QueuedTransfer, PassesErrorsOnAndCountsOnlyWhatWasDone) {
  QueuedJob job(Operation::write, 40, 4);
  LazyFile file(4);
  file.fails_at = 10;
  EXPECT_THROW(run(job, file, 40), IoError);
  EXPECT_GE(job.tally.requests, 7U);
  EXPECT_LT(job.tally.requests, 40U);
  EXPECT_EQ(job.tally.bytes, 4 * job.tally.requests);
}

// proves measuring: think, think-excluded, think-included
TEST(QueuedTransfer, SendsARequestBeforeItThinks) {
  QueuedJob job(Operation::write, 10, 4);
  job.work.timing.think_ns = 100'000;
  LazyFile file(4);
  run(job, file, 10);
  EXPECT_EQ(file.sends, 10);
  EXPECT_GE(job.timer.to_ns(job.tally.compute_ticks), 1'000'000U);
}

}  // namespace
}  // namespace strider
