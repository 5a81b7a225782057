#include "listio/server/lock_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "random_lists.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
using Answer = LockTable::Answer;
constexpr auto shared = LockKind::shared, exclusive = LockKind::exclusive, none = LockKind::none;
constexpr FileId locked_file = 5;
constexpr ByteRun everything{0, most_file_bytes};

/// A table in a time of its own. The name of a session is "client N"; request numbers are those of the calls, from 1.
class LockTableTest : public testing::Test {
 protected:
  Answer ask(Peer session, LockKind kind, const std::vector<ByteRun>& ranges, milliseconds patience = milliseconds(100),
             std::uint64_t owner = 1) {
    return table.ask({{session, owner, "client " + std::to_string(session)}, locked_file, kind, RangeSet(ranges)},
                     ++requests, now + patience);
  }
  /// The sessions whose waits have ended, with "!" if without the lock, since this was last asked.
  std::vector<std::string> decided() {
    std::vector<std::string> all;
    for (const auto& each : table.take_decisions())
      all.push_back(std::to_string(each.session) + (each.conflict ? "!" : ""));
    return all;
  }
  void pass(milliseconds time) {
    now += time;
    table.advance(now);
  }

  LockTable table{LockTable::Limits{.most_ranges = 12, .most_ranges_of_session = 8}};
  Deadline now = Deadline() + milliseconds(1000);
  std::uint64_t requests = 0;
};

using HolderNames = std::vector<std::string>;

TEST_F(LockTableTest, SharedLocksExcludeExclusiveOnesOnTheSameBytes) {
  EXPECT_EQ(ask(1, shared, {{0, 10}}), Answer::granted);
  EXPECT_EQ(ask(2, shared, {{5, 10}}), Answer::granted);
  EXPECT_EQ(ask(3, exclusive, {{15, 10}}), Answer::granted) << "the byte after the last";
  EXPECT_EQ(ask(4, exclusive, {{14, 1}}), Answer::waits);
  EXPECT_EQ(ask(2, none, {everything}), Answer::granted);
  EXPECT_EQ(decided(), HolderNames{"4"});
  EXPECT_EQ(ask(5, shared, {{14, 1}}), Answer::waits);
}

TEST_F(LockTableTest, OtherFilesDoNotMatter) {
  EXPECT_EQ(ask(1, exclusive, {everything}), Answer::granted);
  EXPECT_EQ(table.ask({{2, 1, ""}, locked_file + 1, exclusive, RangeSet(std::vector<ByteRun>{everything})}, 9, now),
            Answer::granted);
}

// proves listio: list-lock-whole
TEST_F(LockTableTest, AListIsLockedAllAtOnce) {
  ask(1, exclusive, {{0, 10}});
  EXPECT_EQ(ask(2, exclusive, {{100, 10}, {5, 1}}), Answer::waits);
  EXPECT_EQ(ask(1, none, {everything}), Answer::granted);
  EXPECT_EQ(decided(), HolderNames{"2"});
  EXPECT_EQ(ask(3, shared, {{105, 1}}), Answer::waits) << "both ranges are locked now";
  EXPECT_EQ(ask(3, shared, {{5, 1}}), Answer::waits);
}

// proves listio: lock-order, shared-no-starving
TEST_F(LockTableTest, ThoseWhoWaitAreServedInTurn) {
  ask(1, shared, {{0, 10}});
  EXPECT_EQ(ask(2, exclusive, {{0, 10}, {20, 10}}), Answer::waits);
  EXPECT_EQ(ask(3, shared, {{0, 10}}), Answer::waits) << "else shared locks could starve the exclusive one";
  EXPECT_EQ(ask(4, exclusive, {{25, 1}}), Answer::waits) << "free, but others have waited longer for it";
  EXPECT_EQ(ask(5, exclusive, {{40, 1}}), Answer::granted);
  EXPECT_EQ(ask(1, none, {everything}), Answer::granted);
  EXPECT_EQ(decided(), HolderNames{"2"});
  EXPECT_EQ(ask(2, none, {everything}), Answer::granted);
  EXPECT_EQ(decided(), (HolderNames{"3", "4"}));
}

TEST_F(LockTableTest, WaitsEndAtTheirDeadlineAndNameTheHolder) {
  ask(1, exclusive, {{10, 10}});
  EXPECT_EQ(table.next(), std::nullopt);
  ask(2, shared, {{0, 12}}, milliseconds(50));
  ask(3, exclusive, {{0, 5}}, milliseconds(80));
  EXPECT_EQ(table.next(), now + milliseconds(50));
  pass(milliseconds(49));
  EXPECT_EQ(decided(), HolderNames{});
  pass(milliseconds(1));
  const auto decisions = table.take_decisions();
  ASSERT_EQ(decisions.size(), 2U);
  EXPECT_EQ(decisions[0].session, 2U);
  EXPECT_EQ(decisions[0].request, 2U);
  ASSERT_TRUE(decisions[0].conflict.has_value());
  EXPECT_EQ(decisions[0].conflict->owner.name, "client 1");
  EXPECT_EQ(decisions[0].conflict->claim, LockTable::Claim::held);
  EXPECT_EQ(decisions[0].conflict->kind, exclusive);
  EXPECT_EQ(decisions[0].conflict->range, (ByteRun{10, 2}));
  EXPECT_EQ(decisions[1].session, 3U) << "which had waited for client 2 alone";
  EXPECT_FALSE(decisions[1].conflict.has_value());
  EXPECT_EQ(table.next(), std::nullopt);
}

TEST_F(LockTableTest, WhoWaitsBehindAnotherIsToldSo) {
  ask(1, shared, {{0, 10}});
  ask(2, exclusive, {{0, 10}}, milliseconds(50));
  ask(3, shared, {{0, 10}}, milliseconds(10));
  pass(milliseconds(10));
  const auto decisions = table.take_decisions();
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_EQ(decisions[0].conflict->owner.name, "client 2");
  EXPECT_EQ(decisions[0].conflict->claim, LockTable::Claim::awaited);
}

TEST_F(LockTableTest, ALaterLockOfAnOwnerReplacesItsEarlierOnes) {
  ask(1, exclusive, {{0, 30}});
  EXPECT_EQ(ask(1, shared, {{10, 10}}), Answer::granted);
  EXPECT_EQ(ask(2, shared, {{10, 10}}), Answer::granted);
  EXPECT_EQ(ask(3, shared, {{9, 1}}), Answer::waits);
  EXPECT_EQ(ask(1, none, {{0, 10}}), Answer::granted) << "a part";
  EXPECT_EQ(decided(), HolderNames{"3"});
  EXPECT_EQ(ask(4, shared, {{29, 1}}), Answer::waits);
}

TEST_F(LockTableTest, OwnersOfOneSessionExcludeEachOther) {
  ask(1, exclusive, {{0, 10}}, milliseconds(100), 1);
  EXPECT_EQ(ask(1, exclusive, {{0, 10}}, milliseconds(100), 2), Answer::waits);
  EXPECT_EQ(ask(1, none, {everything}, milliseconds(100), 1), Answer::granted);
  EXPECT_EQ(decided(), HolderNames{"1"});
}

TEST_F(LockTableTest, WhoHoldsALockNeedNotWaitForThoseThatWaitForIt) {
  ask(1, exclusive, {{0, 10}});
  EXPECT_EQ(ask(2, exclusive, {{0, 20}}), Answer::waits);
  EXPECT_EQ(ask(1, exclusive, {{10, 10}}), Answer::granted) << "else both would wait for each other";
}

// proves listio: locks-end
TEST_F(LockTableTest, TheEndOfASessionFreesItsLocksExclusiveOnesALittleLater) {
  ask(1, exclusive, {{0, 10}});
  ask(1, shared, {{20, 10}});
  ask(2, exclusive, {{20, 10}}, milliseconds(5000));
  ask(3, exclusive, {{0, 10}}, milliseconds(5000));
  table.end(1, now + milliseconds(1000));
  EXPECT_EQ(decided(), HolderNames{"2"});
  EXPECT_EQ(table.next(), now + milliseconds(1000));
  pass(milliseconds(999));
  EXPECT_EQ(decided(), HolderNames{});
  pass(milliseconds(1));
  EXPECT_EQ(decided(), HolderNames{"3"});
}

TEST_F(LockTableTest, AWaitCanBeGivenUp) {
  ask(1, shared, {{0, 10}});
  ask(2, exclusive, {{0, 10}});  // request 2
  ask(3, shared, {{0, 10}});
  EXPECT_FALSE(table.cancel(locked_file, 3, 2)) << "it is not theirs";
  EXPECT_FALSE(table.cancel(locked_file + 1, 2, 2));
  EXPECT_TRUE(table.cancel(locked_file, 2, 2));
  EXPECT_EQ(decided(), HolderNames{"3"});
  EXPECT_FALSE(table.cancel(locked_file, 2, 2));
  EXPECT_FALSE(table.cancel(locked_file, 1, 1)) << "what was granted stays";
  EXPECT_EQ(ask(2, exclusive, {{5, 1}}), Answer::waits);
}

TEST_F(LockTableTest, FindsTheLockThatExcludesAnother) {
  ask(1, shared, {{0, 10}});
  ask(2, exclusive, {{0, 20}});  // waits
  const auto lock = [](Peer session, LockKind kind, const ByteRun& range) {
    return LockTable::Lock{{session, 1, ""}, locked_file, kind, RangeSet(std::vector<ByteRun>{range})};
  };
  const auto found = table.find(lock(3, exclusive, {5, 100}));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->owner.session, 1U);
  EXPECT_EQ(found->kind, shared);
  EXPECT_EQ(found->range, (ByteRun{5, 5}));
  EXPECT_FALSE(table.find(lock(3, shared, {5, 100})).has_value());
  EXPECT_FALSE(table.find(lock(3, exclusive, {10, 100})).has_value()) << "those that wait hold nothing";
  EXPECT_FALSE(table.find(lock(1, exclusive, {0, 10})).has_value()) << "its own";
}

TEST_F(LockTableTest, TheEndOfASessionEndsItsWaits) {
  ask(1, shared, {{0, 10}});
  ask(2, exclusive, {{0, 10}});
  ask(3, shared, {{0, 10}});
  table.end(2, now);
  EXPECT_EQ(decided(), HolderNames{"3"});
  table.end(1, now);
  table.end(3, now);
  EXPECT_EQ(table.ranges(), 0U);
  EXPECT_EQ(table.waiting(), 0U);
}

// proves listio: lock-limits
TEST_F(LockTableTest, IsBoundedForEachSessionAndForAll) {
  const std::vector<ByteRun> eight{{0, 1}, {2, 1}, {4, 1}, {6, 1}, {8, 1}, {10, 1}, {12, 1}, {14, 1}};
  EXPECT_EQ(ask(1, shared, eight), Answer::granted);
  EXPECT_EQ(ask(1, shared, {{20, 1}}), Answer::full) << "of one session";
  EXPECT_EQ(ask(2, exclusive, {{0, 1}, {2, 1}, {4, 1}}), Answer::waits);
  EXPECT_EQ(ask(3, shared, {{20, 1}, {22, 1}}), Answer::full) << "of all";
  EXPECT_EQ(ask(1, none, {everything}), Answer::granted) << "a full table can be emptied";
  EXPECT_EQ(table.ranges(), 3U);
}

/// A table of bytes: the lock of each owner on each byte, and all requests in the order in which they came.
class LockModel {
 public:
  struct Lock {
    std::uint64_t request;
    Peer owner;
    LockKind kind;
    std::set<std::uint64_t> bytes;
  };
  /// Requests that are granted because of it.
  std::vector<std::uint64_t> ask(const Lock& lock) {
    if (lock.kind == LockKind::none) take(lock);
    else waiting_.push_back(lock);
    return settle();
  }
  void expect_no_conflicts() const {
    for (const auto& [byte, owners] : held_)
      for (const auto& [owner, kind] : owners)
        EXPECT_TRUE(owners.size() == 1 || kind == LockKind::shared) << "byte " << byte;
  }
  bool holds(Peer owner) const {
    return std::ranges::any_of(held_, [&](const auto& each) { return each.second.contains(owner); });
  }
  std::vector<std::uint64_t> end(Peer owner) {
    std::erase_if(waiting_, [owner](const Lock& each) { return each.owner == owner; });
    for (auto& [byte, owners] : held_)
      if (owners.contains(owner) && owners[owner] == LockKind::shared) owners.erase(owner);
    std::vector<std::uint64_t> granted = settle();
    for (auto& [byte, owners] : held_) owners.erase(owner);
    const std::vector<std::uint64_t> more = settle();
    granted.insert(granted.end(), more.begin(), more.end());
    return granted;
  }

 private:
  void take(const Lock& lock) {
    for (const std::uint64_t byte : lock.bytes) {
      held_[byte].erase(lock.owner);
      if (lock.kind != LockKind::none) held_[byte][lock.owner] = lock.kind;
    }
  }
  static bool exclude(LockKind a, LockKind b) { return a == LockKind::exclusive || b == LockKind::exclusive; }
  bool is_free(std::size_t which) const {
    const Lock& lock = waiting_[which];
    for (const std::uint64_t byte : lock.bytes) {
      if (const auto owners = held_.find(byte); owners != held_.end())
        for (const auto& [owner, kind] : owners->second)
          if (owner != lock.owner && exclude(kind, lock.kind)) return false;
      if (holds(lock.owner)) continue;
      for (std::size_t i = 0; i < which; ++i)
        if (waiting_[i].owner != lock.owner && waiting_[i].bytes.contains(byte) && exclude(waiting_[i].kind, lock.kind))
          return false;
    }
    return true;
  }
  std::vector<std::uint64_t> settle() {
    std::vector<std::uint64_t> granted;
    for (std::size_t i = 0; i < waiting_.size();) {
      if (!is_free(i)) {
        ++i;
        continue;
      }
      const Lock lock = waiting_[i];
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      take(lock);
      granted.push_back(lock.request);
      i = 0;
    }
    return granted;
  }
  std::map<std::uint64_t, std::map<Peer, LockKind>> held_;
  std::vector<Lock> waiting_;
};

TEST(LockTableModelTest, DecidesAsATableOfBytesDoes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Dice dice(seed);
    LockTable table({});
    LockModel model;
    const Deadline never = Deadline::max(), now = Deadline();
    for (std::uint64_t request = 1; request <= 300; ++request) {
      const Peer owner = static_cast<Peer>(dice.roll(1, 6));
      if (dice.one_in(20)) {
        table.end(owner, now);
        table.advance(now);
        std::vector<std::uint64_t> granted;
        for (const auto& each : table.take_decisions()) granted.push_back(each.request);
        std::ranges::sort(granted);
        auto expected = model.end(owner);
        std::ranges::sort(expected);
        ASSERT_EQ(granted, expected) << "seed " << seed << ", end of " << owner;
        continue;
      }
      const auto kind = static_cast<LockKind>(dice.roll(0, 2));
      std::vector<ByteRun> runs;
      std::set<std::uint64_t> bytes;
      for (std::uint64_t i = dice.roll(1, 3); i > 0; --i) {
        const ByteRun run{dice.roll(0, 30), dice.roll(1, 6)};
        runs.push_back(run);
        for (std::uint64_t byte = run.offset; byte < run.end(); ++byte) bytes.insert(byte);
      }
      std::vector<std::uint64_t> granted;
      const Answer answer = table.ask({{owner, 1, ""}, locked_file, kind, RangeSet(runs)}, request, never);
      if (answer == Answer::granted && kind != LockKind::none) granted.push_back(request);
      for (const auto& each : table.take_decisions()) granted.push_back(each.request);
      std::ranges::sort(granted);
      auto expected = model.ask({request, owner, kind, bytes});
      std::ranges::sort(expected);
      ASSERT_EQ(granted, expected) << "seed " << seed << ", request " << request;
      model.expect_no_conflicts();
    }
  }
}

}  // namespace
}  // namespace strider::listio
