#include "runner/nodes.hpp"

#include <unistd.h>

#include <array>
#include <cstring>

#include "core/clock.hpp"
#include "runner/waiting.hpp"

namespace strider {
namespace {

constexpr int clock_tag = 912;
constexpr int node_tag = 913;
constexpr int exchanges = 30;

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

struct NodeMessage {
  char name[256];
  std::uint32_t ranks;
  double offset_s, error_s;
};

struct ClockReading {
  double offset_s, error_s;
};

/// On the leader of another node: the smallest of many round trips to rank 0 bounds the offset best (Cristian 1989).
ClockReading measure_clock() {
  ClockReading best{0, 1e9};
  for (int i = 0; i < exchanges; ++i) {
    std::uint64_t theirs = 0;
    const std::uint64_t before = monotonic_ns();
    MPI_Send(&theirs, 1, MPI_UINT64_T, 0, clock_tag, MPI_COMM_WORLD);
    MPI_Recv(&theirs, 1, MPI_UINT64_T, 0, clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const std::uint64_t after = monotonic_ns();
    const double error_s = static_cast<double>(after - before) / 2 * 1e-9;
    const double middle_ns = static_cast<double>(before) + static_cast<double>(after - before) / 2;
    if (error_s < best.error_s) best = {(static_cast<double>(theirs) - middle_ns) * 1e-9, error_s};
  }
  return best;
}

void answer_clock(int leader) {
  for (int i = 0; i < exchanges; ++i) {
    std::uint64_t time = 0;
    MPI_Recv(&time, 1, MPI_UINT64_T, leader, clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    time = monotonic_ns();
    MPI_Send(&time, 1, MPI_UINT64_T, leader, clock_tag, MPI_COMM_WORLD);
  }
}

Nodes given_nodes(std::uint32_t ranks_per_node, int rank, int ranks) {
  Nodes nodes;
  const auto total = static_cast<std::uint32_t>(ranks);
  nodes.host = host_name();
  nodes.mine = static_cast<std::uint32_t>(rank) / ranks_per_node;
  nodes.count = (total + ranks_per_node - 1) / ranks_per_node;
  for (std::uint32_t node = 0; rank == 0 && node < nodes.count; ++node)
    nodes.table.push_back({nodes.host + "/" + std::to_string(node), std::min(ranks_per_node, total - node * ranks_per_node)});
  return nodes;
}

/// The leaders report to rank 0, in the order of their nodes, and compare clocks with it one after the other.
void exchange_table(Nodes& nodes, bool leader, int node_ranks, int rank) {
  if (leader && rank != 0) {
    // Rank 0 answers leaders one at a time; the first message waits for its turn.
    int go = 0;
    MPI_Send(&go, 1, MPI_INT, 0, node_tag, MPI_COMM_WORLD);
    MPI_Recv(&go, 1, MPI_INT, 0, node_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const ClockReading clock = measure_clock();
    nodes.clock_offset_s = clock.offset_s;
    nodes.clock_error_s = clock.error_s;
    NodeMessage message{};
    std::strncpy(message.name, nodes.host.c_str(), sizeof message.name - 1);
    message.ranks = static_cast<std::uint32_t>(node_ranks);
    message.offset_s = clock.offset_s;
    message.error_s = clock.error_s;
    MPI_Send(&message, sizeof message, MPI_BYTE, 0, node_tag, MPI_COMM_WORLD);
    MPI_Send(&nodes.mine, 1, MPI_UINT32_T, 0, node_tag, MPI_COMM_WORLD);
  }
  if (rank != 0) return;
  nodes.table.resize(nodes.count);
  nodes.table[0] = {nodes.host, static_cast<std::uint32_t>(node_ranks)};
  for (std::uint32_t other = 1; other < nodes.count; ++other) {
    int go = 0;
    MPI_Status status;
    MPI_Recv(&go, 1, MPI_INT, MPI_ANY_SOURCE, node_tag, MPI_COMM_WORLD, &status);
    MPI_Send(&go, 1, MPI_INT, status.MPI_SOURCE, node_tag, MPI_COMM_WORLD);
    answer_clock(status.MPI_SOURCE);
    NodeMessage message{};
    std::uint32_t node = 0;
    MPI_Recv(&message, sizeof message, MPI_BYTE, status.MPI_SOURCE, node_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&node, 1, MPI_UINT32_T, status.MPI_SOURCE, node_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nodes.table[node] = {message.name, message.ranks, message.offset_s, message.error_s};
  }
}

}  // namespace

Nodes find_nodes(std::uint32_t ranks_per_node) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks_per_node > 0) return given_nodes(ranks_per_node, rank, ranks);

  Nodes nodes;
  nodes.host = host_name();
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int node_rank = 0, node_ranks = 1;
  MPI_Comm_rank(node, &node_rank);
  MPI_Comm_size(node, &node_ranks);
  const std::uint32_t leads = node_rank == 0 ? 1 : 0;
  std::array<std::uint32_t, 2> numbers{};  // this leader's node number, number of nodes
  MPI_Request requests[2];
  MPI_Iexscan(&leads, &numbers[0], 1, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(&leads, &numbers[1], 1, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  for (MPI_Request& request : requests) wait(request, {});
  if (rank == 0) numbers[0] = 0;
  MPI_Ibcast(&numbers[0], 1, MPI_UINT32_T, 0, node, &requests[0]);
  wait(requests[0], {});
  nodes.mine = numbers[0];
  nodes.count = numbers[1];
  exchange_table(nodes, node_rank == 0, node_ranks, rank);
  std::array<double, 2> clock{nodes.clock_offset_s, nodes.clock_error_s};
  MPI_Ibcast(clock.data(), 2, MPI_DOUBLE, 0, node, &requests[0]);
  wait(requests[0], {.patience = Patience::long_sleeps});
  nodes.clock_offset_s = clock[0];
  nodes.clock_error_s = clock[1];
  MPI_Comm_free(&node);
  return nodes;
}

std::vector<std::uint32_t> nodes_of(MPI_Comm communicator, const Nodes& nodes) {
  int ranks = 1;
  MPI_Comm_size(communicator, &ranks);
  std::vector<std::uint32_t> all(static_cast<std::size_t>(ranks));
  MPI_Request request;
  MPI_Iallgather(&nodes.mine, 1, MPI_UINT32_T, all.data(), 1, MPI_UINT32_T, communicator, &request);
  wait(request, {});
  return all;
}

}  // namespace strider
