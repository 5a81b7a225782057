#include "foundation/crc32c.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace strider
