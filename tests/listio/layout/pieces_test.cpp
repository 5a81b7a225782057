#include "listio/layout/pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "foundation/error.hpp"
#include "random_lists.hpp"

namespace strider::listio {
namespace {

using Offsets = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// File and memory offset of every byte, in order.
Offsets bytes_one_by_one(std::span<const Extent> pieces) {
  Offsets bytes;
  for (const Extent& piece : pieces)
    for (std::uint64_t i = 0; i < piece.length; ++i) bytes.push_back({piece.file_offset + i, piece.memory_offset + i});
  return bytes;
}

/// The expected result of `match`, byte by byte.
Offsets matched_one_by_one(std::span<const ByteRun> memory, std::span<const ByteRun> file) {
  Offsets bytes;
  for (const ByteRun& run : file)
    for (std::uint64_t i = 0; i < run.length; ++i) bytes.push_back({run.offset + i, 0});
  std::size_t next = 0;
  for (const ByteRun& run : memory)
    for (std::uint64_t i = 0; i < run.length; ++i) bytes[next++].second = run.offset + i;
  return bytes;
}

void expect_joined(std::span<const Extent> pieces) {
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const Extent &before = pieces[i - 1], &piece = pieces[i];
    ASSERT_FALSE(before.file_offset + before.length == piece.file_offset &&
                 before.memory_offset + before.length == piece.memory_offset)
        << "pieces " << i - 1 << " and " << i << " are one";
  }
  for (const Extent& piece : pieces) ASSERT_GT(piece.length, 0);
}

struct RandomCase {
  explicit RandomCase(std::uint64_t seed)
      : dice(seed),
        striping(make_striping()),
        bytes(dice.roll(0, 300)),
        memory(shuffled(dice, random_runs(dice, bytes, dice.roll(1, 40), dice.roll(0, 8)))),
        file(random_runs(dice, bytes, dice.roll(1, 40), dice.roll(0, 20))) {
    if (dice.one_in(2)) file = shuffled(dice, file);
  }
  Dice dice;
  Striping striping;
  std::uint64_t bytes;
  std::vector<ByteRun> memory, file;

 private:
  Striping make_striping() {
    const auto servers = static_cast<std::uint32_t>(dice.roll(1, 8));
    return {servers, dice.roll(1, 30), static_cast<std::uint32_t>(dice.roll(0, servers - 1))};
  }
};

constexpr std::uint64_t cases = 3000;

TEST(Match, PairsListsThatAreCutDifferently) {
  const std::vector<ByteRun> memory{{100, 4}, {200, 6}}, file{{0, 5}, {50, 5}};
  EXPECT_EQ(match(memory, file), (std::vector<Extent>{{0, 100, 4}, {4, 200, 1}, {50, 201, 5}}));
}

// proves listio: merged, merged-in-both, request-merges
TEST(Match, JoinsWhatContinuesOnBothSides) {
  const std::vector<ByteRun> memory{{10, 1}, {11, 0}, {11, 3}}, file{{0, 2}, {2, 2}};
  EXPECT_EQ(match(memory, file), (std::vector<Extent>{{0, 10, 4}}));
}

// proves listio: match
TEST(Match, PairsEveryByteInOrder) {
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    const RandomCase c(seed);
    const auto pieces = match(c.memory, c.file);
    ASSERT_EQ(bytes_one_by_one(pieces), matched_one_by_one(c.memory, c.file)) << "seed " << seed;
    ASSERT_LE(pieces.size(), c.memory.size() + c.file.size());
    expect_joined(pieces);
  }
}

TEST(Match, RefusesListsThatDoNotAddUp) {
  const std::vector<ByteRun> ten{{0, 10}}, eleven{{0, 11}};
  EXPECT_THROW(match(ten, eleven), InputError);
  EXPECT_THROW(match(ten, {}), InputError);
}

// proves listio: overflow-checked
TEST(Match, RefusesRunsBeyondTheEndOfAllThings) {
  const std::vector<ByteRun> memory{{0, 2}}, file{{most_file_bytes - 1, 2}};
  EXPECT_THROW(match(memory, file), InputError);
  const std::vector<ByteRun> half{{0, most_file_bytes}};
  EXPECT_THROW(match(memory, std::vector<ByteRun>{half[0], half[0]}), InputError) << "the sum overflows";
  EXPECT_THROW(match(std::vector<ByteRun>{{~std::uint64_t{0}, 2}}, std::vector<ByteRun>{{0, 2}}), InputError);
}

// proves listio: self-overlap, order-kept, last-piece-wins, increasing-offsets, not-sorted
TEST(Distribute, CutsAtStripsAndKeepsOrder) {
  const Striping striping(2, 10);
  const auto lists = distribute(striping, std::vector<Extent>{{5, 0, 20}, {2, 50, 3}});
  EXPECT_EQ(std::vector(lists.of(0).begin(), lists.of(0).end()),
            (std::vector<Extent>{{5, 0, 5}, {10, 15, 5}, {2, 50, 3}}));
  EXPECT_EQ(std::vector(lists.of(1).begin(), lists.of(1).end()), (std::vector<Extent>{{0, 5, 10}}));
}

TEST(Distribute, ASingleServerHasThePiecesAsTheyAre) {
  const std::vector<Extent> pieces{{0, 7, 1'000'000'000'000}};
  const auto lists = distribute(Striping(1, 1), pieces);
  EXPECT_EQ(std::vector(lists.of(0).begin(), lists.of(0).end()), pieces);
}

// proves listio: distribute
TEST(Distribute, EveryByteIsOnceOnItsServerInOrder) {
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    const RandomCase c(seed);
    const auto pieces = match(c.memory, c.file);
    const auto lists = distribute(c.striping, pieces);
    std::vector<Offsets> wanted(c.striping.servers());
    for (const auto& [file_offset, memory_offset] : bytes_one_by_one(pieces)) {
      const Location place = c.striping.locate(file_offset);
      wanted[place.server].push_back({place.offset, memory_offset});
    }
    for (std::uint32_t server = 0; server < lists.servers(); ++server) {
      ASSERT_EQ(bytes_one_by_one(lists.of(server)), wanted[server]) << "seed " << seed << ", server " << server;
      expect_joined(lists.of(server));
    }
  }
}

// proves listio: self-overlap, order-kept, last-piece-wins, increasing-offsets
TEST(Distribute, IncreasingListsGiveIncreasingOnesOnEveryServer) {
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCase c(seed);
    std::sort(c.file.begin(), c.file.end(), [](const ByteRun& a, const ByteRun& b) { return a.offset < b.offset; });
    const auto lists = distribute(c.striping, match(c.memory, c.file));
    for (std::uint32_t server = 0; server < lists.servers(); ++server)
      for (std::size_t i = 1; i < lists.of(server).size(); ++i)
        ASSERT_GE(lists.of(server)[i].file_offset,
                  lists.of(server)[i - 1].file_offset + lists.of(server)[i - 1].length);
  }
}

// proves listio: collect
TEST(Collect, IsTheInverseOfDistribute) {
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    const RandomCase c(seed);
    const auto pieces = match(c.memory, c.file);
    const auto lists = distribute(c.striping, pieces);
    Offsets collected, wanted = bytes_one_by_one(pieces);
    for (std::uint32_t server = 0; server < lists.servers(); ++server) {
      const auto of_server = bytes_one_by_one(collect(c.striping, server, lists.of(server)));
      collected.insert(collected.end(), of_server.begin(), of_server.end());
    }
    std::sort(collected.begin(), collected.end());
    std::sort(wanted.begin(), wanted.end());
    ASSERT_EQ(collected, wanted) << "seed " << seed;
  }
}

TEST(Collect, RefusesWhatNoFileHas) {
  EXPECT_THROW(collect(Striping(4, 10), 0, std::vector<Extent>{{most_file_bytes - 20, 0, 10}}), InputError);
  EXPECT_THROW(distribute(Striping(4, 10), std::vector<Extent>{{most_file_bytes, 0, 1}}), InputError);
}

}  // namespace
}  // namespace strider::listio
