#pragma once
#include <bit>
#include <cstdint>

namespace strider {

/// SplitMix64's output function (Steele, Lea, Flood, OOPSLA 2014): turns any number into well mixed bits.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// A number that depends on all of its arguments and on their order.
template <typename... Numbers>
constexpr std::uint64_t hash_numbers(Numbers... numbers) {
  std::uint64_t hash = 0x5354524944455200ULL;
  ((hash = mix64(hash ^ static_cast<std::uint64_t>(numbers))), ...);
  return hash;
}

/// `bits` (uniform over 64 bits) mapped to 0 … `bound` - 1 by multiplication (Lemire 2019; bias below bound / 2^64).
constexpr std::uint64_t below(std::uint64_t bits, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
}

/// A seeded permutation of 0 … n-1 in O(1) memory: a Feistel network (Luby, Rackoff 1988) on pairs (high, low) with low
/// below a power of two and high below the smallest number that makes the pairs at least n. Their excess over n is a
/// fraction of about 1 / sqrt(n), so that hardly a value has to be sent through again (cycle walking).
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed)
      : n_(n), low_bits_(n > 1 ? static_cast<unsigned>(std::bit_width(n - 1)) / 2 : 0) {
    low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
    highs_ = n == 0 ? 0 : ((n - 1) >> low_bits_) + 1;
    for (unsigned round = 0; round < most_rounds; ++round) key_[round] = hash_numbers(seed, round);
  }

  std::uint64_t operator()(std::uint64_t x) const {
    do x = once<most_rounds>(x, 0);
    while (x >= n_);
    return x;
  }

  /// `x` in another permutation of the same numbers, one for each well mixed `key`: of four rounds, which is enough to
  /// look random, and quicker; and turned by `key`, so that over many keys a number comes everywhere equally often.
  std::uint64_t variant(std::uint64_t x, std::uint64_t key) const {
    do x = once<4>(x, key);
    while (x >= n_);
    x += below(key, n_);
    return x >= n_ ? x - n_ : x;
  }
  /// The y with (*this)(y) = x.
  std::uint64_t inverse(std::uint64_t x) const {
    do x = once_back(x);
    while (x >= n_);
    return x;
  }

 private:
  static constexpr unsigned most_rounds = 6;

  static constexpr std::uint64_t scramble(std::uint64_t x) {
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    return x * 0x9e3779b97f4a7c15ULL;
  }
  template <unsigned rounds>
  std::uint64_t once(std::uint64_t x, std::uint64_t key) const {
    std::uint64_t high = x >> low_bits_, low = x & low_mask_;
    for (unsigned round = 0; round < rounds; round += 2) {
      low ^= (scramble(high + key_[round] + key) >> 32) & low_mask_;
      high += below(scramble(low + key_[round + 1] + key), highs_);
      high = high >= highs_ ? high - highs_ : high;
    }
    return (high << low_bits_) | low;
  }

  std::uint64_t once_back(std::uint64_t x) const {
    std::uint64_t high = x >> low_bits_, low = x & low_mask_;
    for (unsigned round = most_rounds; round > 0; round -= 2) {
      const std::uint64_t added = below(scramble(low + key_[round - 1]), highs_);
      high = high >= added ? high - added : high + highs_ - added;
      low ^= (scramble(high + key_[round - 2]) >> 32) & low_mask_;
    }
    return (high << low_bits_) | low;
  }

  std::uint64_t n_;
  unsigned low_bits_;
  std::uint64_t low_mask_ = 0;
  std::uint64_t highs_ = 0;
  std::uint64_t key_[most_rounds]{};
};

}  // namespace strider
