// Positions in views, and lists of pieces, against a list of every single byte.
#include "listio/mpi/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "listio/mpi/errors.hpp"

namespace strider::listio::mpi {
namespace {

FlatType flat_window(std::vector<TypeRun> runs, std::int64_t extent) {
  FlatType flat{.runs = std::move(runs), .before = {}, .size = 0, .lower_bound = 0, .extent = extent};
  for (const TypeRun& run : flat.runs) {
    flat.before.push_back(flat.size);
    flat.size += run.length;
  }
  return flat;
}

std::shared_ptr<const FlatType> shared(FlatType flat) { return std::make_shared<const FlatType>(std::move(flat)); }

/// The place of every byte of data in `count` copies.
std::vector<std::int64_t> every_byte(const FlatType& flat, std::int64_t base, std::int64_t count) {
  std::vector<std::int64_t> places;
  for (std::int64_t copy = 0; copy < count; ++copy)
    for (const TypeRun& run : flat.runs)
      for (std::int64_t i = 0; i < run.length; ++i) places.push_back(base + copy * flat.extent + run.offset + i);
  return places;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t any(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(last - first + 1));
  }
  /// Ascending, without overlap; dense and empty ones occur, and copies that touch.
  FlatType ascending() {
    std::vector<TypeRun> runs;
    std::int64_t at = any(0, 1) * any(0, 5);
    for (std::int64_t left = any(0, 5); left > 0; --left) {
      runs.push_back({at, any(1, 6)});
      at = runs.back().end() + any(1, 5);
    }
    const std::int64_t end = runs.empty() ? any(0, 4) : runs.back().end();
    return flat_window(std::move(runs), end + any(0, 1) * any(0, 6));
  }
  /// In any order, at any place, as memory may be written from.
  FlatType shuffled() {
    FlatType flat = ascending();
    std::vector<TypeRun> runs = flat.runs;
    std::shuffle(runs.begin(), runs.end(), engine_);
    const std::int64_t shift = any(-20, 5);
    for (TypeRun& run : runs) run.offset += shift;
    return flat_window(std::move(runs), flat.extent);
  }

 private:
  std::mt19937_64 engine_;
};

std::vector<std::int64_t> places_of(const std::vector<ByteRun>& runs) {
  std::vector<std::int64_t> places;
  for (const ByteRun& run : runs)
    for (std::uint64_t i = 0; i < run.length; ++i) places.push_back(static_cast<std::int64_t>(run.offset + i));
  return places;
}

std::vector<std::int64_t> places_of(const std::vector<iovec>& pieces, const std::byte* origin) {
  std::vector<std::int64_t> places;
  for (const iovec& piece : pieces)
    for (std::size_t i = 0; i < piece.iov_len; ++i)
      places.push_back(static_cast<std::byte*>(piece.iov_base) - origin + static_cast<std::ptrdiff_t>(i));
  return places;
}

TEST(View, ThePlainOneIsTheFile) {
  const View view;
  EXPECT_EQ(view.byte_offset(0), 0);
  EXPECT_EQ(view.byte_offset(12'345'678'901), 12'345'678'901);
  EXPECT_EQ(view.etypes_at_or_after(12'345'678'901), 12'345'678'901);
}

TEST(View, APositionIsTheByteWhereItsDataBegins) {
  const View view(100, 4, shared(flat_window({{4, 4}, {12, 8}}, 24)));
  EXPECT_EQ(view.byte_offset(0), 104);
  EXPECT_EQ(view.byte_offset(1), 112);
  EXPECT_EQ(view.byte_offset(2), 116);
  EXPECT_EQ(view.byte_offset(3), 128);
  EXPECT_EQ(view.byte_offset(3'000'000'000), 100 + 24'000'000'000 + 4);
}

TEST(View, TheEndOfAFileIsTheFirstPositionThatItDoesNotReach) {
  const View view(100, 4, shared(flat_window({{4, 4}, {12, 8}}, 24)));
  EXPECT_EQ(view.etypes_at_or_after(0), 0);
  EXPECT_EQ(view.etypes_at_or_after(104), 0);
  EXPECT_EQ(view.etypes_at_or_after(105), 1) << "a part of an element counts";
  EXPECT_EQ(view.etypes_at_or_after(108), 1);
  EXPECT_EQ(view.etypes_at_or_after(112), 1);
  EXPECT_EQ(view.etypes_at_or_after(113), 2);
  EXPECT_EQ(view.etypes_at_or_after(124), 3);
  EXPECT_EQ(view.etypes_at_or_after(100 + 24'000'000'000), 3'000'000'000);
}

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

TEST(View, OnlyTheLargestFileLimitsPositions) {
  const View plain, by_words(0, 8, shared(flat_window({{0, 8}}, 8)));
  EXPECT_TRUE(plain.has_place_for(largest - 1, 1));
  EXPECT_FALSE(plain.has_place_for(largest, 1));
  EXPECT_TRUE(plain.has_place_for(largest - 10, 10));
  EXPECT_FALSE(plain.has_place_for(largest - 10, 11));
  EXPECT_TRUE(by_words.has_place_for(largest / 8 - 1, 8));
  EXPECT_FALSE(by_words.has_place_for(largest / 8, 8));
  EXPECT_FALSE(by_words.has_place_for(largest, 8)) << "8 * 8 is no offset";
  EXPECT_FALSE(plain.has_place_for(-1, 1));
}

TEST(View, NoMultipleOfAnExtentIsAnotherPlace) {
  const View wide(5, 1, shared(flat_window({{0, 2}}, std::int64_t{1} << 62)));
  EXPECT_TRUE(wide.has_place_for(0, 4));
  EXPECT_FALSE(wide.has_place_for(0, 5)) << "the third copy lies behind the largest file";
  EXPECT_FALSE(wide.has_place_for(8, 1)) << "4 * 2^62 is 0 in 64 bits";
  EXPECT_EQ(wide.byte_offset(3), (std::int64_t{1} << 62) + 6);
  EXPECT_THROW(wide.byte_offset(8), Failure);
  EXPECT_EQ(wide.etypes_at_or_after(largest), 4);
  const View interleaved(0, 1, shared(flat_window({{0, 1}, {largest - 9, 1}}, 4)));
  EXPECT_TRUE(interleaved.has_place_for(0, 4));
  EXPECT_FALSE(interleaved.has_place_for(6, 1)) << "data before it lies behind it";
}

TEST(View, AFileTypeWithoutDataHasNoPositions) {
  const View view(100, 4, shared(flat_window({}, 24)));
  EXPECT_EQ(view.byte_offset(5), 100);
  EXPECT_EQ(view.etypes_at_or_after(1000), 0);
  const View no_etype(100, 0, shared(flat_window({{0, 4}}, 4)));
  EXPECT_EQ(no_etype.etypes_at_or_after(1000), 0);
}

TEST(View, RandomPositionsAreThoseOfAListOfBytes) {
  Random random(3);
  for (int round = 0; round < 500; ++round) {
    auto type = shared(random.ascending());
    if (type->size == 0 || type->extent == 0) continue;
    const std::int64_t displacement = random.any(0, 30), etype_bytes = random.any(1, 4);
    const View view(displacement, etype_bytes, type);
    const std::vector<std::int64_t> bytes = every_byte(*type, displacement, 20);
    for (std::int64_t position = 0; position * etype_bytes < std::ssize(bytes); ++position)
      ASSERT_EQ(view.byte_offset(position), bytes[static_cast<std::size_t>(position * etype_bytes)]) << round;
    for (std::int64_t end = 0; end <= bytes.back(); ++end) {
      const std::int64_t below = std::count_if(bytes.begin(), bytes.end(), [&](std::int64_t at) { return at < end; });
      ASSERT_EQ(view.etypes_at_or_after(end), (below + etype_bytes - 1) / etype_bytes) << round << " " << end;
    }
  }
}

TEST(View, CopiesThatAreInterleavedAreCounted) {
  const View view(0, 1, shared(flat_window({{0, 1}, {10, 1}}, 2)));  // 0 10, 2 12, 4 14 …
  EXPECT_EQ(view.etypes_at_or_after(5), 3);
  EXPECT_EQ(view.etypes_at_or_after(13), 7 + 2);
}

/// All pieces and runs of a walk, and what each batch must keep to.
struct Walked {
  std::vector<std::int64_t> memory, file;
  std::size_t batches = 0;
};

Walked walk_all(Walk walk, const std::byte* origin, std::size_t most) {
  Walked all;
  Batch batch;
  std::int64_t left = walk.left();
  while (walk.next(batch)) {
    EXPECT_LE(batch.memory.size(), most);
    EXPECT_LE(batch.runs.size(), most);
    const auto memory = places_of(batch.memory, origin), file = places_of(batch.runs);
    EXPECT_EQ(std::ssize(memory), batch.bytes);
    EXPECT_EQ(std::ssize(file), batch.bytes);
    EXPECT_EQ(walk.left(), left - batch.bytes);
    left = walk.left();
    for (std::size_t i = 1; i < batch.runs.size(); ++i) EXPECT_NE(batch.runs[i - 1].end(), batch.runs[i].offset);
    all.memory.insert(all.memory.end(), memory.begin(), memory.end());
    all.file.insert(all.file.end(), file.begin(), file.end());
    ++all.batches;
  }
  EXPECT_EQ(left, 0);
  return all;
}

TEST(Walk, RandomTypesGiveEachByteItsPlaceInOrder) {
  Random random(11);
  std::vector<std::byte> memory(10'000);
  std::byte* const origin = memory.data() + 5'000;
  for (int round = 0; round < 2000; ++round) {
    const FlatType in_memory = random.shuffled();
    auto in_file = shared(random.ascending());
    const std::int64_t displacement = random.any(0, 30), etype_bytes = random.any(1, 4), position = random.any(0, 40);
    const std::int64_t count = random.any(0, 12);
    const auto most = static_cast<std::size_t>(random.any(1, 3) == 1 ? 128 : random.any(1, 9));
    const View view(displacement, etype_bytes, in_file);
    const Walked all = walk_all(Walk(view, position, origin, in_memory, count, most), origin, most);
    if (in_file->size == 0) {
      ASSERT_TRUE(all.file.empty());
      continue;
    }
    const auto expected = every_byte(in_memory, 0, count);
    const std::int64_t skipped = position * etype_bytes;
    auto file = every_byte(*in_file, displacement, (skipped + std::ssize(expected)) / in_file->size + 1);
    file.erase(file.begin(), file.begin() + skipped);
    file.resize(expected.size());
    ASSERT_EQ(all.memory, expected) << round;
    ASSERT_EQ(all.file, file) << round;
  }
}

TEST(Walk, WhatIsContiguousOnBothSidesIsOnePieceAndOneRun) {
  const FlatType dense = flat_window({{0, 8}}, 8);
  const View view(1000, 8, shared(flat_window({{0, 32}}, 32)));
  std::byte memory{};
  Walk walk(view, 3, &memory, dense, 1'000'000'000, 1);
  Batch batch;
  ASSERT_TRUE(walk.next(batch));
  ASSERT_EQ(batch.memory.size(), 1U);
  EXPECT_EQ(batch.memory[0].iov_base, &memory);
  EXPECT_EQ(batch.memory[0].iov_len, 8'000'000'000U);
  EXPECT_EQ(batch.runs, (std::vector<ByteRun>{{1024, 8'000'000'000}}));
  EXPECT_EQ(batch.memory.capacity() + batch.runs.capacity(), 2U);
  EXPECT_FALSE(walk.next(batch));
}

TEST(Walk, CopiesThatTouchShareARun) {
  const FlatType dense = flat_window({{0, 100}}, 100);
  const View view(0, 1, shared(flat_window({{0, 2}, {8, 2}}, 10)));  // the last run of a copy touches the next copy
  std::byte memory{};
  Walk walk(view, 0, &memory, dense, 1, 128);
  Batch batch;
  ASSERT_TRUE(walk.next(batch));
  EXPECT_EQ(batch.memory.size(), 1U);
  ASSERT_EQ(batch.runs.size(), 26U);
  EXPECT_EQ(batch.runs[1], (ByteRun{8, 4}));
}

TEST(Walk, AMillionRunsComeInBoundedBatches) {
  std::vector<TypeRun> runs;
  for (std::int64_t i = 0; i < 1'000'000; ++i) runs.push_back({8 * i, 4});
  const View view(0, 4, shared(flat_window(std::move(runs), 8'000'000)));
  const FlatType dense = flat_window({{0, 4}}, 4);
  std::byte memory{};
  Walk walk(view, 999'999, &memory, dense, 1'000'002, 128);  // from the last run of the first copy to the third copy
  Batch batch;
  std::size_t batches = 0, pieces = 0;
  std::uint64_t last = 0;
  for (; walk.next(batch); ++batches) {
    pieces += batch.runs.size();
    last = batch.runs.back().offset;
    ASSERT_LE(batch.runs.capacity(), 128U);
  }
  EXPECT_EQ(pieces, 1'000'002U);
  EXPECT_EQ(batches, 7813U);
  EXPECT_EQ(last, 16'000'000U);
}

}  // namespace
}  // namespace strider::listio::mpi
