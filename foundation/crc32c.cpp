#include "foundation/crc32c.hpp"

#include <array>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

// --- folding ---
//
// The bytes are a polynomial, and a register of 128 bits is a part of it. It is moved by `bits` places as its low half
// times x^(bits + 32) plus its high half times x^(bits - 32), modulo the CRC's polynomial: both are carry-less
// products. (The bits are reflected; 32 places are in the product.)

/// The reflected x^power modulo the polynomial, as a factor.
constexpr long long factor(std::size_t power) {
  std::uint32_t value = std::uint32_t{1} << 31;
  for (std::size_t i = 0; i < power; ++i) value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
  const std::uint64_t shifted = std::uint64_t{value} << 1;
  return static_cast<long long>(shifted);
}

struct MoveBy {
  long long low = 0, high = 0;
  constexpr explicit MoveBy(std::size_t bits) : low(factor(bits + 32)), high(factor(bits - 32)) {}
};

constexpr std::size_t register_bytes = 64, fold_bytes = 4 * register_bytes;
constexpr std::size_t fewest_folded = 2 * fold_bytes;

#define STRIDER_FOLDING __attribute__((target("avx512f,avx512vl,vpclmulqdq,pclmul,sse4.2")))

STRIDER_FOLDING inline __m512i load(const std::byte* bytes) { return _mm512_loadu_si512(bytes); }

/// `moved` by the places of `by`, plus `next`.
STRIDER_FOLDING inline __m512i fold(__m512i moved, __m512i by, __m512i next) {
  constexpr int exclusive_or = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(moved, by, 0x00), _mm512_clmulepi64_epi128(moved, by, 0x11),
                                   next, exclusive_or);
}
template <std::size_t bits>
STRIDER_FOLDING inline __m512i move_by() {
  constexpr MoveBy by(bits);
  return _mm512_set_epi64(by.high, by.low, by.high, by.low, by.high, by.low, by.high, by.low);
}

/// The checksum's register after the 64 bytes in `all`, if it was 0 before.
STRIDER_FOLDING inline std::uint32_t reduce(__m512i all) {
  constexpr MoveBy by_three(384), by_two(256), by_one(128);
  // Each quarter is moved to the last one, which stays as it is.
  const __m512i by =
      _mm512_set_epi64(0, 0, by_one.high, by_one.low, by_two.high, by_two.low, by_three.high, by_three.low);
  const __m512i last = _mm512_maskz_mov_epi64(0xc0, all);
  const __m512i moved = fold(all, by, last);
  std::array<std::uint64_t, register_bytes / sizeof(std::uint64_t)> words;
  _mm512_storeu_si512(words.data(), moved);
  const std::uint64_t first = __builtin_ia32_crc32di(0, words[0] ^ words[2] ^ words[4] ^ words[6]);
  return static_cast<std::uint32_t>(__builtin_ia32_crc32di(first, words[1] ^ words[3] ^ words[5] ^ words[7]));
}

/// 256 bytes at a time, in four registers.
STRIDER_FOLDING std::uint32_t by_folding(std::span<const std::byte> bytes, std::uint32_t value) {
  if (bytes.size() < fewest_folded) return by_instruction(bytes, value);
  __m512i parts[4];
  for (std::size_t i = 0; i < 4; ++i) parts[i] = load(bytes.data() + i * register_bytes);
  parts[0] = _mm512_xor_si512(parts[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(value))));
  bytes = bytes.subspan(fold_bytes);
  const __m512i by_all = move_by<8 * fold_bytes>();
  for (; bytes.size() >= fold_bytes; bytes = bytes.subspan(fold_bytes))
    for (std::size_t i = 0; i < 4; ++i) parts[i] = fold(parts[i], by_all, load(bytes.data() + i * register_bytes));
  const __m512i first_two = fold(parts[0], move_by<8 * register_bytes>(), parts[1]);
  const __m512i last_two = fold(parts[2], move_by<8 * register_bytes>(), parts[3]);
  return by_instruction(bytes, reduce(fold(first_two, move_by<16 * register_bytes>(), last_two)));
}
#endif

template <std::uint32_t (*way)(std::span<const std::byte>, std::uint32_t)>
std::uint32_t complete(std::span<const std::byte> bytes, std::uint32_t before) {
  return ~way(bytes, ~before);
}

std::vector<Crc32cWay> find_ways() {
  std::vector<Crc32cWay> ways;
#if defined(__x86_64__)
  const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  const bool has_folding = has_instruction && __builtin_cpu_supports("pclmul") != 0 &&
                           __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                           __builtin_cpu_supports("vpclmulqdq") != 0;
  if (has_folding) ways.push_back({"folding", complete<by_folding>});
  if (has_instruction) ways.push_back({"instruction", complete<by_instruction>});
#endif
  ways.push_back({"table", complete<by_table>});
  return ways;
}

}  // namespace

std::span<const Crc32cWay> crc32c_ways() {
  static const std::vector<Crc32cWay> ways = find_ways();
  return ways;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  static const auto fastest = crc32c_ways().front().compute;
  return fastest(bytes, before);
}

}  // namespace strider
