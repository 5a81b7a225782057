#include "verify/data.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "foundation/random.hpp"

namespace strider {
namespace {

constexpr FileData::Identity data_identity{.data_seed = 42, .workload = 7, .file = 3, .generation = 64};

std::vector<std::byte> filled(const FileData& data, std::uint64_t offset, std::size_t length) {
  std::vector<std::byte> memory(length);
  data.fill(memory, offset);
  return memory;
}

// proves measuring: verify-full, compared-bytes
TEST(FileData, AByteDependsOnItsPlaceAlone) {
  const FileData data(data_identity);
  const std::vector<std::byte> whole = filled(data, 0, 2048);
  for (std::uint64_t offset = 0; offset < 40; ++offset)
    for (std::size_t length = 0; length < 700; length += length < 40 ? 1 : 33) {
      const std::vector<std::byte> piece = filled(data, offset, length);
      for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(piece[i], whole[offset + i]) << offset << '+' << i;
    }
  for (std::uint64_t i = 0; i < whole.size(); ++i) ASSERT_EQ(data.at(i), whole[i]);
}

TEST(FileData, IsRecognisedAtEveryAlignmentAndLength) {
  const FileData data(data_identity);
  for (std::uint64_t offset = 1'000'000; offset < 1'000'016; ++offset)
    for (std::size_t length = 0; length < 1200; length += length < 100 ? 1 : 41)
      ASSERT_EQ(data.first_mismatch(filled(data, offset, length), offset), std::nullopt) << offset << ", " << length;
}

// proves measuring: verify-full, compared-bytes
TEST(FileData, ASingleWrongBitIsFoundExactlyWhereItIs) {
  const FileData data(data_identity);
  for (std::uint64_t offset = 4096; offset < 4105; ++offset)
    for (const std::size_t length : {1UL, 7UL, 8UL, 9UL, 63UL, 512UL, 1031UL}) {
      std::vector<std::byte> memory = filled(data, offset, length);
      for (std::size_t position = 0; position < length; ++position) {
        const auto bit = std::byte{1} << (position % 8);
        memory[position] ^= bit;
        ASSERT_EQ(data.first_mismatch(memory, offset), position) << "offset " << offset << ", length " << length;
        memory[position] ^= bit;
      }
    }
}

TEST(FileData, TheFirstOfSeveralWrongBytesIsReported) {
  const FileData data(data_identity);
  std::vector<std::byte> memory = filled(data, 100, 4000);
  memory[3999] ^= std::byte{1};
  memory[1234] ^= std::byte{1};
  EXPECT_EQ(data.first_mismatch(memory, 100), 1234U);
}

TEST(FileData, AWordStatesWhereItBelongs) {
  const FileData data(data_identity);
  for (const std::uint64_t offset : {0ULL, 8ULL, 4096ULL, 1ULL << 40, (1ULL << 62) + 8}) {
    std::uint64_t word = 0;
    std::memcpy(&word, filled(data, offset, 8).data(), 8);
    EXPECT_EQ(data.offset_of(word), offset);
  }
}

// proves measuring: generations, digest-within-run
TEST(FileData, DiffersWithEveryPartOfItsIdentity) {
  std::set<std::vector<std::byte>> contents;
  for (const FileData::Identity& other :
       {data_identity, {43, 7, 3, 64}, {42, 8, 3, 64}, {42, 7, 4, 64}, {42, 7, 3, 65}})
    contents.insert(filled(FileData(other), 0, 64));
  EXPECT_EQ(contents.size(), 5U);
}

TEST(FileData, CannotBeCompressedByCountingBytes) {  // storage that compresses or deduplicates must not look fast
  std::vector<int> counts(256);
  for (const std::byte b : filled(FileData(data_identity), 0, 256 * 4000)) ++counts[std::to_integer<std::size_t>(b)];
  for (const int count : counts) EXPECT_NEAR(count, 4000, 400);
}

TEST(FileData, HasTheSameBytesOnEveryMachine) {
  std::uint64_t word = 0;
  std::memcpy(&word, filled(FileData({1, 2, 3, 4}), 8, 8).data(), 8);
  EXPECT_EQ(word, 0xcef606d6b0a0dc1eULL);
}

// docs/measuring.md defines the digest; here it is once more, a byte at a time.
std::uint64_t plain_digest(const std::vector<std::byte>& bytes, std::uint64_t offset) {
  const auto scramble = [](std::uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    return x ^ (x >> 29);
  };
  std::uint64_t sum = 0;
  for (std::size_t word = 0; 8 * word < bytes.size(); ++word) {
    std::uint64_t value = 0;  // little-endian; what is missing at the end counts as zeros
    for (std::size_t i = 0; i < 8 && 8 * word + i < bytes.size(); ++i)
      value |= std::to_integer<std::uint64_t>(bytes[8 * word + i]) << (8 * i);
    sum += scramble(value + (word + 1) * 0x9e3779b97f4a7c15ULL);
  }
  return hash_numbers(sum, offset, bytes.size());
}

// proves measuring: digest-of-piece
TEST(Digest, IsWhatItsDefinitionSays) {
  std::mt19937_64 random(5);
  for (std::size_t length = 0; length < 300; ++length) {
    std::vector<std::byte> bytes(length);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    const std::uint64_t offset = random();
    ASSERT_EQ(digest(bytes, offset), plain_digest(bytes, offset)) << length;
  }
}

/// The loop that compares, digests and spoils at once, beside each of these alone.
TEST(FileData, AnExaminationIsWhatItsPartsAre) {
  const FileData data(data_identity);
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t offset = random() % 2 == 0 ? 8 * (random() % 1000) : random() % 100'000;
    std::vector<std::byte> memory = filled(data, offset, random() % 4 == 0 ? random() % 40 : random() % 20'000);
    const bool damaged = round % 3 == 0 && !memory.empty();
    const std::size_t wrong = damaged ? random() % memory.size() : memory.size();
    if (damaged) memory[wrong] ^= std::byte{1} << (random() % 8);
    const std::vector<std::byte> before = memory;
    const auto sum = round % 2 == 0 ? FileData::Sum::digested : FileData::Sum::none;
    const auto then = round % 5 == 0 ? FileData::Then::keep : FileData::Then::spoil;
    const auto found = data.examine(memory, offset, sum, then);
    ASSERT_EQ(found.right_bytes, wrong) << "offset " << offset << ", " << memory.size() << " bytes";
    if (!damaged && sum == FileData::Sum::digested) {
      ASSERT_EQ(found.digest, plain_digest(before, offset));
    }
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const bool right = memory[i] == before[i], spoilt = memory[i] == spoilt_byte;
      const bool kept = then == FileData::Then::keep || (damaged && i >= wrong / 4096 * 4096);
      ASSERT_TRUE(kept ? right : spoilt) << i;
    }
  }
}

TEST(FileData, DifferentBytesAreCounted) {
  std::mt19937_64 random(9);
  for (std::size_t length = 0; length < 3000; length += 1 + length / 3) {
    std::vector<std::byte> a = filled(FileData(data_identity), 0, length), b = a;
    std::size_t different = 0;
    for (std::byte& byte : b)
      if (random() % 3 != 0) byte ^= std::byte{4}, ++different;
    ASSERT_EQ(count_different(a, b), different) << length;
  }
}

TEST(Digest, DependsOnContentOffsetAndLength) {
  std::vector<std::byte> bytes = filled(FileData(data_identity), 0, 100);
  const std::uint64_t before = digest(bytes, 0);
  EXPECT_NE(digest(bytes, 8), before);
  EXPECT_NE(digest(std::span(bytes).first(99), 0), before);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{1};
    ASSERT_NE(digest(bytes, 0), before) << i;
    bytes[i] ^= std::byte{1};
  }
  std::swap_ranges(bytes.begin(), bytes.begin() + 8, bytes.begin() + 8);
  EXPECT_NE(digest(bytes, 0), before) << "words have changed places";
}

}  // namespace
}  // namespace strider
