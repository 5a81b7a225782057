#include "reports/gather_rows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "foundation/random.hpp"
#include "mpi_session.hpp"
#include "reports/row_codecs.hpp"

namespace strider {
namespace {

const WaitOptions waiting{.stall_timeout_s = 60};

struct Row {
  std::optional<std::uint32_t> node;
  std::vector<std::uint64_t> bytes;
  std::uint32_t nodes = 1;
  static Row of_no_node(Row first) {
    first.node.reset();
    return first;
  }
  void take_in(const Row& others) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] += others.bytes[i];
    nodes += others.nodes;
  }
  friend bool operator==(const Row&, const Row&) = default;
};

struct RowCodec {
  static void pack(const Row& row, PackedBytes& bytes) {
    bytes.add(row.node);
    bytes.add(row.nodes);
    bytes.add(std::uint64_t{row.bytes.size()});
    bytes.add(std::span(row.bytes));
  }
  static Row unpack(UnpackedBytes& bytes) {
    Row row;
    row.node = bytes.take<std::optional<std::uint32_t>>();
    row.nodes = bytes.take<std::uint32_t>();
    row.bytes.resize(bytes.take<std::uint64_t>());
    bytes.take(std::span(row.bytes));
    return row;
  }
};

/// Adds nodes from `first` on; some have equal weights.
void add_nodes(NodeRows<Row>& rows, std::uint32_t first, std::uint32_t behind) {
  for (std::uint32_t node = first; node < behind; ++node)
    rows.add({node, {node, hash_numbers(node)}}, static_cast<double>(hash_numbers(node) % 50));
}

class GatherRows : public RanksTest {
 protected:
  /// Rank r has the nodes from `firsts[r]` on.
  void expect_all(const std::vector<std::uint32_t>& firsts) const {
    const auto me = static_cast<std::size_t>(rank), all = static_cast<std::size_t>(ranks);
    NodeRows<Row> mine, expected;
    add_nodes(mine, firsts[me], firsts[me + 1]);
    add_nodes(expected, firsts[0], firsts[all]);
    const std::vector<Row> found = gather_node_rows<RowCodec>(std::move(mine), MPI_COMM_WORLD, waiting).take();
    EXPECT_EQ(found, rank == 0 ? expected.take() : std::vector<Row>{});
  }
};

TEST_F(GatherRows, GiveWhatOneRankWithAllNodesWouldKeep) {
  for (const std::uint32_t nodes_of_rank : {0, 1, 20, 60, 64, 65, 300}) {
    std::vector<std::uint32_t> firsts;
    for (int each = 0; each <= ranks; ++each) firsts.push_back(static_cast<std::uint32_t>(each) * nodes_of_rank);
    expect_all(firsts);
  }
}

TEST_F(GatherRows, RanksMayHaveNone) {
  std::vector<std::uint32_t> firsts(static_cast<std::size_t>(ranks) + 1, 0);
  firsts.back() = 100;  // all on the last rank
  expect_all(firsts);
}

NodeCounters counters_of(std::uint32_t node) {
  CounterGroup network{"network", "eth0", {}}, block{"block", "sda", {}};
  network.add("received_bytes", node);
  block.add("read_bytes", std::uint64_t{1} << (node % 40));
  return {node, 1.0 + node, 0.5 * node, {network, block}, 1};
}

TEST_F(GatherRows, OfCountersHaveThoseOfAllNodes) {
  constexpr std::uint32_t nodes_of_rank = 100;  // so that rows of several nodes travel
  NodeRows<NodeCounters> mine;
  const auto first = static_cast<std::uint32_t>(rank) * nodes_of_rank;
  for (std::uint32_t node = first; node < first + nodes_of_rank; ++node) mine.add(counters_of(node), node);
  const auto found = gather_node_rows<NodeCountersCodec>(std::move(mine), MPI_COMM_WORLD, waiting).take();
  ASSERT_EQ(found.size(), rank == 0 ? most_nodes_one_by_one + 1 : 0);
  if (rank != 0) return;
  const std::uint64_t nodes = std::uint64_t{nodes_of_rank} * static_cast<std::uint32_t>(ranks);
  std::uint64_t received = 0;
  for (const NodeCounters& row : found) received += sum_of(row.groups, "network", "received_bytes");
  EXPECT_EQ(received, nodes * (nodes - 1) / 2);
  const NodeCounters &heaviest = found[most_nodes_one_by_one - 1], &others = found.back();
  EXPECT_EQ(heaviest.node, nodes - 1);
  EXPECT_EQ(heaviest.elapsed_s, static_cast<double>(nodes));
  EXPECT_EQ(heaviest.sampling_s, 0.5 * static_cast<double>(nodes - 1));
  EXPECT_FALSE(others.node);
  EXPECT_EQ(others.nodes, nodes - most_nodes_one_by_one);
  EXPECT_EQ(others.elapsed_s, static_cast<double>(nodes - most_nodes_one_by_one));
}

TEST_F(GatherRows, OfTimelinesHaveThoseOfAllNodes) {
  constexpr std::uint32_t nodes_of_rank = 100;
  NodeRows<TimelineRow> mine;
  const auto first = static_cast<std::uint32_t>(rank) * nodes_of_rank;
  for (std::uint32_t node = first; node < first + nodes_of_rank; ++node)
    mine.add({{}, node, 1, 2.5, 0.1, {{.bytes = node, .requests = 1}, {.bytes = 7, .requests = 2}}}, node);
  const auto found = gather_node_rows<TimelineCodec>(std::move(mine), MPI_COMM_WORLD, waiting).take();
  ASSERT_EQ(found.size(), rank == 0 ? most_nodes_one_by_one + 1 : 0);
  if (rank != 0) return;
  const std::uint64_t nodes = std::uint64_t{nodes_of_rank} * static_cast<std::uint32_t>(ranks);
  const std::uint64_t others = nodes - most_nodes_one_by_one;
  EXPECT_EQ(found.front().node, others);
  EXPECT_EQ(found.front().intervals[0].bytes, others);
  EXPECT_EQ(found.back().nodes, others);
  EXPECT_EQ(found.back().intervals[0].bytes, others * (others - 1) / 2);
  EXPECT_EQ(found.back().intervals[1].requests, 2 * others);
  EXPECT_EQ(found.back().start_s, 2.5);
  EXPECT_EQ(found.back().interval_s, 0.1);
}

}  // namespace
}  // namespace strider
