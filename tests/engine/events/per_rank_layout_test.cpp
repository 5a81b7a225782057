#include "events/per_rank_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "plan/operation.hpp"

namespace strider {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> numbers) {
  std::vector<std::byte> bytes;
  for (const unsigned number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (const std::byte each : bytes.subspan(at, size)) number = number << 8 | std::to_integer<std::uint64_t>(each);
  return number;
}

const PerRankPhase phase{.name = {3, 2, true, "read"}, .measured = true, .clients = 4};

RankRow row_of(std::uint32_t rank) {
  RankRow row{};
  row.rank = rank;
  row.node = 7;
  row.bytes = 100 + rank;
  row.system_s = 0.5;
  return row;
}

/// A record of `layout`, written in parts that begin at the given ranks.
std::vector<std::byte> record_of(const PerRankLayout& layout, std::initializer_list<std::uint32_t> firsts) {
  std::vector<std::byte> record(layout.record_bytes(), std::byte{0xee});
  for (const auto* first = firsts.begin(); first != firsts.end(); ++first) {
    const std::uint32_t end = first + 1 == firsts.end() ? layout.ranks() : *(first + 1);
    std::vector<RankRow> rows;
    for (std::uint32_t rank = *first; rank < std::min(end, phase.clients); ++rank) rows.push_back(row_of(rank));
    layout.for_each_part(2, phase, rows, *first, end, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
      std::ranges::copy(bytes, record.begin() + static_cast<std::ptrdiff_t>(offset - layout.record_offset(2)));
    });
  }
  return record;
}

TEST(PerRankLayout, BeginsAsTheFormatDemands) {
  const PerRankLayout layout("a-run", 258);
  const auto expected = bytes_of({'C', 'D', 'F', 2,  0,   0,   0,   0,                  // no records
                                  0,   0,   0,   10, 0,   0,   0,   2,                  // two dimensions
                                  0,   0,   0,   5,  'p', 'h', 'a', 's', 'e', 0, 0, 0,  // filled up to 4 bytes
                                  0,   0,   0,   0,                                     // that of records
                                  0,   0,   0,   4,  'r', 'a', 'n', 'k', 0,   0, 1, 2,  // 258
                                  0,   0,   0,   12, 0,   0,   0,   4,                  // four attributes
                                  0,   0,   0,   5,  't', 'i', 't', 'l', 'e', 0, 0, 0,  //
                                  0,   0,   0,   2});                                   // characters
  ASSERT_GT(layout.header().size(), expected.size());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), layout.header().begin()));
}

TEST(PerRankLayout, TheLastColumnEndsWithTheFirstRecord) {
  const PerRankLayout layout("a-run", 258);
  const std::vector<std::byte>& header = layout.header();
  EXPECT_EQ(header.size() % 4, 0U);
  const std::uint64_t column_bytes = number_at(header, header.size() - 12, 4);
  EXPECT_EQ(column_bytes, 258U * 8);
  EXPECT_EQ(number_at(header, header.size() - 8, 8) + column_bytes, layout.record_offset(1));
  EXPECT_EQ(layout.record_bytes(), PerRankLayout::phase_bytes + 258 * (4 + 10 * 8));
}

TEST(PerRankLayout, HoldsMoreThan4GiBInAFile) {
  const PerRankLayout layout("a-run", 100'000'000);
  EXPECT_GT(number_at(layout.header(), layout.header().size() - 8, 8), std::uint64_t{1} << 32);
}

TEST(PerRankLayout, ARecordHasThePhaseAndThenColumns) {
  const PerRankLayout layout("a-run", 5);
  const std::vector<std::byte> record = record_of(layout, {0});
  constexpr std::array<std::uint64_t, 6> numbers{3, 2, 1, 1, static_cast<std::uint64_t>(Operation::read), 4};
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(number_at(record, 4 * i, 4), numbers[i]) << i;
  for (std::size_t rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(number_at(record, 24 + 4 * rank, 4), rank < 4 ? 7U : 0xffffffffU);  // -1: no part
    const auto bytes = std::bit_cast<double>(number_at(record, 44 + 8 * rank, 8));
    const auto system_s = std::bit_cast<double>(number_at(record, record.size() - 40 + 8 * rank, 8));
    if (rank == 4) EXPECT_TRUE(std::isnan(bytes) && std::isnan(system_s));
    else EXPECT_EQ(std::pair(bytes, system_s), std::pair(100.0 + static_cast<double>(rank), 0.5));
  }
}

TEST(PerRankLayout, PartsOfSeveralWritersMakeTheSameRecord) {
  const PerRankLayout layout("a-run", 5);
  EXPECT_EQ(record_of(layout, {0, 1, 3}), record_of(layout, {0}));
}

TEST(PerRankLayout, FindsTheRepetitionOfARecord) {
  const PerRankLayout layout("a-run", 5);
  const auto found = PerRankLayout::repetition_of(record_of(layout, {0}));
  EXPECT_EQ(found.case_number, 3U);
  EXPECT_EQ(found.repetition, 2U);
}

TEST(PerRankLayout, ReadsTheNumberOfRecordsThatItWrites) {
  std::vector<std::byte> header = PerRankLayout("a-run", 5).header();
  EXPECT_EQ(PerRankLayout::records_of(header), 0U);
  std::ranges::copy(PerRankLayout::records_field(70000), header.begin() + PerRankLayout::records_offset);
  EXPECT_EQ(PerRankLayout::records_of(header), 70000U);
}

}  // namespace
}  // namespace strider
