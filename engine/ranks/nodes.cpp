#include "ranks/nodes.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <utility>

#include "foundation/clock.hpp"
#include "foundation/random.hpp"
#include "ranks/exchange.hpp"
#include "ranks/processors.hpp"

namespace strider {
namespace {

/// The most ranks whose process ids a run records, in about 13 KiB.
constexpr std::size_t most_processes = 1024;

/// What makes ranks neighbours, and what is recorded of each, as it sends it to rank 0.
struct Address {
  char host[64];
  std::uint64_t machine;  ///< hash of host name, boot and, under Slurm, the node within the step
  std::uint64_t clock;    ///< hash of the machine and the name space of time
  double time_of_day_s;   ///< when its monotonic clock showed 0
  std::int64_t process;
  Processors processors;
};

std::uint64_t hash_text(const std::string& text) {
  std::uint64_t hash = 0;
  for (const char letter : text) hash = hash_numbers(hash, static_cast<unsigned char>(letter));
  return hash;
}

/// The time of day at which the monotonic clock showed 0, by the quickest of some readings.
double time_of_day_at_zero_s() {
  double quickest_s = std::numeric_limits<double>::infinity(), found_s = 0;
  for (int reading = 0; reading < 5; ++reading) {
    const double before_s = static_cast<double>(monotonic_ns()) * 1e-9;
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    const double took_s = static_cast<double>(monotonic_ns()) * 1e-9 - before_s;
    if (took_s >= quickest_s) continue;
    quickest_s = took_s;
    found_s = now.count() - before_s - took_s / 2;
  }
  return found_s;
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
  address.time_of_day_s = time_of_day_at_zero_s();
  address.process = ::getpid();
  address.processors = find_processors();
  return address;
}

void add_rank(NodeInfo& node, const Address& address) {
  const std::uint32_t allowed = address.processors.allowed;
  node.affinity_cpus_min = node.ranks == 0 ? allowed : std::min(node.affinity_cpus_min, allowed);
  node.affinity_cpus_max = std::max(node.affinity_cpus_max, allowed);
  node.cpus = address.processors.online;
  node.numa_nodes = address.processors.numa_nodes;
  ++node.ranks;
}

/// Numbers in the order in which their keys are first seen.
class Numbering {
 public:
  std::uint32_t of(std::uint64_t key) {
    return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::uint64_t, std::uint32_t> numbers_;
};

/// On rank 0: numbers nodes and clocks in the order of their first ranks.
void number_homes(const std::vector<Address>& addresses, std::uint32_t ranks_per_node, Nodes& found) {
  Numbering nodes, clocks, machines;
  for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
    const Address& address = addresses[rank];
    const std::uint64_t key = ranks_per_node > 0 ? rank / ranks_per_node : address.machine;
    const std::uint32_t number = nodes.of(key);
    if (number == found.table.size()) found.table.push_back({.name = address.host});
    NodeInfo& node = found.table[number];
    add_rank(node, address);
    if (addresses.size() <= most_processes)
      node.processes.emplace_back(static_cast<std::uint32_t>(rank), address.process);
    found.of_rank.push_back(number);
    found.clock_of_rank.push_back(clocks.of(address.clock));
    found.machine_of_rank.push_back(machines.of(address.machine));
  }
}

/// Rank 0's list, on all ranks.
void broadcast_list(NumberRuns& list, std::uint32_t size, const WaitOptions& waiting) {
  std::vector<NumberRuns::Run> runs(list.runs().begin(), list.runs().end());
  broadcast_sized(runs, MPI_COMM_WORLD, waiting);
  list = NumberRuns(std::move(runs), size);
}

}  // namespace

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

// MPI_Comm_split_type would find the nodes too, but its ranks spin: on an oversubscribed machine it takes seconds.
Nodes find_nodes(std::uint32_t ranks_per_node, const WaitOptions& waiting) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<Address> addresses = gather(own_address(), MPI_COMM_WORLD, waiting);
  Nodes nodes;
  if (rank == 0) number_homes(addresses, ranks_per_node, nodes);
  for (const Address& address : addresses) nodes.time_of_day_of_rank_s.push_back(address.time_of_day_s);
  for (NumberRuns* const list : {&nodes.of_rank, &nodes.clock_of_rank, &nodes.machine_of_rank})
    broadcast_list(*list, static_cast<std::uint32_t>(ranks), waiting);
  nodes.host = host_name();
  nodes.note_firsts(static_cast<std::size_t>(rank));
  return nodes;
}

void Nodes::note_firsts(std::size_t me) {
  for (const std::uint32_t rank : clock_of_rank.first_places()) {
    first_of_clock.push_back(static_cast<int>(rank));
    clock_in_run.push_back(clock_of_rank[rank]);
  }
  mine = of_rank[me];
  const auto own_clock = std::ranges::find(clock_in_run, clock_of_rank[me]);
  clock = static_cast<std::uint32_t>(own_clock - clock_in_run.begin());
  counts = machine_of_rank.find(machine_of_rank[me]) == me;
}

Nodes Nodes::subset(const NumberRuns& case_ranks, std::size_t me) const {
  Nodes nodes;
  nodes.host = host;
  nodes.of_rank = of_rank.at(case_ranks);
  nodes.clock_of_rank = clock_of_rank.at(case_ranks);
  nodes.machine_of_rank = machine_of_rank.at(case_ranks);
  nodes.note_firsts(me);
  return nodes;
}

}  // namespace strider
