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

/// A seeded permutation of 0 … n-1 in O(1) memory: bijective rounds on the smallest power of two that holds n, repeated
/// (cycle walking) until the value is below n; fewer than two steps on average.
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed)
      : n_(n), bits_(n > 1 ? static_cast<unsigned>(std::bit_width(n - 1)) : 0) {
    mask_ = bits_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_) - 1;
    shift_ = bits_ > 1 ? bits_ / 2 : 1;
    for (unsigned round = 0; round < rounds; ++round) {
      multiplier_[round] = hash_numbers(seed, round, 1) | 1;
      addend_[round] = hash_numbers(seed, round, 2);
    }
  }

  std::uint64_t operator()(std::uint64_t x) const {
    if (n_ <= 1) return x;
    do {
      for (unsigned round = 0; round < rounds; ++round) {
        x = (x * multiplier_[round] + addend_[round]) & mask_;
        x ^= x >> shift_;
      }
    } while (x >= n_);
    return x;
  }

 private:
  static constexpr unsigned rounds = 4;
  std::uint64_t n_;
  unsigned bits_;
  unsigned shift_ = 1;
  std::uint64_t mask_ = 0;
  std::uint64_t multiplier_[rounds]{};
  std::uint64_t addend_[rounds]{};
};

}  // namespace strider
