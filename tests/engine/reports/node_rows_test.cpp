#include "reports/node_rows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "events/rows.hpp"
#include "foundation/random.hpp"

namespace strider {
namespace {

struct PlainRow {
  std::optional<std::uint32_t> node;
  std::uint64_t bytes = 0;
  std::uint32_t nodes = 1;
  static PlainRow of_no_node(PlainRow first) {
    first.node.reset();
    return first;
  }
  void take_in(const PlainRow& others) {
    bytes += others.bytes;
    nodes += others.nodes;
  }
};

std::vector<PlainRow> rows_of(const std::vector<std::uint64_t>& bytes, std::size_t most) {
  NodeRows<PlainRow> rows(most);
  for (std::size_t node = 0; node < bytes.size(); ++node)
    rows.add({static_cast<std::uint32_t>(node), bytes[node]}, static_cast<double>(bytes[node]));
  return rows.take();
}

TEST(NodeRows, EachOfFewNodesHasItsOwn) {
  const std::vector<PlainRow> rows = rows_of({3, 1, 2}, 3);
  ASSERT_EQ(rows.size(), 3);
  for (std::uint32_t node = 0; node < rows.size(); ++node) EXPECT_EQ(rows[node].node, node);
}

TEST(NodeRows, TheHeaviestOfManyHaveTheirOwnAndTheOthersOneTogether) {
  std::vector<std::uint64_t> bytes(1000);
  for (std::size_t node = 0; node < bytes.size(); ++node) bytes[node] = hash_numbers(node) % 1'000'003;
  const std::vector<PlainRow> rows = rows_of(bytes, 10);
  ASSERT_EQ(rows.size(), 11);
  std::vector<std::uint64_t> sorted = bytes;
  std::ranges::sort(sorted, std::greater<>{});
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(rows[i].node);
    EXPECT_EQ(rows[i].bytes, bytes[*rows[i].node]);
    EXPECT_GE(rows[i].bytes, sorted[9]);
    if (i > 0) {
      EXPECT_GT(*rows[i].node, *rows[i - 1].node);
    }
    sum += rows[i].bytes;
  }
  EXPECT_FALSE(rows[10].node);
  EXPECT_EQ(rows[10].nodes, 990);
  EXPECT_EQ(sum + rows[10].bytes, std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}));
}

TEST(NodeRows, OfEqualNodesTheFirstHaveTheirOwn) {
  const std::vector<PlainRow> rows = rows_of(std::vector<std::uint64_t>(5, 7), 2);
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0].node, 0);
  EXPECT_EQ(rows[1].node, 1);
  EXPECT_EQ(rows[2].nodes, 3);
}

TEST(NodeRows, CountersOfTheOthersAreSums) {
  NodeRows<NodeCounters> rows(1);
  for (std::uint32_t node = 0; node < 4; ++node) {
    NodeCounters one{.node = node, .elapsed_s = 1.0 + node, .sampling_s = 0, .groups = {}, .nodes = 1};
    CounterGroup network{"network", "eth0", {}};
    network.add("sent_bytes", node + 1);
    one.groups.push_back(network);
    rows.add(one, node);
  }
  const std::vector<NodeCounters> found = rows.take();
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].node, 3);
  EXPECT_FALSE(found[1].node);
  EXPECT_EQ(found[1].nodes, 3);
  EXPECT_EQ(found[1].elapsed_s, 3);
  EXPECT_EQ(sum_of(found[1].groups, "network", "sent_bytes"), 1 + 2 + 3);
}

}  // namespace
}  // namespace strider
