#include "operations/pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/clock.hpp"
#include "operations/visit_loop.hpp"
#include "operations/work.hpp"

namespace strider {
namespace {

TEST(Pace, WithoutALimitThereIsNone) { EXPECT_FALSE(Pace(0, 0, 4, 123).limited()); }

TEST(Pace, RequestsComeAtEqualIntervals) {
  Pace pace(1000, 0, 1, 5'000'000);
  EXPECT_TRUE(pace.limited());
  for (std::uint64_t k = 0; k < 2000; ++k, pace.issued()) ASSERT_EQ(pace.next_ns(), 5'000'000 + k * 1'000'000);
}

TEST(Pace, RanksTakeTurnsAndKeepTheRateTogether) {
  for (const std::uint64_t rate : {1ULL, 7ULL, 300ULL, 1'000'000ULL, 1'000'000'000'000ULL})
    for (const std::uint32_t ranks : {1U, 2U, 3U, 64U}) {
      constexpr std::uint64_t each = 100;
      std::vector<std::uint64_t> times;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        Pace pace(rate, rank, ranks, 1'000'000);
        for (std::uint64_t k = 0; k < each; ++k, pace.issued()) times.push_back(pace.next_ns());
      }
      std::ranges::sort(times);
      for (std::size_t k = 0; k < times.size(); ++k) {
        const double wanted = 1e6 + 1e9 * static_cast<double>(k) / static_cast<double>(rate);
        ASSERT_NEAR(static_cast<double>(times[k]), wanted, 2 + 1e-9 * wanted) << rate << " by " << ranks;
      }
    }
}

TEST(Pace, IsAsExactOnAMachineThatHasBeenUpForAYear) {
  constexpr std::uint64_t year_ns = 365ULL * 86'400 * 1'000'000'000;
  Pace pace(1'000'000, 0, 1, year_ns);
  for (std::uint64_t k = 0; k < 1000; ++k, pace.issued())
    ASSERT_NEAR(static_cast<double>(pace.next_ns() - year_ns), static_cast<double>(k) * 1000, 10);
}

TEST(Waiting, EndsNeverBeforeItsTime) {
  for (const std::uint64_t span_ns : {0ULL, 1'000ULL, 50'000ULL, 100'000ULL, 3'000'000ULL}) {
    const std::uint64_t time = monotonic_ns() + span_ns;
    ASSERT_TRUE(wait_until(time, 1'000'000'000));
    EXPECT_GE(monotonic_ns(), time);
  }
}

TEST(Waiting, LastsNoLongerThanItMayAtOnce) {
  constexpr std::uint64_t hour_ns = 3'600'000'000'000;
  EXPECT_FALSE(wait_until(monotonic_ns() + hour_ns, 1'000'000));
}

TEST(Waiting, ForWhatHasComeTakesNone) { EXPECT_TRUE(wait_until(monotonic_ns() - 1, 0)); }

struct VisitLoopTest : testing::Test {
  Stop run(std::uint64_t last, std::uint64_t deadline_ticks, Pace pace = Pace(0, 0, 1, 0)) {
    return loop.run(last, deadline_ticks, pace, [this](std::uint64_t number) {
      visited.push_back(number);
      times_ns.push_back(monotonic_ns());
      return timer.from_ns(1000);
    });
  }
  static constexpr std::uint64_t long_ago = 1;  ///< a deadline that has passed
  Timer timer;
  Tally tally;
  PatientWatch watch;
  VisitLoop loop{timer, tally, watch};
  std::vector<std::uint64_t> visited, times_ns;
};
using Visited = std::vector<std::uint64_t>;

TEST_F(VisitLoopTest, VisitsOneAfterTheOtherAndCounts) {
  EXPECT_EQ(run(4, 0), Stop::finished);
  EXPECT_EQ(visited, (Visited{0, 1, 2, 3}));
  EXPECT_EQ(tally.requests, 4U);
  EXPECT_EQ(tally.latency_ns.count(), 4U);
  EXPECT_NEAR(static_cast<double>(tally.latency_ns.maximum()), 1000, 10);
}

TEST_F(VisitLoopTest, GoesOnWhereItStopped) {
  EXPECT_EQ(run(2, 0), Stop::finished);
  EXPECT_EQ(run(2, 0), Stop::finished);
  EXPECT_EQ(run(3, 0), Stop::finished);
  EXPECT_EQ(visited, (Visited{0, 1, 2}));
}

TEST_F(VisitLoopTest, StopsAtItsDeadlineAfterOneRequestAtLeast) {
  EXPECT_EQ(run(4, long_ago), Stop::deadline);
  EXPECT_EQ(visited, (Visited{0}));
  EXPECT_EQ(run(2, long_ago), Stop::finished) << "the deadline came with the last one";
}

TEST_F(VisitLoopTest, MakesItsRequestAlsoWhereItsFirstTurnComesAfterTheDeadline) {
  const std::uint64_t begin = monotonic_ns();
  EXPECT_EQ(run(4, long_ago, Pace(100, 1, 2, begin)), Stop::deadline);
  ASSERT_EQ(visited, (Visited{0}));
  EXPECT_GE(times_ns[0], begin + 10'000'000) << "the second of two ranks, 100 requests per second";
}

TEST_F(VisitLoopTest, IssuesNoRequestBeforeItsTurn) {
  const std::uint64_t begin = monotonic_ns();
  run(50, 0, Pace(5000, 0, 1, begin));
  ASSERT_EQ(times_ns.size(), 50U);
  for (std::size_t k = 0; k < 50; ++k) ASSERT_GE(times_ns[k], begin + k * 200'000);
}

TEST_F(VisitLoopTest, MakesUpForTimeThatOneRequestTook) {
  const std::uint64_t begin = monotonic_ns() - 1'000'000'000;  // as if it had been busy for a second
  run(100, 0, Pace(100, 0, 1, begin));
  EXPECT_EQ(visited.size(), 100U) << "all of their turns have come";
}

TEST_F(VisitLoopTest, IsEndedByItsWatchAlsoWhileItWaits) {
  watch.allowed = 2;
  EXPECT_EQ(run(4, 0, Pace(1, 1, 1000, monotonic_ns() + 3'600'000'000'000)), Stop::ended);
  EXPECT_TRUE(visited.empty());
  EXPECT_EQ(watch.looks, 3);
}

}  // namespace
}  // namespace strider
