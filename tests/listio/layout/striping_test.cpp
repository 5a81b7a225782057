#include "listio/layout/striping.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "foundation/error.hpp"
#include "random_lists.hpp"

namespace strider::listio {
namespace {

std::vector<std::uint64_t> data_files(const Striping& striping, std::uint64_t file_bytes) {
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t server = 0; server < striping.servers(); ++server)
    sizes.push_back(striping.data_file_bytes(server, file_bytes));
  return sizes;
}

// proves listio: strips, server-of-byte
TEST(Striping, PutsStripsOnServersInTurn) {
  const Striping striping(3, 10, 1);
  EXPECT_EQ(striping.locate(0), (Location{1, 0}));
  EXPECT_EQ(striping.locate(9), (Location{1, 9}));
  EXPECT_EQ(striping.locate(10), (Location{2, 0}));
  EXPECT_EQ(striping.locate(25), (Location{0, 5}));
  EXPECT_EQ(striping.locate(30), (Location{1, 10}));
}

// proves listio: strip-of-byte, file-offset, locate
TEST(Striping, EveryByteHasItsOwnPlaceAndComesBackFromIt) {
  for (std::uint32_t servers = 1; servers <= 5; ++servers)
    for (std::uint64_t strip = 1; strip <= 4; ++strip)
      for (std::uint32_t first = 0; first < servers; ++first) {
        const Striping striping(servers, strip, first);
        std::vector<std::uint64_t> next(servers, 0);
        for (std::uint64_t offset = 0; offset < 64; ++offset) {
          const Location place = striping.locate(offset);
          ASSERT_EQ(place.offset, next[place.server]++) << "data files have no holes";
          ASSERT_EQ(striping.file_offset(place), offset);
        }
      }
}

// proves listio: holes-of-data-file, size-of-file, data-file-bytes
TEST(Striping, DataFilesOfAFileGiveItsSizeBack) {
  for (std::uint32_t servers = 1; servers <= 5; ++servers)
    for (std::uint64_t strip = 1; strip <= 4; ++strip)
      for (std::uint32_t first = 0; first < servers; ++first) {
        const Striping striping(servers, strip, first);
        std::vector<std::uint64_t> counted(servers, 0);
        for (std::uint64_t bytes = 0; bytes < 64; ++bytes) {
          ASSERT_EQ(data_files(striping, bytes), counted) << bytes << " bytes on " << servers;
          ASSERT_EQ(striping.file_bytes(counted), bytes);
          ++counted[striping.locate(bytes).server];
        }
      }
}

// proves listio: size, holes-of-data-file, size-of-file
TEST(Striping, AFileEndsWithTheLastByteOfAnyDataFile) {
  const Striping striping(4, 10);
  EXPECT_EQ(striping.file_bytes(std::vector<std::uint64_t>{0, 0, 0, 0}), 0);
  EXPECT_EQ(striping.file_bytes(std::vector<std::uint64_t>{0, 0, 7, 0}), 27) << "holes before it";
  EXPECT_EQ(striping.file_bytes(std::vector<std::uint64_t>{15, 10, 10, 10}), 45);
}

TEST(Striping, HoldsForLargeOffsetsOfAnyLayout) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    Dice dice(seed);
    const auto servers = static_cast<std::uint32_t>(dice.roll(1, 1000));
    const Striping striping(servers, dice.roll(1, std::uint64_t{1} << dice.roll(1, 40)),
                            static_cast<std::uint32_t>(dice.roll(0, servers - 1)));
    const std::uint64_t offset = dice.roll(0, most_file_bytes - 1) >> dice.roll(0, 62);
    ASSERT_EQ(striping.file_offset(striping.locate(offset)), offset) << "seed " << seed;
    ASSERT_EQ(striping.file_bytes(data_files(striping, offset)), offset) << "seed " << seed;
  }
}

// proves listio: overflow-checked
TEST(Striping, RefusesDataFilesThatNoFileCanHave) {
  const Striping striping(4, 65536);
  EXPECT_THROW(striping.file_offset({0, most_file_bytes / 2}), InputError);
  EXPECT_THROW(striping.file_offset({3, std::numeric_limits<std::uint64_t>::max()}), InputError);
  EXPECT_THROW(striping.file_offset({4, 0}), InputError) << "there is no server 4";
  EXPECT_THROW(striping.file_bytes(std::vector<std::uint64_t>(3, 0)), InputError) << "a data file is missing";
  EXPECT_THROW(striping.file_bytes(std::vector<std::uint64_t>(4, most_file_bytes)), InputError);
}

TEST(Striping, RefusesALayoutThatCannotBe) {
  EXPECT_THROW(Striping(0, 1), InputError);
  EXPECT_THROW(Striping(1, 0), InputError);
  EXPECT_THROW(Striping(2, 1, 2), InputError);
}

}  // namespace
}  // namespace strider::listio
