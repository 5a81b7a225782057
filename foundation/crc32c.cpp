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
/// What the checksum's register becomes after `lane` bytes of zeros, by the register's four bytes.
class ZerosAfter {
 public:
  constexpr explicit ZerosAfter(std::size_t lane) {
    std::array<std::uint32_t, 32> of_bit{};
    for (std::size_t bit = 0; bit < of_bit.size(); ++bit) {
      std::uint32_t value = std::uint32_t{1} << bit;
      for (std::size_t i = 0; i < lane; ++i) value = (value >> 8) ^ table[value & 0xff];
      of_bit[bit] = value;
    }
    for (std::size_t byte = 0; byte < by_byte_.size(); ++byte)
      for (std::size_t value = 0; value < 256; ++value)
        for (std::size_t bit = 0; bit < 8; ++bit)
          if ((value >> bit & 1) != 0) by_byte_[byte][value] ^= of_bit[8 * byte + bit];
  }
  std::uint32_t operator()(std::uint32_t value) const {
    return by_byte_[0][value & 0xff] ^ by_byte_[1][value >> 8 & 0xff] ^ by_byte_[2][value >> 16 & 0xff] ^
           by_byte_[3][value >> 24];
  }

 private:
  std::array<std::array<std::uint32_t, 256>, 4> by_byte_{};
};

/// The instruction takes three cycles, and a new one can begin in each: three lanes at a time hide that.
template <std::size_t lane>
__attribute__((target("sse4.2"))) std::uint32_t in_lanes(std::span<const std::byte>& bytes, std::uint32_t value) {
  static constexpr ZerosAfter zeros_after(lane);
  static_assert(lane % sizeof(std::uint64_t) == 0);
  while (bytes.size() >= 3 * lane) {
    std::uint64_t first = value, second = 0, third = 0;
    for (std::size_t i = 0; i < lane; i += sizeof(std::uint64_t)) {
      std::array<std::uint64_t, 3> words{};
      std::memcpy(&words[0], bytes.data() + i, sizeof words[0]);
      std::memcpy(&words[1], bytes.data() + lane + i, sizeof words[1]);
      std::memcpy(&words[2], bytes.data() + 2 * lane + i, sizeof words[2]);
      first = __builtin_ia32_crc32di(first, words[0]);
      second = __builtin_ia32_crc32di(second, words[1]);
      third = __builtin_ia32_crc32di(third, words[2]);
    }
    value = zeros_after(zeros_after(static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second)) ^
            static_cast<std::uint32_t>(third);
    bytes = bytes.subspan(3 * lane);
  }
  return value;
}

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes, std::uint32_t value) {
  value = in_lanes<1360>(bytes, value);  // three of them in a page
  value = in_lanes<168>(bytes, value);
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
