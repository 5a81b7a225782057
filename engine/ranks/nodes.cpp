#include "ranks/nodes.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "foundation/random.hpp"
#include "ranks/exchange.hpp"

namespace strider {
namespace {

/// What makes ranks neighbours, as each rank sends it to rank 0.
struct Address {
  char host[64];
  std::uint64_t machine;  ///< hash of host name, boot and, under Slurm, the node within the step
  std::uint64_t clock;    ///< hash of the machine and the name space of time
};

/// Where a rank is, as rank 0 broadcasts it.
struct Home {
  std::uint32_t node, clock;
  std::uint32_t counts;
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
  std::error_code unknown;  // a kernel before 5.6 has no name spaces of time
  const std::string time = std::filesystem::read_symlink("/proc/self/ns/time", unknown).string();
  address.clock = hash_numbers(address.machine, hash_text(time));
  return address;
}

/// On rank 0: numbers nodes and clocks in the order of their first ranks.
std::vector<Home> assign_homes(const std::vector<Address>& addresses, std::uint32_t ranks_per_node,
                               std::vector<NodeInfo>& table) {
  std::map<std::uint64_t, std::uint32_t> nodes, clocks;
  std::set<std::uint64_t> machines;
  std::vector<Home> homes;
  for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
    const Address& address = addresses[rank];
    const std::uint64_t key = ranks_per_node > 0 ? rank / ranks_per_node : address.machine;
    const auto [node, first] = nodes.try_emplace(key, static_cast<std::uint32_t>(nodes.size()));
    if (first) table.push_back({address.host, 0, 0, 0});
    ++table[node->second].ranks;
    const auto clock = clocks.try_emplace(address.clock, static_cast<std::uint32_t>(clocks.size())).first;
    homes.push_back({node->second, clock->second, machines.insert(address.machine).second ? 1U : 0U});
  }
  return homes;
}

}  // namespace

// MPI_Comm_split_type would find the nodes too, but its ranks spin: on an oversubscribed machine it takes seconds.
Nodes find_nodes(std::uint32_t ranks_per_node, const WaitOptions& waiting) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<Address> addresses = gather(own_address(), MPI_COMM_WORLD, waiting);
  Nodes nodes;
  std::vector<Home> homes(static_cast<std::size_t>(ranks));
  if (rank == 0) homes = assign_homes(addresses, ranks_per_node, nodes.table);
  broadcast(std::span(homes), MPI_COMM_WORLD, waiting);
  for (const Home& home : homes) {
    if (home.clock == nodes.first_of_clock.size())
      nodes.first_of_clock.push_back(static_cast<int>(nodes.of_rank.size()));
    nodes.of_rank.push_back(home.node);
    nodes.count = std::max(nodes.count, home.node + 1);
  }
  const Home& mine = homes[static_cast<std::size_t>(rank)];
  nodes.mine = mine.node;
  nodes.clock = mine.clock;
  nodes.counts = mine.counts != 0;
  nodes.host = host_name();
  return nodes;
}

std::uint32_t Nodes::count_of_first(std::uint32_t ranks) const {
  const auto end = of_rank.begin() + std::min<std::ptrdiff_t>(ranks, std::ssize(of_rank));
  return static_cast<std::uint32_t>(std::set<std::uint32_t>(of_rank.begin(), end).size());
}

std::vector<std::uint32_t> nodes_of(MPI_Comm communicator, const Nodes& nodes) {
  int ranks = 1;
  MPI_Comm_size(communicator, &ranks);
  return {nodes.of_rank.begin(), nodes.of_rank.begin() + ranks};
}

}  // namespace strider
