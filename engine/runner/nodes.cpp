#include "runner/nodes.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "core/clock.hpp"
#include "core/random.hpp"
#include "runner/waiting.hpp"

namespace strider {
namespace {

constexpr int clock_tag = 912;
constexpr int exchanges = 30;

/// What makes ranks neighbours, as each rank tells rank 0.
struct Address {
  char host[64];
  std::uint64_t machine;  ///< hash of host name, boot and, under Slurm, the node within the step
};

/// What rank 0 tells each rank in return.
struct Assignment {
  std::uint32_t node, nodes;
  std::uint32_t leads;
  std::uint32_t counts;
  double clock_offset_s, clock_error_s;
};

std::uint64_t hash_text(const std::string& text) {
  std::uint64_t hash = 0;
  for (const char letter : text) hash = hash_numbers(hash, static_cast<unsigned char>(letter));
  return hash;
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

Address own_address() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const char* slurm_node = std::getenv("SLURM_NODEID");
  const std::string host = host_name();
  Address address{};
  std::strncpy(address.host, host.c_str(), sizeof address.host - 1);
  address.machine = hash_text(host + '/' + boot + '/' + (slurm_node != nullptr ? slurm_node : ""));
  return address;
}

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

/// On rank 0: numbers the nodes in the order of their first ranks.
std::vector<Assignment> assign_nodes(const std::vector<Address>& addresses, std::uint32_t ranks_per_node,
                                     std::vector<NodeInfo>& table) {
  std::map<std::uint64_t, std::uint32_t> numbers;
  std::set<std::uint64_t> machines;
  std::vector<Assignment> assignments;
  for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
    const std::uint64_t key = ranks_per_node > 0 ? rank / ranks_per_node : addresses[rank].machine;
    const auto [entry, first] = numbers.try_emplace(key, static_cast<std::uint32_t>(numbers.size()));
    if (first) table.push_back({addresses[rank].host, 0, 0, 0});
    ++table[entry->second].ranks;
    const bool counts = machines.insert(addresses[rank].machine).second;
    assignments.push_back({entry->second, 0, first && ranks_per_node == 0 ? 1U : 0U, counts ? 1U : 0U, 0, 0});
  }
  for (Assignment& assignment : assignments) assignment.nodes = static_cast<std::uint32_t>(table.size());
  return assignments;
}

Assignment scatter(const std::vector<Assignment>& assignments, Patience patience) {
  Assignment mine{};
  MPI_Request request;
  MPI_Iscatter(assignments.data(), sizeof mine, MPI_BYTE, &mine, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  wait(request, {.patience = patience});
  return mine;
}

/// Rank 0 compares clocks with the first rank of each other node, one after the other; everyone learns its node's
/// offset.
Assignment compare_clocks(const Assignment& mine, int rank, std::vector<Assignment>& assignments,
                          std::vector<NodeInfo>& table) {
  if (rank != 0 && mine.leads != 0) {
    const ClockReading clock = measure_clock();
    MPI_Send(&clock, sizeof clock, MPI_BYTE, 0, clock_tag, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    for (std::size_t leader = 1; leader < assignments.size(); ++leader) {
      if (assignments[leader].leads == 0) continue;
      answer_clock(static_cast<int>(leader));
      ClockReading clock{};
      MPI_Recv(&clock, sizeof clock, MPI_BYTE, static_cast<int>(leader), clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      table[assignments[leader].node].clock_offset_s = clock.offset_s;
      table[assignments[leader].node].clock_error_s = clock.error_s;
    }
    for (Assignment& assignment : assignments) {
      assignment.clock_offset_s = table[assignment.node].clock_offset_s;
      assignment.clock_error_s = table[assignment.node].clock_error_s;
    }
  }
  return scatter(assignments, Patience::long_sleeps);
}

}  // namespace

// MPI_Comm_split_type would tell the nodes too, but its ranks spin: on an oversubscribed machine it takes seconds.
Nodes find_nodes(std::uint32_t ranks_per_node) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Address address = own_address();
  std::vector<Address> addresses(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  MPI_Request request;
  MPI_Igather(&address, sizeof address, MPI_BYTE, addresses.data(), sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD,
              &request);
  wait(request, {});
  Nodes nodes;
  std::vector<Assignment> assignments;
  if (rank == 0) assignments = assign_nodes(addresses, ranks_per_node, nodes.table);
  for (const Assignment& assignment : assignments) nodes.of_rank.push_back(assignment.node);
  Assignment mine = scatter(assignments, Patience::short_sleeps);
  if (mine.nodes > 1 && ranks_per_node == 0) mine = compare_clocks(mine, rank, assignments, nodes.table);
  nodes.mine = mine.node;
  nodes.count = mine.nodes;
  nodes.host = host_name();
  nodes.counts = mine.counts != 0;
  nodes.clock_offset_s = mine.clock_offset_s;
  nodes.clock_error_s = mine.clock_error_s;
  return nodes;
}

std::uint32_t Nodes::count_of_first(std::uint32_t ranks) const {
  const auto end = of_rank.begin() + std::min<std::ptrdiff_t>(ranks, std::ssize(of_rank));
  return static_cast<std::uint32_t>(std::set<std::uint32_t>(of_rank.begin(), end).size());
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
