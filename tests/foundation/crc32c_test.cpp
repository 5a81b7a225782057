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

TEST(Crc32c, OfLongBytesIsThatOfThePolynomial) {
  std::mt19937_64 random(7);
  std::vector<std::byte> bytes(20000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (std::size_t length : {503, 504, 505, 1008, 4079, 4080, 4081, 4096, 8192, 19000}) {
    const std::size_t begin = random() % 100;
    const auto part = std::span<const std::byte>(bytes).subspan(begin, length);
    EXPECT_EQ(crc32c(part), slowly(part)) << length;
  }
}

}  // namespace
}  // namespace strider
