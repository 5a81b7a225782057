#include "foundation/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace strider {
namespace {

std::vector<std::uint64_t> images(std::uint64_t n, std::uint64_t seed) {
  const Permutation permutation(n, seed);
  std::vector<std::uint64_t> result;
  for (std::uint64_t x = 0; x < n; ++x) result.push_back(permutation(x));
  return result;
}

TEST(Permutation, HitsEveryNumberOnceForEverySize) {
  for (std::uint64_t n = 1; n <= 3000; ++n) {
    std::vector<bool> hit(n, false);
    for (const std::uint64_t y : images(n, n)) {
      ASSERT_LT(y, n);
      ASSERT_FALSE(hit[y]) << "n = " << n << ", image " << y;
      hit[y] = true;
    }
  }
}

TEST(Permutation, HasAnInverse) {
  for (std::uint64_t n = 1; n < 300; ++n) {
    const Permutation permutation(n, n);
    for (std::uint64_t x = 0; x < n; ++x) ASSERT_EQ(permutation.inverse(permutation(x)), x);
  }
}

TEST(Permutation, HitsEveryNumberOnceAroundPowersOfTwo) {
  for (const std::uint64_t n : {65535ULL, 65536ULL, 65537ULL, 131071ULL, 262145ULL}) {
    std::vector<bool> hit(n, false);
    for (const std::uint64_t y : images(n, 7)) {
      ASSERT_LT(y, n);
      ASSERT_FALSE(hit[y]);
      hit[y] = true;
    }
  }
}

TEST(Permutation, StaysBelowItsSizeAndDiffersForNumbersThatNeed62Bits) {
  const std::uint64_t n = (std::uint64_t{1} << 62) - 57;
  const Permutation permutation(n, 1);
  std::set<std::uint64_t> seen;
  for (std::uint64_t x = 0; x < 10000; ++x) {
    const std::uint64_t y = permutation(n / 10000 * x);
    ASSERT_LT(y, n);
    seen.insert(y);
  }
  EXPECT_EQ(seen.size(), 10000U);
}

TEST(Permutation, ItsSeedDecides) {
  EXPECT_EQ(images(1000, 5), images(1000, 5));
  EXPECT_NE(images(1000, 5), images(1000, 6));
}

TEST(Permutation, GivesEveryArrangementOfThreeBySomeSeed) {
  std::set<std::vector<std::uint64_t>> arrangements;
  for (std::uint64_t seed = 0; seed < 200; ++seed) arrangements.insert(images(3, seed));
  EXPECT_EQ(arrangements.size(), 6U);
}

TEST(Permutation, ItsStepsAreNotThoseOfAWalk) {
  // In a random arrangement of 10 000 numbers a step from one to the next larger is expected once.
  const std::vector<std::uint64_t> order = images(10000, 3);
  int neighbours = 0;
  for (std::size_t i = 1; i < order.size(); ++i) neighbours += order[i] == order[i - 1] + 1 ? 1 : 0;
  EXPECT_LT(neighbours, 12);
}

TEST(Permutation, SpreadsEveryPartOverTheWhole) {
  // Each tenth of the arguments has about a tenth of its images in each tenth: 1000 expected, standard deviation 30.
  const std::vector<std::uint64_t> order = images(100000, 11);
  for (std::size_t part = 0; part < 10; ++part) {
    std::vector<int> counts(10);
    for (std::size_t i = 0; i < 10000; ++i) ++counts[order[part * 10000 + i] / 10000];
    for (const int count : counts) EXPECT_NEAR(count, 1000, 180);
  }
}

TEST(Permutation, ItsVariantsArePermutationsToo) {
  for (std::uint64_t n = 1; n <= 300; ++n) {
    const Permutation permutation(n, n);
    for (const std::uint64_t key : {std::uint64_t{0}, mix64(1), mix64(2)}) {
      std::set<std::uint64_t> seen;
      for (std::uint64_t x = 0; x < n; ++x) {
        const std::uint64_t y = permutation.variant(x, key);
        ASSERT_LT(y, n);
        seen.insert(y);
      }
      ASSERT_EQ(seen.size(), n);
    }
  }
}

TEST(Permutation, ItsVariantsGiveAllArrangementsOfFourAboutEquallyOften) {
  const Permutation permutation(4, 1);
  std::map<std::vector<std::uint64_t>, int> counts;
  for (std::uint64_t number = 0; number < 24000; ++number) {
    std::vector<std::uint64_t> arrangement;
    for (std::uint64_t x = 0; x < 4; ++x) arrangement.push_back(permutation.variant(x, mix64(number)));
    ++counts[arrangement];
  }
  EXPECT_EQ(counts.size(), 24U);
  for (const auto& [arrangement, count] : counts) EXPECT_NEAR(count, 1000, 500);
}

TEST(Below, MapsBitsEvenlyAndStaysBelow) {
  EXPECT_EQ(below(0, 10), 0U);
  EXPECT_EQ(below(~std::uint64_t{0}, 10), 9U);
  EXPECT_EQ(below(~std::uint64_t{0}, 1), 0U);
  EXPECT_EQ(below(std::uint64_t{1} << 63, 10), 5U);
  std::mt19937_64 random(1);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[below(random(), 7)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 600);
}

TEST(Hash, DependsOnEveryNumberAndOnTheirOrder) {
  EXPECT_EQ(hash_numbers(1, 2, 3), hash_numbers(1, 2, 3));
  EXPECT_NE(hash_numbers(1, 2, 3), hash_numbers(3, 2, 1));
  EXPECT_NE(hash_numbers(1, 2, 3), hash_numbers(1, 2, 4));
  EXPECT_NE(hash_numbers(1, 2), hash_numbers(1, 2, 0));
}

TEST(Hash, ChangesHalfOfItsBitsWhenOneBitOfTheInputChanges) {
  double changed = 0;
  int tries = 0;
  for (std::uint64_t x = 0; x < 50; ++x)
    for (unsigned bit = 0; bit < 64; ++bit, ++tries)
      changed += std::popcount(hash_numbers(x) ^ hash_numbers(x ^ (std::uint64_t{1} << bit)));
  EXPECT_NEAR(changed / tries, 32, 0.5);
}

// SplitMix64 with seed 0 as published: https://prng.di.unimi.it/splitmix64.c
TEST(Hash, MixIsSplitMix64) {
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);
}

}  // namespace
}  // namespace strider
