#include "listio/layout/range_set.hpp"

#include <gtest/gtest.h>

#include <bitset>

#include "random_lists.hpp"

namespace strider::listio {
namespace {

constexpr std::size_t file_bytes = 64;
using Bytes = std::bitset<file_bytes>;

/// The same set, byte by byte.
Bytes bytes_of(std::span<const ByteRun> runs) {
  Bytes bytes;
  for (const ByteRun& run : runs)
    for (std::uint64_t i = run.offset; i < run.end(); ++i) bytes.set(i);
  return bytes;
}

std::vector<ByteRun> some_runs(Dice& dice) {
  std::vector<ByteRun> runs;
  for (std::uint64_t i = dice.roll(0, 6); i > 0; --i) {
    const std::uint64_t offset = dice.roll(0, file_bytes - 1);
    runs.push_back({offset, dice.roll(0, std::min<std::uint64_t>(12, file_bytes - offset))});
  }
  return runs;
}

void expect_in_order(const RangeSet& set) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    EXPECT_GT(set.runs()[i].length, 0U);
    if (i > 0) {
      EXPECT_GT(set.runs()[i].offset, set.runs()[i - 1].end());
    }
  }
}

TEST(RangeSetTest, IsTheSetOfBytesOfAnyList) {
  Dice dice(1);
  for (int i = 0; i < 2000; ++i) {
    const auto runs = some_runs(dice), others = some_runs(dice);
    RangeSet set(runs), sum(runs), difference(runs);
    const RangeSet other(others);
    sum.add(other);
    difference.remove(other);
    for (const RangeSet* each : {&set, &sum, &difference}) expect_in_order(*each);
    EXPECT_EQ(bytes_of(set.runs()), bytes_of(runs));
    EXPECT_EQ(bytes_of(sum.runs()), bytes_of(runs) | bytes_of(others));
    EXPECT_EQ(bytes_of(difference.runs()), bytes_of(runs) & ~bytes_of(others));
  }
}

TEST(RangeSetTest, FindsTheFirstBytesInBoth) {
  Dice dice(2);
  for (int i = 0; i < 2000; ++i) {
    const auto runs = some_runs(dice), others = some_runs(dice);
    const auto common = RangeSet(runs).overlap(RangeSet(others));
    const Bytes both = bytes_of(runs) & bytes_of(others);
    ASSERT_EQ(common.has_value(), both.any());
    if (!common) continue;
    EXPECT_EQ(common->offset, static_cast<std::uint64_t>(both._Find_first()));
    EXPECT_EQ(bytes_of(std::span(&*common, 1)) & ~both, Bytes());
  }
}

TEST(RangeSetTest, ClosesTheSmallestGaps) {
  const std::vector<ByteRun> runs{{0, 1}, {3, 1}, {10, 1}, {13, 1}, {100, 1}, {103, 1}};  // gaps of 2, 6, 2, 86, 2
  RangeSet set(runs);
  set.coarsen(6);
  EXPECT_EQ(set, RangeSet(runs));
  set.coarsen(4);
  EXPECT_EQ(set, RangeSet(std::vector<ByteRun>{{0, 4}, {10, 4}, {100, 1}, {103, 1}}));
  set.coarsen(2);
  EXPECT_EQ(set, RangeSet(std::vector<ByteRun>{{0, 14}, {100, 4}}));
  set.coarsen(1);
  EXPECT_EQ(set, RangeSet(std::vector<ByteRun>{set.hull()}));
  EXPECT_EQ(set.hull(), (ByteRun{0, 104}));
}

TEST(RangeSetTest, HoldsTheLastByteOfTheLargestFile) {
  RangeSet set(std::vector<ByteRun>{{0, most_file_bytes}});
  set.remove(RangeSet(std::vector<ByteRun>{{10, most_file_bytes - 10}}));
  EXPECT_EQ(set, RangeSet(std::vector<ByteRun>{{0, 10}}));
}

}  // namespace
}  // namespace strider::listio
