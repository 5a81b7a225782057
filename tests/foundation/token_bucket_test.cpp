#include "foundation/token_bucket.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace strider {
namespace {

constexpr Deadline start{std::chrono::hours(1)};

TEST(TokenBucketTest, WithoutALimitEverythingIsDoneAtOnce) {
  TokenBucket bucket(0);
  EXPECT_EQ(bucket.take(std::uint64_t{1} << 40, start), start);
  EXPECT_EQ(bucket.take(1, start), start);
}

// proves listio: replies-held-back, rate-does-not-block
TEST(TokenBucketTest, WhatIsAskedForTogetherIsDoneOneAfterTheOther) {
  TokenBucket bucket(1000);
  EXPECT_EQ(bucket.take(500, start), start - TokenBucket::burst + std::chrono::milliseconds(500));
  EXPECT_EQ(bucket.take(250, start), start - TokenBucket::burst + std::chrono::milliseconds(750));
  const Deadline later = start + std::chrono::milliseconds(700);
  EXPECT_EQ(bucket.take(1000, later), start - TokenBucket::burst + std::chrono::milliseconds(1750));
}

// proves listio: rate-bucket
TEST(TokenBucketTest, MakesUpForShortGapsAndNotForLongOnes) {
  TokenBucket bucket(1000);
  Deadline now = start, done;
  for (int i = 0; i < 100; ++i) {  // each asked for when the one before is done, and 5 ms later
    done = bucket.take(100, now);
    now = std::max(done, now) + std::chrono::milliseconds(5);
  }
  EXPECT_EQ(done, start - TokenBucket::burst + std::chrono::milliseconds(10'000));
  now = done + std::chrono::hours(1);
  EXPECT_EQ(bucket.take(100, now), now - TokenBucket::burst + std::chrono::milliseconds(100));
}

}  // namespace
}  // namespace strider
