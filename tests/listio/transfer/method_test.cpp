#include "listio/transfer/method.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "foundation/clock.hpp"
#include "foundation/error.hpp"

namespace strider::listio {
namespace {

/// Packing costs 1 µs for 1000 bytes, gathering 1 µs for each piece: the same at pieces of 1000 bytes.
MethodCosts simple_costs() {
  std::vector<MethodSample> samples;
  for (const std::uint64_t total : {std::uint64_t{512'000}, std::uint64_t{32'000}})
    for (std::uint64_t length = 125; length <= 64'000; length *= 2)
      samples.push_back({Direction::write, length, total, static_cast<double>(total) / static_cast<double>(length),
                         static_cast<double>(total) / 1000});
  // Scattering is four times as dear.
  for (MethodSample each : std::vector(samples)) {
    each.direction = Direction::read;
    each.gather_us *= 4;
    samples.push_back(each);
  }
  return MethodCosts(samples);
}

TEST(MethodTest, HasNames) {
  for (const Method method : {Method::multiple, Method::pack, Method::gather, Method::hybrid})
    EXPECT_EQ(method_of(name_of(method)), method);
  EXPECT_THROW(method_of("guess"), InputError);
}

// proves listio: hybrid, interpolated, registration-cost
TEST(MethodCostsTest, GathersFromTheCrossoverOn) {
  const MethodCosts costs = simple_costs();
  for (const std::size_t total : {16'000U, 64'000U, 4'000'000U}) {
    EXPECT_FALSE(costs.prefers_gather(Direction::write, total / 100, total, 0));
    EXPECT_FALSE(costs.prefers_gather(Direction::write, total / 800, total, 0));
    EXPECT_TRUE(costs.prefers_gather(Direction::write, total / 1600, total, 0));
    EXPECT_TRUE(costs.prefers_gather(Direction::write, 1, total, 0)) << "longer than any sample";
    EXPECT_GE(costs.crossover_bytes(Direction::write, total), 1024);
    EXPECT_LE(costs.crossover_bytes(Direction::write, total), 2048);
  }
}

TEST(MethodCostsTest, ReadingHasACrossoverOfItsOwn) {
  const MethodCosts costs = simple_costs();
  EXPECT_EQ(costs.crossover_bytes(Direction::read, 64'000), 4096);
  EXPECT_FALSE(costs.prefers_gather(Direction::read, 32, 64'000, 0));
  EXPECT_TRUE(costs.prefers_gather(Direction::write, 32, 64'000, 0));
}

// proves listio: one-percent
TEST(MethodCostsTest, WhatIsTheSameIsPacked) {
  const MethodCosts costs({{Direction::write, 1000, 64'000, 99.5, 100}, {Direction::write, 2000, 64'000, 96, 100}});
  EXPECT_FALSE(costs.prefers_gather(Direction::write, 64, 64'000, 0));
  EXPECT_TRUE(costs.prefers_gather(Direction::write, 32, 64'000, 0));
}

// proves listio: interpolated, registration-cost
TEST(MethodCostsTest, RegisteringHasToPayToo) {
  const MethodCosts costs = simple_costs();
  // 64 pieces of 2000 bytes: 64 µs against 128.
  EXPECT_TRUE(costs.prefers_gather(Direction::write, 64, 128'000, 50));
  EXPECT_FALSE(costs.prefers_gather(Direction::write, 64, 128'000, 70));
}

TEST(MethodCostsTest, WithoutSamplesNothingIsGathered) {
  EXPECT_FALSE(MethodCosts().prefers_gather(Direction::write, 1, 1 << 20, 0));
  EXPECT_EQ(MethodCosts().crossover_bytes(Direction::write, 1 << 20), 0);
}

// proves listio: hybrid-measures, hybrid-rounds, hybrid-bytes, hybrid-no-files
TEST(MeasureMethodsTest, MovesEveryLengthBothWaysByBothMethodsWithinTheBuffer) {
  std::set<std::tuple<Direction, std::size_t, Method>> moved;
  const auto move = [&](Direction direction, std::size_t pieces, std::size_t piece_bytes, Method method) {
    EXPECT_LE(pieces * piece_bytes, 100'000);
    moved.emplace(direction, piece_bytes, method);
  };
  const MethodCosts costs = measure_methods(move, 100'000);
  for (const Direction direction : {Direction::write, Direction::read})
    for (std::size_t length = 128; length <= 32768; length *= 2)
      for (const Method method : {Method::pack, Method::gather})
        EXPECT_TRUE(moved.contains({direction, length, method})) << length;
  for (const MethodSample& each : costs.samples()) EXPECT_GE(each.gather_us, 0);
}

// proves listio: hybrid-measures, hybrid-rounds, hybrid-bytes, hybrid-no-files
TEST(MeasureMethodsTest, WhereMovingTakesLongEachMethodGoesFirstOnceAndNoMore) {
  std::map<std::tuple<Direction, std::size_t, std::size_t>, std::vector<Method>> moved;
  const auto move = [&](Direction direction, std::size_t pieces, std::size_t piece_bytes, Method method) {
    std::vector<Method>& methods = moved[{direction, pieces, piece_bytes}];
    // The first moves of all take all of the time.
    if (moved.size() == 1 && methods.size() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(460));
    methods.push_back(method);
  };
  measure_methods(move, 1 << 20);
  const std::vector<Method> expected{Method::pack, Method::gather, Method::gather, Method::pack};
  for (const auto& [list, methods] : moved) EXPECT_EQ(methods, expected);
}

void spend(std::uint64_t ns) {
  for (const std::uint64_t end = monotonic_ns() + ns; monotonic_ns() < end;) continue;
}

// proves listio: hybrid
TEST(MeasureMethodsTest, FindsTheBetterWayOfEachDirection) {
  const auto move = [&](Direction direction, std::size_t pieces, std::size_t, Method method) {
    const bool is_better = (method == Method::gather) == (direction == Direction::read);
    spend((is_better ? 10'000 : 30'000) + pieces);
  };
  const MethodCosts costs = measure_methods(move, 1 << 20);
  for (const std::uint64_t length : {128, 4096, 65536}) {
    EXPECT_TRUE(costs.prefers_gather(Direction::read, 524'288 / length, 524'288, 0)) << length;
    EXPECT_FALSE(costs.prefers_gather(Direction::write, 524'288 / length, 524'288, 0)) << length;
  }
}

// proves listio: hybrid-median, same-round, middle-ratio
TEST(MeasureMethodsTest, AFastMomentOfTheMachineDoesNotDecide) {
  // Packing takes two thirds of the time of gathering; once in four rounds, one gather is as fast as none ever was.
  std::map<std::tuple<Direction, std::size_t, std::size_t>, int> gathers;
  const auto move = [&](Direction direction, std::size_t pieces, std::size_t piece_bytes, Method method) {
    if (method == Method::pack) return spend(20'000);
    spend(gathers[{direction, pieces, piece_bytes}]++ % 4 == 0 ? 2'000 : 30'000);
  };
  const MethodCosts costs = measure_methods(move, 1 << 20);
  for (const std::uint64_t length : {128, 4096, 65536})
    EXPECT_FALSE(costs.prefers_gather(Direction::write, 524'288 / length, 524'288, 0)) << length;
}

// proves listio: hybrid-close-lengths
TEST(MeasureMethodsTest, WhatIsCloseIsMeasuredMoreOften) {
  std::map<std::size_t, int> moves;
  const auto move = [&](Direction, std::size_t, std::size_t piece_bytes, Method method) {
    ++moves[piece_bytes];
    // From 4 KiB on gathering is 5 % better, below it takes one and a half times as long.
    spend(method == Method::pack ? 20'000 : piece_bytes >= 4096 ? 19'000 : 30'000);
  };
  const MethodCosts costs = measure_methods(move, 1 << 20);
  EXPECT_GT(moves.at(4096), 2 * moves.at(2048));
  EXPECT_TRUE(costs.prefers_gather(Direction::write, 64, 524'288, 0));
  EXPECT_FALSE(costs.prefers_gather(Direction::write, 512, 524'288, 0));
}

// proves listio: hybrid-median, same-round, middle-ratio
TEST(MeasureMethodsTest, OneLengthThatDiffersFromThoseBesideItIsNotBelieved) {
  const auto move = [](Direction, std::size_t, std::size_t piece_bytes, Method method) {
    const bool is_odd = piece_bytes == 512 || piece_bytes == 65536;
    spend(method == Method::pack ? 20'000 : is_odd ? 10'000 : 30'000);
  };
  const MethodCosts costs = measure_methods(move, 1 << 20);
  for (const std::uint64_t length : {512, 65536})
    EXPECT_FALSE(costs.prefers_gather(Direction::write, 524'288 / length, 524'288, 0)) << length;
}

TEST(MeasureMethodsTest, WorksWithBuffersThatTakeFewLengths) {
  for (const std::uint64_t most_bytes : {256U, 512U, 1024U})
    EXPECT_FALSE(measure_methods([](auto...) {}, most_bytes).samples().empty()) << most_bytes;
  EXPECT_TRUE(measure_methods([](auto...) {}, 128).samples().empty());
}

}  // namespace
}  // namespace strider::listio
