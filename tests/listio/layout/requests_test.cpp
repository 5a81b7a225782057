#include "listio/layout/requests.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "foundation/error.hpp"
#include "listio/layout/pieces.hpp"
#include "random_lists.hpp"

namespace strider::listio {
namespace {

std::uint64_t total(std::span<const ByteRun> runs) {
  return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const ByteRun& run) { return sum + run.length; });
}

std::vector<std::uint64_t> bytes_one_by_one(std::span<const ByteRun> runs) {
  std::vector<std::uint64_t> bytes;
  for (const ByteRun& run : runs)
    for (std::uint64_t i = 0; i < run.length; ++i) bytes.push_back(run.offset + i);
  return bytes;
}

void expect_apart(std::span<const ByteRun> runs) {
  for (std::size_t i = 1; i < runs.size(); ++i) ASSERT_NE(runs[i - 1].end(), runs[i].offset) << "are one run";
}

TEST(CheckedBytes, TakesAsManyAsAreAllowedAndNotOneMore) {
  const std::vector<ByteRun> all{{0, 60}, {0, 40}};
  EXPECT_EQ(checked_bytes(all, 100, "list"), 100);
  EXPECT_THROW(checked_bytes(all, 99, "list"), InputError);
  EXPECT_EQ(checked_bytes(std::vector<ByteRun>{{60, 40}}, 100, "list"), 40);
  EXPECT_THROW(checked_bytes(std::vector<ByteRun>{{61, 40}}, 100, "list"), InputError);
}

// proves listio: split
TEST(Split, PutsAtMost128RunsInARequest) {
  std::vector<Extent> pieces;
  for (std::uint64_t i = 0; i < 300; ++i) pieces.push_back({i * 20, i * 30, 10});
  const Requests requests = split(pieces);
  ASSERT_EQ(requests.size(), 3);
  EXPECT_EQ(requests[0].runs.size(), 128);
  EXPECT_EQ(requests[1].runs.size(), 128);
  EXPECT_EQ(requests[2].runs.size(), 44);
  EXPECT_EQ(requests[1].runs[0], (ByteRun{128 * 20, 10}));
  EXPECT_EQ(requests[1].memory[0], (ByteRun{128 * 30, 10}));
}

// proves listio: merged, merged-in-both, request-merges
TEST(Split, CountsRunsOfTheDataFileNotPiecesOfMemory) {
  std::vector<Extent> pieces;  // contiguous on the server, scattered in memory
  for (std::uint64_t i = 0; i < 1000; ++i) pieces.push_back({i * 8, i * 192, 8});
  const Requests requests = split(pieces);
  ASSERT_EQ(requests.size(), 1);
  EXPECT_EQ(requests[0].runs.size(), 1);
  EXPECT_EQ(requests[0].memory.size(), 1000);
  EXPECT_EQ(requests[0].bytes, 8000);
}

TEST(Split, CutsARunWhereTheBytesEnd) {
  const Requests requests = split(std::vector<Extent>{{100, 0, 25}}, {.most_runs = 1, .most_bytes = 10});
  ASSERT_EQ(requests.size(), 3);
  EXPECT_EQ(requests[2].runs[0], (ByteRun{120, 5}));
  EXPECT_EQ(requests[2].memory[0], (ByteRun{20, 5}));
}

TEST(Split, OfNothingIsNoRequest) { EXPECT_EQ(split({}).size(), 0); }

TEST(Split, RefusesLimitsOfNothing) {
  EXPECT_THROW(split({}, {.most_runs = 0}), InputError);
  EXPECT_THROW(split({}, {.most_runs = 1, .most_bytes = 0}), InputError);
}

// proves listio: client-matches, servers-in-parallel, split
TEST(Split, KeepsEveryByteTheOrderAndTheLimits) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    Dice dice(seed);
    const std::uint64_t bytes = dice.roll(0, 300);
    const auto memory = shuffled(dice, random_runs(dice, bytes, dice.roll(1, 40), dice.roll(0, 3)));
    const auto file = random_runs(dice, bytes, dice.roll(1, 40), dice.roll(0, 3));
    const auto pieces = match(memory, file);
    const RequestLimits limits{dice.roll(1, 6), dice.roll(1, 100)};
    const Requests requests = split(pieces, limits);

    std::vector<std::uint64_t> in_file, in_memory;
    for (std::size_t number = 0; number < requests.size(); ++number) {
      const auto request = requests[number];
      ASSERT_TRUE(request.runs.size() <= limits.most_runs && request.bytes <= limits.most_bytes) << "seed " << seed;
      ASSERT_TRUE(request.bytes > 0 && total(request.runs) == request.bytes && total(request.memory) == request.bytes);
      const bool full = request.runs.size() == limits.most_runs || request.bytes == limits.most_bytes;
      ASSERT_TRUE(full || number + 1 == requests.size()) << "seed " << seed << ", request " << number;
      expect_apart(request.runs);
      expect_apart(request.memory);
      for (const std::uint64_t byte : bytes_one_by_one(request.runs)) in_file.push_back(byte);
      for (const std::uint64_t byte : bytes_one_by_one(request.memory)) in_memory.push_back(byte);
    }
    ASSERT_EQ(in_file, bytes_one_by_one(file)) << "seed " << seed;
    ASSERT_EQ(in_memory, bytes_one_by_one(memory)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace strider::listio
