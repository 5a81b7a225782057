#include "foundation/clock_map.hpp"

#include <gtest/gtest.h>

namespace strider {
namespace {

constexpr double tiny_s = 1e-9;

/// A clock that shows `shift` + (1 + drift) * t when the true time is t.
struct Shifted {
  double shift, drift;
  double shows(double t) const { return shift + (1 + drift) * t; }
  ClockReading compared_with(const Shifted& other, double t, double error_s = 0) const {
    return {shows(t), other.shows(t) - shows(t), error_s};
  }
};

constexpr Shifted reference{0, 0}, fast{3, 200e-6}, slow{-5, -3e-3};

// proves measuring: clocks-compared, clock-messages
TEST(ClockMap, OneComparisonGivesTheOffset) {
  const ClockMap map = ClockMap::of(fast.compared_with(reference, 100));
  EXPECT_NEAR(map.map(fast.shows(100)), 100, tiny_s);
  EXPECT_NEAR(map.inverse(100), fast.shows(100), tiny_s);
}

// proves measuring: steady-drift, interpolated
TEST(ClockMap, TwoComparisonsTellTheDrift) {
  const ClockMap map = ClockMap::between(fast.compared_with(reference, 100), fast.compared_with(reference, 160));
  for (const double t : {100.0, 113.7, 160.0, 200.0}) {
    EXPECT_NEAR(map.map(fast.shows(t)), t, tiny_s);
    EXPECT_NEAR(map.inverse(t), fast.shows(t), tiny_s);
    EXPECT_NEAR(map.offset_at(fast.shows(t)), t - fast.shows(t), tiny_s);
  }
}

TEST(ClockMap, WithoutTheSecondComparisonDriftIsAnError) {
  const ClockMap map = ClockMap::of(fast.compared_with(reference, 100));
  EXPECT_NEAR(map.map(fast.shows(160)) - 160, 60 * 200e-6, 1e-6);
}

// proves measuring: tree-of-nodes, errors-add-up
TEST(ClockMap, LeadsOverAClockInBetween) {
  const ClockMap up = ClockMap::between(slow.compared_with(fast, 50, 3e-6), slow.compared_with(fast, 90, 2e-6));
  const ClockMap on =
      ClockMap::between(fast.compared_with(reference, 49, 1e-6), fast.compared_with(reference, 91, 4e-6));
  const ClockMap whole = up.then(on);
  for (const double t : {50.0, 70.0, 90.0}) EXPECT_NEAR(whole.map(slow.shows(t)), t, tiny_s);
  EXPECT_DOUBLE_EQ(whole.error_s, 3e-6 + 4e-6);
}

// proves measuring: steady-drift, interpolated, errors-add-up
TEST(ClockMap, IsWrongByNoMoreThanTheComparisonsInBetween) {
  // Off by as much as the messages may have been, in opposite directions.
  ClockReading before = fast.compared_with(reference, 10, 5e-6), after = fast.compared_with(reference, 20, 8e-6);
  before.offset_s += 5e-6;
  after.offset_s -= 8e-6;
  const ClockMap map = ClockMap::between(before, after);
  EXPECT_DOUBLE_EQ(map.error_s, 8e-6);
  for (double t = 10; t <= 20; t += 0.5) EXPECT_NEAR(map.map(fast.shows(t)), t, map.error_s + tiny_s);
}

TEST(ClockMap, OfTheSameClockChangesNothing) {
  const ClockMap same;
  EXPECT_EQ(same.map(12345.6789), 12345.6789);
  EXPECT_EQ(same.inverse(12345.6789), 12345.6789);
}

}  // namespace
}  // namespace strider
