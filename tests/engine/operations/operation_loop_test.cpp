#include "operations/operation_loop.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "foundation/clock.hpp"
#include "foundation/pace.hpp"
#include "operations/work.hpp"

namespace strider {
namespace {

/// The part of `rank` in a rate that equal ranks share.
Load part(double rate, std::uint32_t rank, std::uint32_t ranks, Arrivals arrivals = Arrivals::closed) {
  return {.arrivals = arrivals, .per_s = rate / ranks, .rank = rank, .ranks = ranks};
}

struct OperationLoopTest : testing::Test {
  Stop run(std::uint64_t last, std::uint64_t deadline_ticks) { return run(last, deadline_ticks, Pace(timer)); }
  Stop run(std::uint64_t last, std::uint64_t deadline_ticks, Pace pace) {
    return loop.run(last, deadline_ticks, pace, [this](std::uint64_t number, std::uint64_t waited) {
      executed.push_back(number);
      times.push_back(timer.now());
      return waited + timer.from_ns(1000);
    });
  }
  Timer timer;
  Tally tally;
  PatientWatch watch;
  OperationLoop loop{timer, tally, watch};
  std::vector<std::uint64_t> executed, times;
};
using Numbers = std::vector<std::uint64_t>;

TEST_F(OperationLoopTest, ExecutesOneAfterTheOtherAndCounts) {
  EXPECT_EQ(run(4, 0), Stop::finished);
  EXPECT_EQ(executed, (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(tally.requests, 4U);
  EXPECT_EQ(tally.latency_ns.count(), 4U);
  EXPECT_NEAR(static_cast<double>(tally.latency_ns.maximum()), 1000, 10);
}

TEST_F(OperationLoopTest, GoesOnWhereItStopped) {
  EXPECT_EQ(run(2, 0), Stop::finished);
  EXPECT_EQ(run(2, 0), Stop::finished);
  EXPECT_EQ(run(3, 0), Stop::finished);
  EXPECT_EQ(executed, (Numbers{0, 1, 2}));
}

// proves measuring: deadline, one-request-at-least
TEST_F(OperationLoopTest, StopsAtItsDeadlineAfterOneRequestAtLeast) {
  EXPECT_EQ(run(4, long_ago), Stop::deadline);
  EXPECT_EQ(executed, (Numbers{0}));
  EXPECT_EQ(run(2, long_ago), Stop::finished) << "the deadline came with the last one";
}

TEST_F(OperationLoopTest, MakesItsRequestAlsoWhereItsFirstTurnComesAfterTheDeadline) {
  const std::uint64_t begin = timer.now();
  EXPECT_EQ(run(4, long_ago, Pace(part(100, 1, 2), timer, begin)), Stop::deadline);
  ASSERT_EQ(executed, (Numbers{0}));
  EXPECT_GE(times[0], begin + timer.from_ns(10'000'000) - 1) << "the second of two ranks, 100 requests per second";
}

TEST_F(OperationLoopTest, IssuesNoRequestBeforeItsTurn) {
  const std::uint64_t begin = timer.now();
  run(50, 0, Pace(part(5000, 0, 1), timer, begin));
  ASSERT_EQ(times.size(), 50U);
  for (std::size_t k = 0; k < 50; ++k) ASSERT_GE(times[k], begin + timer.from_ns(k * 200'000) - 1);
}

// proves measuring: rate-limit, time-of-request, issued-on-time
TEST_F(OperationLoopTest, EndsWhenWhatItDidLastIsPaidFor) {
  const std::uint64_t begin = timer.now();
  EXPECT_EQ(run(5, 0, Pace(part(1000, 0, 1), timer, begin)), Stop::finished);
  EXPECT_GE(timer.now(), begin + timer.from_ns(5'000'000) - 1) << "five requests of a thousand per second";
}

TEST_F(OperationLoopTest, PaysForNothingAfterItsDeadline) {
  const std::uint64_t begin = timer.now();
  EXPECT_EQ(run(1, long_ago, Pace({.per_s = 0.001}, timer, begin)), Stop::finished);
  EXPECT_LT(timer.now(), begin + timer.from_ns(500'000'000'000)) << "a thousand seconds for one request";
}

// proves measuring: catches-up
TEST_F(OperationLoopTest, MakesUpForTimeThatOneRequestTook) {
  const std::uint64_t begin = timer.now() - timer.from_ns(1'100'000'000);  // as if it had been busy for a second
  run(100, 0, Pace(part(100, 0, 1), timer, begin));
  EXPECT_EQ(executed.size(), 100U) << "all of their turns have come";
}

// proves measuring: waits-checked
TEST_F(OperationLoopTest, IsEndedByItsWatchAlsoWhileItWaits) {
  watch.allowed = 2;
  EXPECT_EQ(run(4, 0, Pace(part(1, 1, 1000), timer, timer.now() + timer.from_ns(3'600'000'000'000))), Stop::ended);
  EXPECT_TRUE(executed.empty());
  EXPECT_EQ(watch.looks, 3);
}

// proves measuring: latency-from-due, wait-for-client
TEST_F(OperationLoopTest, LatencyCountsFromWhenARequestCameInOpenLoopAlone) {
  const std::uint64_t begin = timer.now() - timer.from_ns(10'000'000'000);
  run(10, 0, Pace(part(10, 0, 1), timer, begin));
  EXPECT_LT(tally.latency_ns.maximum(), 2000U);
  tally = {};
  run(20, 0, Pace(part(10, 0, 1, Arrivals::fixed), timer, begin));
  EXPECT_GT(tally.latency_ns.maximum(), 9'900'000'000U) << "the first one, which came ten seconds ago";
  EXPECT_GT(tally.latency_ns.minimum(), 9'000'000'000U) << "the last of ten, 0.9 s later";
}

}  // namespace
}  // namespace strider
