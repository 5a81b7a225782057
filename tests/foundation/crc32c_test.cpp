#include "foundation/crc32c.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace strider {
namespace {

std::uint32_t of(std::string_view text) { return crc32c(std::as_bytes(std::span(text))); }

/// RFC 3720, appendix B.4.
TEST(Crc32c, IsThatOfPublishedExamples) {
  EXPECT_EQ(of(""), 0U);
  EXPECT_EQ(of("123456789"), 0xe3069283U);
  std::vector<std::byte> bytes(32);
  EXPECT_EQ(crc32c(bytes), 0x8a9136aaU);
  for (std::byte& byte : bytes) byte = std::byte{0xff};
  EXPECT_EQ(crc32c(bytes), 0x62a8ab43U);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(bytes), 0x46dd794eU);
}

TEST(Crc32c, OfPartsIsThatOfTheWhole) {
  const std::string_view text = "the quick brown fox jumps over the lazy dog";
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut)
    EXPECT_EQ(crc32c(bytes.subspan(cut), crc32c(bytes.first(cut))), crc32c(bytes)) << cut;
}

/// Bit by bit, as the polynomial says.
std::uint32_t slowly(std::span<const std::byte> bytes) {
  std::uint32_t value = ~std::uint32_t{0};
  for (const std::byte byte : bytes) {
    value ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78U : 0U);
  }
  return ~value;
}

/// In each way that this processor has.
TEST(Crc32c, OfAnyLengthAndPlaceIsThatOfThePolynomial) {
  std::mt19937_64 random(7);
  std::vector<std::byte> bytes(20000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  std::vector<std::size_t> lengths{503, 504, 505, 4079, 4080, 4081, 8192, 19000};
  for (std::size_t length = 0; length < 1100; length += 1 + length / 64) lengths.push_back(length);
  for (std::size_t fold = 256; fold <= 4096; fold += 256) lengths.insert(lengths.end(), {fold - 1, fold, fold + 1});
  ASSERT_FALSE(crc32c_ways().empty());
  for (const Crc32cWay& way : crc32c_ways())
    for (const std::size_t length : lengths) {
      const std::size_t begin = random() % 100, cut = random() % (length + 1);
      const auto part = std::span<const std::byte>(bytes).subspan(begin, length);
      const std::uint32_t expected = slowly(part);
      EXPECT_EQ(way.compute(part, 0), expected) << way.name << ", " << length;
      EXPECT_EQ(way.compute(part.subspan(cut), way.compute(part.first(cut), 0)), expected)
          << way.name << ", " << length << " after " << cut;
    }
}

TEST(Crc32c, HasATableForAllProcessors) { EXPECT_STREQ(crc32c_ways().back().name, "table"); }

}  // namespace
}  // namespace strider
