// Collective transfers: several ranks, here threads, none of which may make a call more or less than the others.
#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <mutex>
#include <thread>

#include "operations/queued_transfer.hpp"
#include "operations/recording_file.hpp"
#include "operations/work.hpp"

namespace strider {
namespace {

/// Ranks that agree by meeting; the most severe vote wins.
class Meeting {
 public:
  explicit Meeting(std::ptrdiff_t ranks) : everyone_(ranks) {}
  Agreement::Vote agree(Agreement::Vote mine) {
    {
      const std::lock_guard lock(mutex_);
      most_severe_ = std::max(most_severe_, mine);
    }
    everyone_.arrive_and_wait();
    const Agreement::Vote agreed = most_severe_;
    everyone_.arrive_and_wait();
    {
      const std::lock_guard lock(mutex_);
      most_severe_ = Agreement::Vote::go_on;
    }
    everyone_.arrive_and_wait();
    return agreed;
  }
  void leave() { everyone_.arrive_and_drop(); }

 private:
  std::barrier<> everyone_;
  std::mutex mutex_;
  Agreement::Vote most_severe_ = Agreement::Vote::go_on;
};

/// One rank of a collective transfer.
class Member : public Agreement {
 public:
  Member(Operation operation, std::uint64_t own_requests, Meeting& meeting)
      : job(operation, std::max<std::uint64_t>(own_requests, 1)), requests(own_requests), meeting_(meeting) {}
  Vote agree(Vote mine) override {
    EXPECT_EQ(in_flight(), 0U) << "ranks must be free to leave";
    ++agreements;
    return meeting_.agree(mine);
  }
  void run(std::uint64_t rounds) {
    try {
      stop = transfer(rounds);
    } catch (const IoError&) {
      threw = true;
    }
    EXPECT_EQ(in_flight(), 0U);
    meeting_.leave();
  }
  /// What the calls were, without what they moved.
  Calls kinds() const {
    Calls kinds;
    for (const std::string& call : calls()) kinds.push_back(call.substr(0, call.find(' ')));
    return kinds;
  }
  Job job;
  std::uint64_t requests;
  std::uint64_t deadline_ticks = 0;
  Stop stop = Stop::ended;
  bool threw = false;
  int agreements = 0;

 protected:
  /// One pass; where requests repeat, until the ranks agree to stop.
  template <typename AnyTransfer>
  Stop passes(AnyTransfer& transfer, std::uint64_t rounds) {
    while (true) {
      const Stop found = transfer.run_collective(requests, rounds, deadline_ticks, *this);
      if (!job.work.timing.repeats || found != Stop::finished) return found;
      transfer.rewind();
    }
  }

 private:
  virtual Stop transfer(std::uint64_t rounds) = 0;
  virtual const Calls& calls() const = 0;
  virtual std::size_t in_flight() const = 0;
  Meeting& meeting_;
};

/// With one request at a time.
struct BlockingMember final : Member {
  using Member::Member;
  Stop transfer(std::uint64_t rounds) override {
    Transfer transfer(job.work, file, job.timer, job.tally, job.watch);
    return passes(transfer, rounds);
  }
  const Calls& calls() const override { return file.calls; }
  std::size_t in_flight() const override { return 0; }
  RecordingFile file;
};

/// With requests in flight.
struct QueuedMember final : Member {
  static constexpr std::uint32_t depth = 3;
  static constexpr std::uint64_t slot_bytes = 4;
  QueuedMember(Operation operation, std::uint64_t own_requests, Meeting& meeting)
      : Member(operation, own_requests, meeting) {
    job.memory.resize(depth * slot_bytes);
    job.work.memory = job.memory;
    job.work.depth = depth;
  }
  Stop transfer(std::uint64_t rounds) override {
    QueuedTransfer transfer(job.work, queue, job.timer, job.tally, job.watch);
    return passes(transfer, rounds);
  }
  const Calls& calls() const override { return queue.file.calls; }
  std::size_t in_flight() const override { return queue.in_flight(); }
  RecordingQueue queue;
};

/// Ranks 0, 1, … with as many requests as `shares` says.
template <typename OneMember>
struct Team {
  Team(Operation operation, std::initializer_list<std::uint64_t> shares)
      : meeting(static_cast<std::ptrdiff_t>(shares.size())) {
    for (const std::uint64_t share : shares) {
      members.push_back(std::make_unique<OneMember>(operation, share, meeting));
      rounds = std::max(rounds, share);
    }
  }
  void run() {
    std::vector<std::jthread> threads;
    for (auto& member : members) threads.emplace_back([&] { member->run(rounds); });
  }
  OneMember& rank(std::size_t number) { return *members.at(number); }
  void expect_equal_calls() {
    for (const auto& member : members) {
      EXPECT_EQ(member->kinds(), rank(0).kinds());
      EXPECT_EQ(member->agreements, rank(0).agreements);
    }
  }
  Meeting meeting;
  std::vector<std::unique_ptr<OneMember>> members;
  std::uint64_t rounds = 0;
};
using BlockingTeam = Team<BlockingMember>;
using QueuedTeam = Team<QueuedMember>;

TEST(CollectiveTransfer, RanksWithFewerRequestsTakePartWithoutData) {
  BlockingTeam team(Operation::write, {3, 1, 0});
  team.run();
  EXPECT_EQ(team.rank(0).file.calls, (Calls{"write 0+4", "write 8+4", "write 16+4"}));
  EXPECT_EQ(team.rank(1).file.calls, (Calls{"write 0+4", "write", "write"}));
  EXPECT_EQ(team.rank(2).file.calls, (Calls{"write", "write", "write"}));
  for (const auto& member : team.members) EXPECT_EQ(member->stop, Stop::finished);
  EXPECT_EQ(team.rank(1).job.tally.requests, 1U);
}

TEST(CollectiveTransfer, EmptyCallsAreThoseOfTheOperation) {
  BlockingTeam team(Operation::read_modify_write, {2, 1});
  for (auto& member : team.members) member->job.work.sync = SyncPolicy::each;
  team.run();
  EXPECT_EQ(team.rank(0).kinds(), (Calls{"read", "write", "sync", "read", "write", "sync"}));
  team.expect_equal_calls();
}

TEST(CollectiveTransfer, AnErrorOfOneRankEndsAllAfterEqualCalls) {
  for (const Operation operation : {Operation::write, Operation::read, Operation::read_modify_write})
    for (std::size_t fails_at = 0; fails_at < 6; ++fails_at) {
      SCOPED_TRACE(std::string(name_of(operation)) + ", call " + std::to_string(fails_at) + " fails");
      BlockingTeam team(operation, {1000, 1000, 500});
      for (auto& member : team.members) member->job.work.sync = SyncPolicy::each;
      team.rank(1).file.fails_at = fails_at;
      team.run();
      EXPECT_TRUE(team.rank(1).threw);
      EXPECT_EQ(team.rank(0).stop, Stop::ended);
      EXPECT_EQ(team.rank(2).stop, Stop::ended);
      EXPECT_LT(team.rank(0).job.tally.requests, 1000U) << "the others do not go on to the end";
      team.expect_equal_calls();
    }
}

TEST(CollectiveTransfer, AnErrorInTheLastRoundsIsThrownToo) {
  BlockingTeam team(Operation::write, {3, 3});
  team.rank(0).file.fails_at = 2;
  team.run();
  EXPECT_TRUE(team.rank(0).threw);
  team.expect_equal_calls();
}

TEST(CollectiveTransfer, TheWatchOfOneRankEndsAll) {
  BlockingTeam team(Operation::write, {1000, 1000});
  team.rank(1).job.watch.allowed = 1;
  team.run();
  for (const auto& member : team.members) EXPECT_EQ(member->stop, Stop::ended);
  EXPECT_LT(team.rank(0).job.tally.requests, 1000U);
  team.expect_equal_calls();
}

// proves measuring: collective-deadline, collective-agreement, runtime-collective-end
TEST(CollectiveTransfer, StopsAtTheDeadlineOfOneRankAndGoesOnTogether) {
  BlockingTeam team(Operation::write, {1000, 1000});
  team.rank(0).deadline_ticks = long_ago;
  team.run();
  for (const auto& member : team.members) EXPECT_EQ(member->stop, Stop::deadline);
  team.expect_equal_calls();
}

/// Of three rounds, the error of the last one is known to the others at the start of the next pass.
template <typename AnyTeam>
void expect_an_equal_end_of_passes(AnyTeam& team) {
  for (auto& member : team.members) member->job.work.timing.repeats = true;
  team.run();
  for (const auto& member : team.members) {
    if (!member->threw) {
      EXPECT_NE(member->stop, Stop::finished);
    }
    EXPECT_EQ(member->job.tally.requests, member->requests) << "the pass is completed";
  }
  team.expect_equal_calls();
}

// proves measuring: runtime-collective
TEST(CollectiveTransfer, AnErrorAtTheEndOfAPassEndsAllBeforeTheNext) {
  BlockingTeam team(Operation::write, {3, 1});
  team.rank(1).file.fails_at = 2;
  expect_an_equal_end_of_passes(team);
  EXPECT_TRUE(team.rank(1).threw);
}

// proves measuring: runtime-collective
TEST(CollectiveTransfer, PassesEndTogetherAfterTheFirstRoundAtLeast) {
  BlockingTeam team(Operation::write, {3, 1});
  team.rank(1).deadline_ticks = long_ago;
  expect_an_equal_end_of_passes(team);
}

// proves measuring: runtime-collective
TEST(QueuedCollectiveTransfer, PassesEndTogetherAfterTheFirstRoundAtLeast) {
  QueuedTeam team(Operation::write, {5, 2});
  team.rank(0).deadline_ticks = long_ago;
  expect_an_equal_end_of_passes(team);
}

TEST(QueuedCollectiveTransfer, AnErrorAtTheEndOfAPassEndsAllBeforeTheNext) {
  QueuedTeam team(Operation::write, {5, 2});
  team.rank(1).queue.file.fails_at = 4;
  expect_an_equal_end_of_passes(team);
  EXPECT_TRUE(team.rank(1).threw);
}

TEST(QueuedCollectiveTransfer, RanksWithFewerRequestsTakePartWithoutData) {
  QueuedTeam team(Operation::write, {5, 2, 0});
  team.run();
  EXPECT_EQ(team.rank(0).queue.file.calls.size(), 5U);
  EXPECT_EQ(team.rank(1).queue.file.calls, (Calls{"write 0+4", "write 8+4", "write", "write", "write"}));
  EXPECT_EQ(team.rank(1).job.tally.requests, 2U);
  EXPECT_EQ(team.rank(2).job.tally.requests, 0U);
  for (const auto& member : team.members) EXPECT_EQ(member->stop, Stop::finished);
  team.expect_equal_calls();
}

TEST(QueuedCollectiveTransfer, AnErrorOfOneRankEndsAllAfterEqualCalls) {
  for (std::size_t fails_at = 0; fails_at < 8; ++fails_at) {
    SCOPED_TRACE("call " + std::to_string(fails_at) + " fails");
    QueuedTeam team(Operation::write, {1000, 1000, 500});
    team.rank(1).queue.file.fails_at = fails_at;
    team.run();
    EXPECT_TRUE(team.rank(1).threw);
    EXPECT_EQ(team.rank(0).stop, Stop::ended);
    EXPECT_LT(team.rank(0).job.tally.requests, 1000U) << "the others do not go on to the end";
    team.expect_equal_calls();
  }
}

TEST(QueuedCollectiveTransfer, WhatFailsInFlightEndsAllAfterEqualCalls) {
  QueuedTeam team(Operation::read, {1000, 1000});
  team.rank(0).queue.fails_to_complete = true;
  team.run();
  EXPECT_TRUE(team.rank(0).threw);
  EXPECT_EQ(team.rank(1).stop, Stop::ended);
  team.expect_equal_calls();
}

// proves measuring: collective-deadline, collective-agreement
TEST(QueuedCollectiveTransfer, StopsAtTheDeadlineOfOneRankTogether) {
  QueuedTeam team(Operation::write, {1000, 1000});
  team.rank(0).deadline_ticks = long_ago;
  team.run();
  for (const auto& member : team.members) EXPECT_EQ(member->stop, Stop::deadline);
  team.expect_equal_calls();
}

}  // namespace
}  // namespace strider
