#include "verify/examiner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace strider {
namespace {

constexpr std::uint64_t examined_bytes = 1 << 20, examined_files = 4;
constexpr FileData::Identity examined_identity{.data_seed = 42, .workload = 7, .file = 1, .generation = 5};

/// One request as it was read: right at first, then spoilt by the test.
struct ExaminedRead {
  explicit ExaminedRead(std::uint64_t file_offset, std::size_t length = 4096) : offset(file_offset), memory(length) {
    FileData(examined_identity).fill(memory, offset);
  }
  std::vector<Mismatch> mismatches() const {
    Examiner examiner(examined_identity, examined_files, examined_bytes);
    std::vector<std::byte> copy = memory;
    examiner.examine(copy, {offset, 0, copy.size()});
    return examiner.first_mismatches();
  }
  Mismatch mismatch() const {
    const auto all = mismatches();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Mismatch{} : all[0];
  }
  std::uint64_t offset;
  std::vector<std::byte> memory;
};

TEST(Examiner, FindsNothingWhereNothingIsWrong) {
  for (std::uint64_t offset = 8192; offset < 8201; ++offset)
    EXPECT_TRUE(ExaminedRead(offset, 1001).mismatches().empty());
}

TEST(Examiner, LocatesAFlippedByteAndShowsWhatIsThere) {
  ExaminedRead read(8192);
  const std::byte right = read.memory[1000];
  read.memory[1000] ^= std::byte{0xff};
  const Mismatch mismatch = read.mismatch();
  EXPECT_EQ(mismatch.file_offset, 9192U);
  EXPECT_EQ(mismatch.wrong_bytes, 1U);
  EXPECT_EQ(mismatch.shown, 16U);
  EXPECT_EQ(mismatch.expected[0], right);
  EXPECT_EQ(mismatch.found[0], right ^ std::byte{0xff});
  EXPECT_EQ(mismatch.expected[1], mismatch.found[1]);
  EXPECT_EQ(mismatch.causes, (std::vector<Damage>{{Cause::flipped, 9192, 1, 8}}));
}

TEST(Examiner, ShowsNoMoreThanWasRead) {
  ExaminedRead read(8192, 100);
  read.memory[97] ^= std::byte{1};
  EXPECT_EQ(read.mismatch().shown, 3U);
}

TEST(Examiner, LooksOnlyAtTheExtentsMemory) {
  std::vector<std::byte> memory(300);
  FileData(examined_identity).fill(std::span(memory).subspan(100, 100), 640);
  Examiner examiner(examined_identity, examined_files, examined_bytes);
  examiner.examine(memory, {640, 100, 100});
  EXPECT_EQ(examiner.mismatches(), 0U);
  EXPECT_EQ(examiner.checked_bytes(), 100U);
}

// proves measuring: four-mismatches
TEST(Examiner, CountsAllAndDescribesTheFirst) {
  Examiner examiner(examined_identity, examined_files, examined_bytes);
  for (std::uint64_t request = 0; request < 10; ++request) {
    ExaminedRead read(request * 4096);
    read.memory[request] ^= std::byte{1};
    read.memory[request + 1] ^= std::byte{1};
    examiner.examine(read.memory, {read.offset, 0, read.memory.size()});
  }
  EXPECT_EQ(examiner.mismatches(), 10U);
  EXPECT_EQ(examiner.wrong_bytes(), 20U);
  EXPECT_EQ(examiner.checked_bytes(), 40960U);
  ASSERT_EQ(examiner.first_mismatches().size(), Examiner::kept);
  EXPECT_EQ(examiner.first_mismatches()[3].file_offset, 3U * 4096 + 3);
}

// proves measuring: digest-of-rank, digest-of-sample
TEST(Examiner, DigestDoesNotDependOnTheOrderOfRequestsButOnWhatTheyRead) {
  Examiner forward(examined_identity, examined_files, examined_bytes),
      backward(examined_identity, examined_files, examined_bytes),
      other(examined_identity, examined_files, examined_bytes);
  for (std::uint64_t request = 0; request < 8; ++request) {
    ExaminedRead first(request * 4096), last((7 - request) * 4096);
    forward.examine(first.memory, {first.offset, 0, 4096});
    backward.examine(last.memory, {last.offset, 0, 4096});
    first.memory[9] ^= std::byte{1};
    other.examine(first.memory, {first.offset, 0, 4096});
  }
  EXPECT_EQ(forward.digest(), backward.digest());
  EXPECT_NE(forward.digest(), other.digest());
}

// proves measuring: digest, digest-compares
TEST(Examiner, TheDigestOfWrongDataIsThatOfWhatWasRead) {
  for (const std::uint64_t offset : {8192ULL, 8195ULL})
    for (const std::size_t wrong : {3UL, 5000UL, 9998UL}) {
      ExaminedRead read(offset, 10'000);
      read.memory[wrong] ^= std::byte{1};
      Examiner examiner(examined_identity, examined_files, examined_bytes);
      std::vector<std::byte> copy = read.memory;
      examiner.examine(copy, {offset, 0, copy.size()});
      EXPECT_EQ(examiner.digest(), digest(read.memory, offset));
      EXPECT_EQ(examiner.wrong_bytes(), 1U);
    }
}

// proves measuring: poisoned
TEST(Examiner, LeavesNothingRightInMemory) {
  for (const std::size_t length : {1UL, 7UL, 8UL, 4096UL, 5001UL, 20'000UL})
    for (const bool wrong : {false, true}) {
      ExaminedRead read(8195, length);
      if (wrong) read.memory[length / 2] ^= std::byte{1};
      Examiner examiner(examined_identity, examined_files, examined_bytes);
      examiner.examine(read.memory, {read.offset, 0, length});
      EXPECT_EQ(std::ranges::count(read.memory, spoilt_byte), static_cast<std::ptrdiff_t>(length)) << length << wrong;
    }
}

TEST(Examiner, KeepsWhatIsToBeKept) {
  ExaminedRead read(8192, 10'000);
  const std::vector<std::byte> before = read.memory;
  Examiner examiner(examined_identity, examined_files, examined_bytes);
  examiner.examine(read.memory, {read.offset, 0, read.memory.size()}, FileData::Then::keep);
  EXPECT_EQ(read.memory, before);
  EXPECT_EQ(examiner.mismatches(), 0U);
}

/// However little a read leaves out at the beginning or the end of an extent, it is found, also where the byte that
/// memory is spoilt with happens to be right.
// proves measuring: poisoned-ends, ends-detected, middle-missed
TEST(Examiner, AReadThatLeavesOutAByteIsFound) {
  const FileData data(examined_identity);
  std::uint64_t by_chance = 0;
  for (std::uint64_t offset = 1000; offset < 6000; ++offset)
    for (const bool first : {false, true}) {
      constexpr std::uint64_t length = 24;
      std::vector<std::byte> memory(40), right(length);
      data.fill(right, offset);
      spoil(memory);
      Examiner examiner(examined_identity, examined_files, examined_bytes);
      const Extent extent{offset, 8, length};
      examiner.prepare(memory, extent);
      if (right[first ? 0 : length - 1] == spoilt_byte) ++by_chance;
      if (first) std::ranges::copy(std::span(right).subspan(1), memory.begin() + 9);
      else std::ranges::copy(std::span(right).first(length - 1), memory.begin() + 8);
      examiner.examine(memory, extent);
      ASSERT_EQ(examiner.wrong_bytes(), 1U) << offset;
    }
  EXPECT_GT(by_chance, 0U) << "the test has met no byte where this matters";
}

// proves measuring: unread
TEST(Examiner, AReadThatTransfersNothingIsUnread) {
  for (const std::uint64_t length : {1ULL, 2ULL, 8ULL, 1001ULL, 65'536ULL}) {
    std::vector<std::byte> memory(length);
    spoil(memory);
    Examiner examiner(examined_identity, examined_files, examined_bytes);
    examiner.prepare(memory, {4099, 0, length});
    examiner.examine(memory, {4099, 0, length});
    ASSERT_EQ(examiner.mismatches(), 1U);
    const auto causes = examiner.first_mismatches()[0].causes;
    ASSERT_EQ(causes.size(), 1U) << length;
    EXPECT_EQ(causes[0].cause, Cause::unread) << length;
    EXPECT_GE(causes[0].bytes, length - length / 100);
  }
}

TEST(Examiner, CanGoWithoutADigest) {
  ExaminedRead read(8192, 5000);
  Examiner examiner(examined_identity, examined_files, examined_bytes, FileData::Sum::none);
  examiner.examine(read.memory, {read.offset, 0, 5000});
  read = ExaminedRead(8192, 5000);
  read.memory[4999] ^= std::byte{1};
  examiner.examine(read.memory, {read.offset, 0, 5000});
  EXPECT_EQ(examiner.digest(), 0U);
  EXPECT_EQ(examiner.checked_bytes(), 10'000U);
  EXPECT_EQ(examiner.wrong_bytes(), 1U);
}

}  // namespace
}  // namespace strider
