#include "operations/transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "operations/recording_file.hpp"
#include "operations/work.hpp"

namespace strider {
namespace {

/// Makes every call last longer than the watch is left alone.
void doze() { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }

struct TransferTest : testing::Test {
  Calls run(Job& job, std::uint64_t last, std::uint64_t deadline_ticks = 0) {
    Transfer transfer(job.work, file, job.timer, job.tally, job.watch);
    stop = transfer.run(last, deadline_ticks);
    return file.calls;
  }
  RecordingFile file;
  Stop stop = Stop::ended;
};

TEST_F(TransferTest, IssuesItsRequestsForward) {
  Job job(Operation::write);
  EXPECT_EQ(run(job, 3), (Calls{"write 0+4", "write 8+4", "write 16+4"}));
  EXPECT_EQ(stop, Stop::finished);
}

TEST_F(TransferTest, IssuesItsRequestsBackward) {
  Job job(Operation::read, 3, OrderKind::backward);
  EXPECT_EQ(run(job, 3), (Calls{"read 16+4", "read 8+4", "read 0+4"}));
}

TEST_F(TransferTest, IssuesItsRequestsInRandomOrderEachOnce) {
  Job job(Operation::write, 200, OrderKind::random);
  const Calls random = run(job, 200);
  EXPECT_EQ(std::set<std::string>(random.begin(), random.end()).size(), 200U);
  file.calls.clear();
  Job forward(Operation::write, 200);
  EXPECT_NE(random, run(forward, 200));
}

TEST_F(TransferTest, BeginsAgainWithItsFirstRequestWhereAsked) {
  Job job(Operation::write, 2, OrderKind::backward);
  Transfer transfer(job.work, file, job.timer, job.tally, job.watch);
  EXPECT_EQ(transfer.run(2, 0), Stop::finished);
  transfer.rewind();
  EXPECT_EQ(transfer.run(2, 0), Stop::finished);
  EXPECT_EQ(file.calls, (Calls{"write 8+4", "write 0+4", "write 8+4", "write 0+4"}));
}

TEST_F(TransferTest, ExpectsTheDataOfThePassThatCameLastToEachRequest) {
  const FileData first({1, 2, 3, 4}), second({1, 2, 3, 4, 1});
  first.fill(std::span(file.content).first(24), 0);
  second.fill(std::span(file.content).subspan(0, 4), 0);
  Job job(Operation::read);
  Examiner examiner({1, 2, 3, 4}, 1, 24);
  job.work.expected.examiner = &examiner;
  job.work.expected.left = {.per_pass = 3, .requests = 4};
  run(job, 3);
  EXPECT_EQ(examiner.mismatches(), 0U);
  second.fill(std::span(file.content).subspan(8, 4), 8);
  run(job, 3);
  ASSERT_EQ(examiner.mismatches(), 1U);
  EXPECT_EQ(examiner.first_mismatches()[0].file_offset, 8U);
}

// proves measuring: ramp
TEST_F(TransferTest, RequestsOfTheRampAreNotCounted) {
  Job job(Operation::write);
  job.work.timing.ramp_ticks = ~std::uint64_t{0};
  Transfer transfer(job.work, file, job.timer, job.tally, job.watch);
  transfer.run(2, 0);
  job.work.timing.ramp_ticks = long_ago;
  transfer.run(3, 0);
  EXPECT_EQ(job.tally.requests, 1U);
  EXPECT_EQ(job.tally.bytes, 4U);
  EXPECT_EQ(job.tally.latency_ns.count(), 1U);
  EXPECT_EQ(job.tally.ramp.requests, 2U);
  EXPECT_EQ(job.tally.ramp.bytes, 8U);
  EXPECT_EQ(job.tally.all_requests(), 3U);
}

TEST_F(TransferTest, WithoutRequestsNothingIsCalled) {
  Job job(Operation::write);
  EXPECT_EQ(run(job, 0), Calls{});
  EXPECT_EQ(stop, Stop::finished);
}

TEST_F(TransferTest, SyncsAfterEachRequestWhereThatIsWanted) {
  Job job(Operation::rewrite, 2);
  job.work.sync = SyncPolicy::each;
  EXPECT_EQ(run(job, 2), (Calls{"write 0+4", "sync", "write 8+4", "sync"}));
}

TEST_F(TransferTest, LeavesTheSyncAtTheEndToThePhase) {
  for (const SyncPolicy sync : {SyncPolicy::end, SyncPolicy::none}) {
    Job job(Operation::write, 1);
    job.work.sync = sync;
    file.calls.clear();
    EXPECT_EQ(run(job, 1), (Calls{"write 0+4"}));
  }
}

TEST_F(TransferTest, NeverSyncsWhatItReads) {
  Job job(Operation::reread, 1);
  job.work.sync = SyncPolicy::each;
  EXPECT_EQ(run(job, 1), (Calls{"read 0+4"}));
}

TEST_F(TransferTest, ReadModifyWriteWritesBackEachRequestBeforeTheNext) {
  Job job(Operation::read_modify_write, 2);
  job.work.sync = SyncPolicy::each;
  EXPECT_EQ(run(job, 2), (Calls{"read 0+4", "write 0+4", "sync", "read 8+4", "write 8+4", "sync"}));
}

TEST_F(TransferTest, ReadModifyWriteChangesWhatItRead) {
  Job job(Operation::read_modify_write, 2);
  const std::vector<std::byte> before = file.content;
  run(job, 2);
  EXPECT_NE(file.content, before);
}

TEST_F(TransferTest, WritesDataThatIdentifiesItselfAndFindsItAgain) {
  const FileData data({1, 2, 3, 4});
  Job writing(Operation::write);
  writing.work.written = &data;
  run(writing, 3);
  for (const std::uint64_t offset : {0U, 8U, 16U})
    EXPECT_EQ(data.first_mismatch(std::span(file.content).subspan(offset, 4), offset), std::nullopt);

  file.content[9] ^= std::byte{1};
  Examiner examiner({1, 2, 3, 4}, 1, 24);
  Job reading(Operation::read);
  reading.work.expected.examiner = &examiner;
  run(reading, 3);
  EXPECT_EQ(examiner.checked_bytes(), 12U);
  ASSERT_EQ(examiner.mismatches(), 1U);
  EXPECT_EQ(examiner.first_mismatches()[0].file_offset, 9U);
  EXPECT_GT(writing.tally.prepare_ticks, 0U);
  EXPECT_GT(reading.tally.prepare_ticks, 0U);
}

// proves measuring: ends-detected, middle-missed
TEST_F(TransferTest, AReadThatBringsNothingIsFoundThoughTheMemoryHeldTheRightData) {
  const FileData data({1, 2, 3, 4});
  Job job(Operation::read);
  data.fill(job.work.memory.first(4), 0);
  Examiner examiner({1, 2, 3, 4}, 1, 24);
  job.work.expected.examiner = &examiner;
  file.reads_nothing = true;
  run(job, 1);
  EXPECT_EQ(examiner.mismatches(), 1U);
}

/// Whatever was in memory before: what was read, or what was written.
// proves measuring: poisoned-ends
TEST_F(TransferTest, WhatAReadLeavesOutIsFoundThoughTheMemoryHeldTheRightData) {
  for (const Operation operation : {Operation::read, Operation::read_modify_write}) {
    const FileData data({1, 2, 3, 4}), newer({1, 2, 3, 5});
    data.fill(std::span(file.content).first(24), 0);
    Job job(operation, 1);
    Examiner examiner({1, 2, 3, 4}, 1, 24);
    job.work.expected.examiner = &examiner;
    job.work.written = &newer;
    file.reads_edges = false;
    spoil(job.work.memory);
    run(job, 1);
    EXPECT_EQ(examiner.mismatches(), 0U);

    Examiner again = operation == Operation::read ? examiner : Examiner({1, 2, 3, 5}, 1, 24);
    job.work.expected.examiner = &again;
    file.reads_edges = true;
    run(job, 1);
    EXPECT_EQ(again.wrong_bytes(), 2U);
  }
}

TEST_F(TransferTest, RecordsTheValuesOfWhatItReads) {
  Job job(Operation::read, 3, OrderKind::backward);
  for (std::size_t i = 0; i < 24; ++i) file.content[i] = static_cast<std::byte>(i);
  ValueRecorder values(2);
  job.work.values = &values;
  run(job, 3);
  const auto whole = [](std::uint64_t offset, std::uint32_t word) {
    return RequestValues{offset, 4, word, word, word};
  };
  EXPECT_EQ(values.read(), (std::vector<RequestValues>{whole(16, 0x13121110), whole(8, 0x0b0a0908)}));
}

TEST_F(TransferTest, AReadThatBringsNothingHasNoneOfTheValuesBeforeIt) {
  Job job(Operation::read);
  for (std::size_t i = 0; i < 24; ++i) file.content[i] = static_cast<std::byte>(i);
  job.memory = std::vector<std::byte>(file.content.begin(), file.content.begin() + 4);
  job.work.memory = job.memory;
  file.reads_nothing = true;
  ValueRecorder values(1);
  job.work.values = &values;
  run(job, 1);
  ASSERT_EQ(values.read().size(), 1U);
  EXPECT_NE(values.read()[0].first, 0x03020100U);
}

TEST_F(TransferTest, ReadModifyWriteChecksTheOldGenerationAndWritesTheNew) {
  const FileData older({1, 2, 3, 4}), newer({1, 2, 3, 5});
  older.fill(std::span(file.content).first(24), 0);
  Examiner examiner({1, 2, 3, 4}, 1, 24);
  Job job(Operation::read_modify_write);
  job.work.expected.examiner = &examiner;
  job.work.written = &newer;
  run(job, 3);
  EXPECT_EQ(examiner.mismatches(), 0U);
  EXPECT_EQ(examiner.checked_bytes(), 12U);
  EXPECT_EQ(newer.first_mismatch(std::span(file.content).subspan(8, 4), 8), std::nullopt);
}

// proves measuring: read-modify-write
TEST_F(TransferTest, TalliesRequestsBytesAndLatencies) {
  Job job(Operation::read_modify_write, 5);
  run(job, 5);
  EXPECT_EQ(job.tally.requests, 5U) << "read and write of a request count as one";
  EXPECT_EQ(job.tally.bytes, 20U);
  EXPECT_EQ(job.tally.latency_ns.count(), 5U);
}

// proves measuring: latency, latency-covers, read-modify-write
TEST_F(TransferTest, LatencyIsThatOfTheCallsAndNotOfTheData) {
  file.meanwhile = doze;
  Job job(Operation::read_modify_write, 1);
  job.work.sync = SyncPolicy::each;
  run(job, 1);  // three calls of 3 ms or more
  EXPECT_GE(job.tally.latency_ns.minimum(), 8'900'000U);
}

/// A file whose calls take no time.
struct NoFile final : File {
  void write(const Request&) override {}
  void read(const Request&) override {}
  void sync() override {}
  void close() override {}
  std::uint64_t size() override { return 0; }
};

/// Bounded from above by what the test itself measures: half of what it all takes. Minima of many, since the machine
/// may do something else meanwhile.
// proves measuring: latency, latency-covers, latency-excludes, verify-lowers-rates, verify-not-latency
TEST_F(TransferTest, LatencyIsNotThatOfGeneratingAndExaminingData) {
  constexpr std::uint64_t bytes = 256 << 10;
  const FileData data({1, 2, 3, 4});
  Settings settings;
  settings.set("transfer", bytes);
  settings.set("count", std::uint64_t{1});
  settings.set("seed", std::uint64_t{1});
  std::vector<std::byte> memory(bytes);
  NoFile nothing;
  for (const Operation operation : {Operation::write, Operation::read, Operation::read_modify_write}) {
    std::uint64_t least_latency = ~std::uint64_t{0}, least_elapsed = ~std::uint64_t{0};
    for (int i = 0; i < 20; ++i) {
      Job job(operation, 1);
      job.pattern = find_pattern("strided")->make(settings);
      job.work.pattern = job.pattern.get();
      job.work.memory = memory;
      Examiner examiner({1, 2, 3, 4}, 1, bytes);
      if (reads(operation)) job.work.expected.examiner = &examiner;
      if (writes(operation)) job.work.written = &data;
      Transfer transfer(job.work, nothing, job.timer, job.tally, job.watch);
      const std::uint64_t begin = job.timer.now();
      transfer.run(1, 0);
      least_elapsed = std::min(least_elapsed, job.timer.to_ns(job.timer.now() - begin));
      least_latency = std::min(least_latency, job.tally.latency_ns.minimum());
    }
    EXPECT_LT(least_latency, least_elapsed / 2) << name_of(operation);
  }
}

// proves measuring: deadline, one-request-at-least, runtime-end
TEST_F(TransferTest, StopsAtItsDeadlineAndGoesOnWhereItWas) {
  Job job(Operation::write, 4);
  Transfer transfer(job.work, file, job.timer, job.tally, job.watch);
  EXPECT_EQ(transfer.run(4, long_ago), Stop::deadline);
  EXPECT_EQ(file.calls, (Calls{"write 0+4"})) << "one request at least, so that there is a rate";
  EXPECT_EQ(transfer.run(3, 0), Stop::finished);
  EXPECT_EQ(file.calls, (Calls{"write 0+4", "write 8+4", "write 16+4"}));
  EXPECT_EQ(job.tally.requests, 3U);
}

// proves measuring: deadline, one-request-at-least
TEST_F(TransferTest, StopsAtADeadlineThatComesMeanwhile) {
  file.meanwhile = doze;
  Job job(Operation::write, 1000);
  run(job, 1000, job.timer.now() + job.timer.from_ns(10'000'000));
  EXPECT_EQ(stop, Stop::deadline);
  EXPECT_GE(file.calls.size(), 1U);
  EXPECT_LT(file.calls.size(), 1000U);
}

TEST_F(TransferTest, HasFinishedIfTheDeadlineComesWithTheLastRequest) {
  Job job(Operation::write, 1);
  run(job, 1, long_ago);
  EXPECT_EQ(stop, Stop::finished);
}

// proves measuring: transfer-s
TEST_F(TransferTest, IsWatchedAndEndedByTheWatch) {
  file.meanwhile = doze;
  Job job(Operation::write, 1000);
  job.watch.allowed = 3;
  run(job, 1000);
  EXPECT_EQ(stop, Stop::ended);
  EXPECT_EQ(job.watch.looks, 4);
  EXPECT_GE(file.calls.size(), 4U);
  EXPECT_LT(file.calls.size(), 1000U);
  EXPECT_EQ(job.tally.requests, file.calls.size());
}

TEST_F(TransferTest, PassesErrorsOnAndCountsOnlyWhatWasDone) {
  Job job(Operation::write);
  file.fails_at = 1;
  EXPECT_THROW(run(job, 3), IoError);
  EXPECT_EQ(job.tally.requests, 1U);
  EXPECT_EQ(job.tally.bytes, 4U);
}

}  // namespace
}  // namespace strider
