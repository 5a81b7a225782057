#include "verify/request_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "verify/data.hpp"

namespace strider {
namespace {

/// Bytes 0, 1, 2, …
std::vector<std::byte> counted(std::size_t bytes) {
  std::vector<std::byte> memory(bytes);
  for (std::size_t i = 0; i < bytes; ++i) memory[i] = static_cast<std::byte>(i);
  return memory;
}

std::vector<RequestValues> recorded(const std::vector<Extent>& extents, const std::vector<std::byte>& memory) {
  ValueRecorder recorder(1);
  recorder.record(0, extents, memory);
  return recorder.read();
}

TEST(RequestValues, TheMiddleOneIsNumberHalfOfThem) {
  EXPECT_EQ(positions_of_values(8'192'000), (std::array<std::uint64_t, 3>{0, 4'096'000, 8'191'996}));
  EXPECT_EQ(positions_of_values(12), (std::array<std::uint64_t, 3>{0, 4, 8}));
  EXPECT_EQ(positions_of_values(15), (std::array<std::uint64_t, 3>{0, 4, 8}));
  EXPECT_EQ(positions_of_values(4), (std::array<std::uint64_t, 3>{0, 0, 0}));
  EXPECT_EQ(positions_of_values(3), (std::array<std::uint64_t, 3>{0, 0, 0}));
}

TEST(RequestValues, AreWordsWithTheLowestByteFirst) {
  EXPECT_EQ(recorded({{1000, 0, 16}}, counted(16)),
            (std::vector<RequestValues>{{1000, 16, 0x03020100, 0x0b0a0908, 0x0f0e0d0c}}));
}

TEST(RequestValues, OfAListAreThoseOfItsPiecesTogether) {
  // 3 + 7 + 2 bytes: the values begin at bytes 0, 4 and 8 of the request, the last one in two pieces.
  EXPECT_EQ(recorded({{50, 20, 3}, {70, 30, 7}, {90, 5, 2}}, counted(40)),
            (std::vector<RequestValues>{{50, 12, 0x1e161514, 0x2221201f, 0x06052423}}));
}

TEST(RequestValues, OfLessThanAWordAreFilledUpWithZeros) {
  EXPECT_EQ(recorded({{0, 1, 2}}, counted(8)), (std::vector<RequestValues>{{0, 2, 0x0201, 0x0201, 0x0201}}));
}

TEST(ValueRecorder, KeepsTheFirstRequestsByVisit) {
  const std::vector<std::byte> memory = counted(8);
  ValueRecorder recorder(2);
  for (const std::uint64_t index : {2U, 1U, 0U}) recorder.record(index, std::vector<Extent>{{index, 0, 8}}, memory);
  const std::vector<RequestValues> found = recorder.read();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].file_offset, 0U);
  EXPECT_EQ(found[1].file_offset, 1U);
}

TEST(ValueRecorder, LeavesOutRequestsThatWereNotIssued) {
  ValueRecorder recorder(3);
  recorder.record(1, std::vector<Extent>{{8, 0, 4}}, counted(4));
  recorder.record(2, {}, counted(4));
  EXPECT_EQ(recorder.read().size(), 1U);
}

TEST(ValueRecorder, SpoilsTheThreeValuesAndNothingElse) {
  std::vector<std::byte> memory = counted(20);
  const std::vector<Extent> extents{{0, 0, 20}};
  const ValueRecorder recorder(1);
  recorder.prepare(0, extents, memory);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool is_value = i < 4 || (i >= 8 && i < 12) || i >= 16;
    EXPECT_EQ(memory[i], is_value ? spoilt_byte : static_cast<std::byte>(i)) << i;
  }
  std::vector<std::byte> of_another = counted(20);
  recorder.prepare(1, extents, of_another);
  EXPECT_EQ(of_another, counted(20));
}

}  // namespace
}  // namespace strider
