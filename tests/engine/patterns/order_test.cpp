#include "patterns/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace strider {
namespace {

std::vector<std::uint64_t> sequence(OrderKind kind, std::uint64_t requests, std::uint64_t seed) {
  std::vector<std::uint64_t> result(requests);
  Order(kind, requests, seed).fill(0, result);
  return result;
}

TEST(Order, VisitsEachRequestOnce) {
  for (const OrderKind kind : {OrderKind::forward, OrderKind::backward, OrderKind::random})
    for (std::uint64_t requests = 0; requests <= 600; ++requests) {
      std::vector<std::uint64_t> sorted = sequence(kind, requests, requests);
      std::sort(sorted.begin(), sorted.end());
      ASSERT_EQ(sorted, sequence(OrderKind::forward, requests, 0));
    }
}

TEST(Order, ForwardAndBackwardAreWhatTheirNamesSay) {
  EXPECT_EQ(sequence(OrderKind::forward, 4, 1), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(sequence(OrderKind::backward, 4, 1), (std::vector<std::uint64_t>{3, 2, 1, 0}));
}

TEST(Order, RandomFollowsItsSeed) {
  EXPECT_EQ(sequence(OrderKind::random, 100, 1), sequence(OrderKind::random, 100, 1));
  EXPECT_NE(sequence(OrderKind::random, 100, 1), sequence(OrderKind::random, 100, 2));
  EXPECT_NE(sequence(OrderKind::random, 100, 1), sequence(OrderKind::forward, 100, 1));
}

TEST(Order, GivesTheSameVisitsInPiecesAsAtOnce) {
  for (const OrderKind kind : {OrderKind::forward, OrderKind::backward, OrderKind::random}) {
    const Order order(kind, 1000, 9);
    std::vector<std::uint64_t> pieces;
    for (std::uint64_t first = 0; first < 1000; first += 64) {
      std::vector<std::uint64_t> piece(std::min<std::uint64_t>(64, 1000 - first));
      order.fill(first, piece);
      pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(pieces, sequence(kind, 1000, 9));
  }
}

}  // namespace
}  // namespace strider
