#include "verify/examiner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace strider {
namespace {

constexpr std::uint64_t file_size = 1 << 20, files = 4;
constexpr FileData::Identity identity{.data_seed = 42, .workload = 7, .file = 1, .generation = 5};

FileData::Identity of_generation(std::uint64_t generation) {
  FileData::Identity other = identity;
  other.generation = generation;
  return other;
}
FileData::Identity of_file(std::uint64_t file) {
  FileData::Identity other = identity;
  other.file = file;
  return other;
}

/// One request as it was read: right at first, then spoilt by the test.
struct Read {
  explicit Read(std::uint64_t file_offset, std::size_t length = 4096) : offset(file_offset), memory(length) {
    FileData(identity).fill(memory, offset);
  }
  std::span<std::byte> part(std::size_t begin, std::size_t length) { return std::span(memory).subspan(begin, length); }
  /// What a part would hold if it came from elsewhere.
  Read& replace(std::size_t begin, std::size_t length, const FileData::Identity& origin, std::uint64_t origin_offset) {
    FileData(origin).fill(part(begin, length), origin_offset);
    return *this;
  }
  Read& clear(std::size_t begin, std::size_t length) {
    std::ranges::fill(part(begin, length), std::byte{0});
    return *this;
  }
  std::vector<Mismatch> mismatches() const {
    Examiner examiner(identity, files, file_size);
    examiner.examine(memory, {offset, 0, memory.size()});
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
  for (std::uint64_t offset = 8192; offset < 8201; ++offset) EXPECT_TRUE(Read(offset, 1001).mismatches().empty());
}

TEST(Examiner, LocatesAFlippedByteAndShowsWhatIsThere) {
  Read read(8192);
  const std::byte right = read.memory[1000];
  read.memory[1000] ^= std::byte{0xff};
  const Mismatch mismatch = read.mismatch();
  EXPECT_EQ(mismatch.file_offset, 9192U);
  EXPECT_EQ(mismatch.wrong_bytes, 1U);
  EXPECT_EQ(mismatch.shown, 16U);
  EXPECT_EQ(mismatch.expected[0], right);
  EXPECT_EQ(mismatch.found[0], right ^ std::byte{0xff});
  EXPECT_EQ(mismatch.expected[1], mismatch.found[1]);
  EXPECT_EQ(mismatch.blame, Blame::foreign);
}

TEST(Examiner, ShowsNoMoreThanWasRead) {
  Read read(8192, 100);
  read.memory[97] ^= std::byte{1};
  EXPECT_EQ(read.mismatch().shown, 3U);
}

TEST(Examiner, LooksOnlyAtTheExtentsMemory) {
  std::vector<std::byte> memory(300);
  FileData(identity).fill(std::span(memory).subspan(100, 100), 640);
  Examiner examiner(identity, files, file_size);
  examiner.examine(memory, {640, 100, 100});
  EXPECT_EQ(examiner.mismatches(), 0U);
  EXPECT_EQ(examiner.checked_bytes(), 100U);
}

TEST(Examiner, CountsAllAndDescribesTheFirst) {
  Examiner examiner(identity, files, file_size);
  for (std::uint64_t request = 0; request < 10; ++request) {
    Read read(request * 4096);
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

TEST(Examiner, DigestDoesNotDependOnTheOrderOfRequestsButOnWhatTheyRead) {
  Examiner forward(identity, files, file_size), backward(identity, files, file_size), other(identity, files, file_size);
  for (std::uint64_t request = 0; request < 8; ++request) {
    Read first(request * 4096), last((7 - request) * 4096);
    forward.examine(first.memory, {first.offset, 0, 4096});
    backward.examine(last.memory, {last.offset, 0, 4096});
    first.memory[9] ^= std::byte{1};
    other.examine(first.memory, {first.offset, 0, 4096});
  }
  EXPECT_EQ(forward.digest(), backward.digest());
  EXPECT_NE(forward.digest(), other.digest());
}

TEST(Blame, ZeroIsWhatWasNeverWrittenOrLost) {
  EXPECT_EQ(Read(8192).clear(0, 4096).mismatch().blame, Blame::zero);
  EXPECT_EQ(Read(8192).clear(1024, 3072).mismatch().blame, Blame::zero);
}

TEST(Blame, ZeroIsAlsoALostBlockWithinARequest) {
  const Mismatch mismatch = Read(8192).clear(512, 512).mismatch();
  EXPECT_EQ(mismatch.blame, Blame::zero);
  EXPECT_EQ(mismatch.file_offset / 512, (8192 + 512) / 512U);
}

TEST(Blame, StaleIsAnOlderGenerationOfAllOfIt) {
  for (std::uint64_t generation = 0; generation < 5; ++generation)
    for (const std::uint64_t offset : {8192ULL, 8195ULL})
      for (const std::size_t length : {4096UL, 1001UL, 24UL})
        EXPECT_EQ(Read(offset, length).replace(0, length, of_generation(generation), offset).mismatch().blame,
                  Blame::stale)
            << "generation " << generation << ", offset " << offset << ", length " << length;
}

TEST(Blame, TornIsAnOlderGenerationOfAPart) {
  const auto torn = [](std::size_t begin, std::size_t length) {
    return Read(8192).replace(begin, length, of_generation(4), 8192 + begin).mismatch().blame;
  };
  EXPECT_EQ(torn(2048, 2048), Blame::torn) << "the second half";
  EXPECT_EQ(torn(0, 512), Blame::torn) << "the first eighth";
  EXPECT_EQ(torn(0, 3584), Blame::torn) << "all but the last eighth";
  EXPECT_EQ(torn(512, 512), Blame::torn) << "a block within";
}

TEST(Blame, MisplacedTellsWhereTheDataBelongs) {
  const Mismatch elsewhere = Read(8192).replace(0, 4096, identity, 65536).mismatch();
  EXPECT_EQ(elsewhere.blame, Blame::misplaced);
  EXPECT_EQ(elsewhere.origin_offset, 65536U);
  const Mismatch block = Read(8192).replace(1024, 512, identity, 24).mismatch();
  EXPECT_EQ(block.blame, Blame::misplaced);
  EXPECT_EQ(block.origin_offset, 24U);
}

TEST(Blame, MisplacedIsAlsoWhatBelongsToAnotherFile) {
  for (const std::uint64_t file : {0ULL, 2ULL, 3ULL}) {
    const Mismatch same_offset = Read(8192).replace(0, 4096, of_file(file), 8192).mismatch();
    EXPECT_EQ(same_offset.blame, Blame::misplaced);
    EXPECT_EQ(same_offset.origin_offset, 8192U);
    EXPECT_EQ(Read(8192).replace(0, 4096, of_file(file), 0).mismatch().origin_offset, 0U);
  }
}

TEST(Blame, ForeignIsWhatThisRunDidNotWrite) {
  FileData::Identity other_run = identity;
  other_run.data_seed = 43;
  EXPECT_EQ(Read(8192).replace(0, 4096, other_run, 8192).mismatch().blame, Blame::foreign);
  EXPECT_EQ(Read(8192).replace(0, 4096, of_generation(6), 8192).mismatch().blame, Blame::foreign) << "not yet written";
  Read noise(8192);
  std::ranges::fill(noise.memory, std::byte{0x5a});
  EXPECT_EQ(noise.mismatch().blame, Blame::foreign);
}

TEST(Blame, HasTheNamesOfTheFormat) {
  EXPECT_EQ(name_of(Blame::zero), "zero");
  EXPECT_EQ(name_of(Blame::stale), "stale");
  EXPECT_EQ(name_of(Blame::torn), "torn");
  EXPECT_EQ(name_of(Blame::misplaced), "misplaced");
  EXPECT_EQ(name_of(Blame::foreign), "foreign");
}

}  // namespace
}  // namespace strider
