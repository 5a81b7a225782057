#include "foundation/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace strider {
namespace {

TEST(Timer, NeverGoesBack) {
  const Timer timer;
  std::uint64_t last = timer.now();
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t now = timer.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

// proves measuring: local-latencies
TEST(Timer, AgreesWithClockGettimeWithinOnePercent) {
  Timer timer;
  // Each reading of the timer is between two of the clock, however long the machine takes for the three.
  const std::uint64_t before_begin_ns = monotonic_ns(), begin = timer.now(), after_begin_ns = monotonic_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::uint64_t before_end_ns = monotonic_ns(), end = timer.now(), after_end_ns = monotonic_ns();
  timer.recalibrate();
  const auto found = static_cast<double>(timer.to_ns(end - begin));
  EXPECT_GE(found, 0.99 * static_cast<double>(before_end_ns - after_begin_ns));
  EXPECT_LE(found, 1.01 * static_cast<double>(after_end_ns - before_begin_ns));
}

TEST(Timer, ConvertsThereAndBack) {
  const Timer timer;
  for (const std::uint64_t ns : {1'000ULL, 1'000'000ULL, 3'600'000'000'000ULL}) {
    const auto exact = static_cast<double>(ns);
    EXPECT_NEAR(static_cast<double>(timer.to_ns(timer.from_ns(ns))), exact, 2 + 1e-8 * exact);
  }
}

TEST(Timer, ConvertsTimesOfADayWithoutOverflow) {
  const Timer timer;
  const double day_ns = 86400e9;
  const auto ticks = static_cast<std::uint64_t>(day_ns / timer.ns_per_tick());
  EXPECT_NEAR(static_cast<double>(timer.to_ns(ticks)), day_ns, 1e-6 * day_ns);
}

// proves measuring: timer, timer-cost
TEST(Timer, SaysWhatItIsAndWhatAReadingCosts) {
  const Timer timer;
  EXPECT_TRUE(timer.name() == "tsc" || timer.name() == "clock_gettime");
  EXPECT_GT(timer.cost_ns(), 0);
}

}  // namespace
}  // namespace strider
