#include "listio/transfer/method.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/error.hpp"

namespace strider::listio {
namespace {

/// Packing costs 1 µs for 1000 bytes, gathering 1 µs for each piece: the same at pieces of 1000 bytes.
MethodCosts simple_costs() {
  std::vector<MethodSample> samples;
  for (const std::uint64_t total : {std::uint64_t{512'000}, std::uint64_t{32'000}})
    for (std::uint64_t length = 125; length <= 64'000; length *= 2)
      samples.push_back(
          {length, total, static_cast<double>(total) / static_cast<double>(length), static_cast<double>(total) / 1000});
  return MethodCosts(samples);
}

TEST(MethodTest, HasNames) {
  for (const Method method : {Method::multiple, Method::pack, Method::gather, Method::hybrid})
    EXPECT_EQ(method_of(name_of(method)), method);
  EXPECT_THROW(method_of("guess"), InputError);
}

TEST(MethodCostsTest, GathersFromTheCrossoverOn) {
  const MethodCosts costs = simple_costs();
  for (const std::size_t total : {16'000U, 64'000U, 4'000'000U}) {
    EXPECT_FALSE(costs.prefers_gather(total / 100, total, 0));
    EXPECT_FALSE(costs.prefers_gather(total / 800, total, 0));
    EXPECT_TRUE(costs.prefers_gather(total / 1600, total, 0));
    EXPECT_TRUE(costs.prefers_gather(1, total, 0)) << "longer than any sample";
    EXPECT_EQ(costs.crossover_bytes(total), 1024);
  }
}

TEST(MethodCostsTest, RegisteringHasToPayToo) {
  const MethodCosts costs = simple_costs();
  // 64 pieces of 2000 bytes: 64 µs against 128.
  EXPECT_TRUE(costs.prefers_gather(64, 128'000, 50));
  EXPECT_FALSE(costs.prefers_gather(64, 128'000, 70));
}

TEST(MethodCostsTest, WithoutSamplesNothingIsGathered) {
  EXPECT_FALSE(MethodCosts().prefers_gather(1, 1 << 20, 0));
  EXPECT_EQ(MethodCosts().crossover_bytes(1 << 20), 0);
}

TEST(MeasureMethodsTest, MovesEveryLengthByBothMethodsWithinTheBuffer) {
  std::set<std::pair<std::size_t, Method>> moved;
  const auto move = [&](std::size_t pieces, std::size_t piece_bytes, Method method) {
    EXPECT_LE(pieces * piece_bytes, 100'000);
    moved.emplace(piece_bytes, method);
  };
  const MethodCosts costs = measure_methods(move, 100'000);
  for (std::size_t length = 128; length <= 32768; length *= 2)
    for (const Method method : {Method::pack, Method::gather}) EXPECT_TRUE(moved.contains({length, method})) << length;
  for (const MethodSample& each : costs.samples()) EXPECT_GE(each.gather_us, 0);
}

}  // namespace
}  // namespace strider::listio
