#include "foundation/crc32c.hpp"

#include <array>
#include <cstring>

namespace strider {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
    table[byte] = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> table = make_table();

constexpr std::uint32_t by_table(std::span<const std::byte> bytes, std::uint32_t value) {
  for (const std::byte byte : bytes)
    value = (value >> 8) ^ table[(value ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  return value;
}

/// Machines with the instruction never take this way, so its result is shown here.
constexpr bool is_right() {
  constexpr std::array digits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  std::array<std::byte, digits.size()> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(digits[i]);
  return ~by_table(bytes, ~std::uint32_t{0}) == 0xe3069283;
}
static_assert(is_right());

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes, std::uint32_t value) {
  std::uint64_t wide = value;
  while (bytes.size() >= sizeof wide) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    wide = __builtin_ia32_crc32di(wide, word);
    bytes = bytes.subspan(sizeof word);
  }
  value = static_cast<std::uint32_t>(wide);
  for (const std::byte byte : bytes) value = __builtin_ia32_crc32qi(value, std::to_integer<unsigned char>(byte));
  return value;
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~by_instruction(bytes, ~before);
#endif
  return ~by_table(bytes, ~before);
}

}  // namespace strider
