#include "foundation/pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "foundation/clock.hpp"

namespace strider {
namespace {

/// Nanoseconds from the beginning to each of the first requests of a rank.
std::vector<double> times_of(const Load& load, std::size_t requests, std::uint64_t amount = 1) {
  static const Timer timer;
  constexpr std::uint64_t begin = 1'000'000'000'000;
  Pace pace(load, timer, begin);
  std::vector<double> times;
  for (; times.size() < requests; pace.issue(amount))
    times.push_back(static_cast<double>(pace.due() - begin) * timer.ns_per_tick());
  return times;
}

/// The part of `rank` in a rate that equal ranks share.
Load part(double rate, std::uint32_t rank, std::uint32_t ranks, Arrivals arrivals = Arrivals::closed) {
  return {.arrivals = arrivals, .per_s = rate / ranks, .rank = rank, .ranks = ranks};
}

TEST(Pace, WithoutALimitThereIsNone) {
  const Timer timer;
  EXPECT_FALSE(Pace(timer).limited());
  EXPECT_FALSE(Pace({}, timer, timer.now()).limited());
}

// proves measuring: arrivals, arrival-rate, fixed-arrivals, poisson-arrivals
TEST(Pace, RanksTakeTurnsAndKeepTheRateTogether) {
  for (const Arrivals arrivals : {Arrivals::closed, Arrivals::fixed})
    for (const double rate : {1., 7., 300., 1e6, 1e9})
      for (const std::uint32_t ranks : {1U, 2U, 3U, 64U}) {
        std::vector<double> times;
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
          for (const double time : times_of(part(rate, rank, ranks, arrivals), 100)) times.push_back(time);
        std::ranges::sort(times);
        for (std::size_t k = 0; k < times.size(); ++k) {
          const double wanted = 1e9 * static_cast<double>(k) / rate;
          ASSERT_NEAR(times[k], wanted, 2 + 1e-9 * wanted) << rate << " by " << ranks;
        }
      }
}

// proves measuring: rate-limit, time-of-request, issued-on-time
TEST(Pace, BytesArePaidForBeforeTheNextAreIssued) {
  const std::vector<double> times = times_of({.per_s = 1e6}, 4, 5000);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(times[k], static_cast<double>(k) * 5e6, 2);
}

TEST(Pace, IsAsExactOnAMachineThatHasBeenUpForAYear) {
  constexpr std::uint64_t year = 365ULL * 86'400 * 1'000'000'000 * 3;
  const Timer timer;
  Pace pace({.per_s = 1e6}, timer, year);
  for (std::uint64_t k = 0; k < 1000; ++k, pace.issue())
    ASSERT_NEAR(static_cast<double>(pace.due() - year) * timer.ns_per_tick(), static_cast<double>(k) * 1000, 10);
}

// proves measuring: spins, issued-late
TEST(Waiting, EndsNeverBeforeItsTime) {
  const Timer timer;
  for (const std::uint64_t span_ns : {0ULL, 1'000ULL, 50'000ULL, 100'000ULL, 3'000'000ULL}) {
    const std::uint64_t time = timer.now() + timer.from_ns(span_ns);
    ASSERT_TRUE(wait_until(timer, time, 1'000'000'000));
    EXPECT_GE(timer.now(), time);
  }
}

// proves measuring: waits-checked
TEST(Waiting, LastsNoLongerThanItMayAtOnce) {
  const Timer timer;
  EXPECT_FALSE(wait_until(timer, timer.now() + timer.from_ns(3'600'000'000'000), 1'000'000));
}

TEST(Waiting, ForWhatHasComeTakesNone) {
  const Timer timer;
  EXPECT_TRUE(wait_until(timer, timer.now() - 1, 0));
}

}  // namespace
}  // namespace strider
