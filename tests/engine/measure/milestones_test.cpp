#include "measure/milestones.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace strider {
namespace {

constexpr std::uint64_t ms = 1'000'000;

// proves measuring: milestones, milestones-halved
TEST(Milestones, AreInterpolatedBetweenTheirPoints) {
  Milestones milestones;
  milestones.begin(100 * ms);
  milestones.add(110 * ms, 1000);
  milestones.add(120 * ms, 3000);
  milestones.finish(140 * ms, 4000);
  EXPECT_EQ(milestones.amount_at(100 * ms), 0);
  EXPECT_EQ(milestones.amount_at(105 * ms), 500);
  EXPECT_EQ(milestones.amount_at(110 * ms), 1000);
  EXPECT_EQ(milestones.amount_at(115 * ms), 2000);
  EXPECT_EQ(milestones.amount_at(130 * ms), 3500);
}

TEST(Milestones, BeforeTheBeginningNothingWasDoneAndAfterTheEndAll) {
  Milestones milestones;
  milestones.begin(100 * ms);
  milestones.finish(200 * ms, 50);
  EXPECT_EQ(milestones.amount_at(0), 0);
  EXPECT_EQ(milestones.amount_at(99 * ms), 0);
  EXPECT_EQ(milestones.amount_at(200 * ms), 50);
  EXPECT_EQ(milestones.amount_at(~std::uint64_t{0}), 50);
}

TEST(Milestones, APhaseThatMovesNothingHasNone) {
  Milestones milestones;
  milestones.begin(100);
  milestones.finish(100, 0);
  EXPECT_EQ(milestones.amount_at(100), 0);
  EXPECT_EQ(milestones.amount_at(200), 0);
}

TEST(Milestones, BeginAgainForEachPhase) {
  Milestones milestones;
  milestones.begin(0);
  for (std::uint64_t i = 1; i < 1000; ++i) milestones.add(i * ms, i);
  milestones.finish(1000 * ms, 1000);
  milestones.begin(5000 * ms);
  milestones.finish(5002 * ms, 8);
  EXPECT_EQ(milestones.amount_at(500 * ms), 0);
  EXPECT_EQ(milestones.amount_at(5001 * ms), 4);
}

/// Progress that is far from even: bytes grow with the square of time.
std::uint64_t squared(std::uint64_t time_ns) { return (time_ns / ms) * (time_ns / ms); }

// proves measuring: milestones, milestones-halved, milestone-interval, first-done-error
TEST(Milestones, OfALongPhaseAreOffByAtMostTheirSpacing) {
  // An hour, seen every 2 ms: 1.8 million points in 256 places. Spacing after decimation: at most an hour / 128.
  constexpr std::uint64_t end = 3'600'000 * ms, spacing = end / 128;
  Milestones milestones;
  milestones.begin(0);
  for (std::uint64_t time = 2 * ms; time < end; time += 2 * ms) milestones.add(time, squared(time));
  milestones.finish(end, squared(end));
  for (std::uint64_t time = 0; time <= end; time += end / 1000) {
    const auto low = static_cast<double>(squared(time > spacing ? time - spacing : 0));
    const auto high = static_cast<double>(squared(std::min(end, time + spacing)));
    ASSERT_GE(milestones.amount_at(time), low) << time / ms << " ms";
    ASSERT_LE(milestones.amount_at(time), high) << time / ms << " ms";
  }
  EXPECT_EQ(milestones.amount_at(end), static_cast<double>(squared(end)));
}

TEST(Milestones, TheEndIsKeptHoweverManyPointsThereAre) {
  for (std::uint64_t points = 0; points < 2000; ++points) {
    Milestones milestones;
    milestones.begin(0);
    for (std::uint64_t i = 1; i <= points; ++i) milestones.add(i * ms, i);
    milestones.finish((points + 1) * ms, points + 1);
    ASSERT_EQ(milestones.amount_at((points + 1) * ms), static_cast<double>(points + 1)) << points;
  }
}

}  // namespace
}  // namespace strider
