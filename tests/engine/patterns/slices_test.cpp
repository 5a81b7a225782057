#include "patterns/slices.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace strider {
namespace {

std::unique_ptr<Pattern> file_of(std::uint64_t bytes) {
  Settings settings;
  settings.set("transfer", std::uint64_t{1});
  settings.set("size", bytes);
  settings.set("overlap", false);
  settings.set("seed", std::uint64_t{1});
  return find_pattern("sequential")->make(settings);
}

TEST(Slices, CoverTheFileOnceWhateverItsSizeAndTheNumberOfRanks) {
  constexpr std::uint64_t mib = 1 << 20;
  for (const std::uint64_t size : {std::uint64_t{1}, 4 * mib - 1, 4 * mib, 4 * mib + 1, 40 * mib, 41 * mib + 12345})
    for (std::uint32_t ranks = 1; ranks <= 13; ++ranks) {
      const auto pattern = file_of(size);
      const Slices slices(*pattern);
      EXPECT_EQ(slices.file_size(ranks), size);
      std::map<std::uint64_t, std::uint64_t> pieces;  // offset → length
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        std::uint64_t bytes = 0;
        for (std::uint64_t k = 0; k < slices.requests({rank, ranks}, Direction::write); ++k) {
          Extent extent;
          slices.fill({rank, ranks}, {&k, 1}, {&extent, 1});
          ASSERT_LE(extent.length, slices.request_bytes(ranks));
          ASSERT_TRUE(pieces.emplace(extent.file_offset, extent.length).second);
          bytes += extent.length;
        }
        ASSERT_EQ(bytes, slices.bytes({rank, ranks}, Direction::write));
      }
      std::uint64_t end = 0;
      for (const auto& [offset, length] : pieces) {
        ASSERT_EQ(offset, end) << size << " bytes, " << ranks << " ranks";
        ASSERT_GT(length, 0U);
        end += length;
      }
      ASSERT_EQ(end, size) << ranks << " ranks";
    }
}

}  // namespace
}  // namespace strider
