#include "ceilings/ceilings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "ceilings/rank_ceilings.hpp"
#include "foundation/clock.hpp"
#include "foundation/units.hpp"
#include "measure/device_stream.hpp"
#include "measure/links.hpp"
#include "plan/case_ranks.hpp"
#include "ranks/communicators.hpp"
#include "ranks/exchange.hpp"
#include "ranks/interrupt.hpp"

namespace strider {
namespace {

/// So many sets of ranks are measured at most.
constexpr std::size_t most_crews = 6;
constexpr double device_seconds = 0.4;

/// Ranks of the run that a case uses, by number.
struct Crew {
  GroupRanks wanted;
  std::vector<std::uint32_t> ranks;
  NodeShares shares;

  bool operator<(const Crew& other) const {
    const auto order = [](const Crew& crew) {
      return std::make_tuple(crew.ranks.size(), crew.shares.nodes, crew.shares.most);
    };
    const auto mine = order(*this), theirs = order(other);
    return mine != theirs ? mine < theirs : ranks < other.ranks;
  }
};

/// Nothing where the nodes do not have the ranks: such a case is refused.
std::optional<Crew> crew_of(const GroupRanks& wanted, const Nodes& nodes) {
  Case test;  // a group with later ranks is taken to reach what as many of the first ranks do
  test.clients = wanted.clients;
  test.rank_placement = wanted.rank_placement;
  const auto case_ranks = attempt_ranks_of_case(test, nodes.of_rank);
  if (!case_ranks) return std::nullopt;
  std::vector<std::uint32_t> ranks = case_ranks->all();
  std::ranges::sort(ranks);
  Crew crew{wanted, std::move(ranks), shares_of(nodes.of_rank.at(*case_ranks))};
  return crew;
}

/// The selected ceilings, as rank 0 broadcasts them.
struct Selection {
  std::array<GroupRanks, most_crews> crews;
  std::size_t count = 0;
  bool uses_storage = false;
};

/// On rank 0: the crews of the cases, the smallest first; of many, some from the first to the last.
Selection select(const Plan& plan, const Nodes& nodes) {
  std::set<std::tuple<std::uint32_t, Placement, std::uint32_t, std::uint32_t>> seen;
  std::set<Crew> distinct;
  for (const Case& test : plan.cases) {
    const auto [placement, of_nodes, per_node] = test.rank_placement;
    if (!seen.insert({test.clients, placement, of_nodes, per_node}).second) continue;
    if (auto crew = crew_of({test.clients, test.rank_placement}, nodes)) distinct.insert(std::move(*crew));
  }
  Selection selection;
  selection.uses_storage =
      std::ranges::any_of(plan.cases, [](const Case& test) { return test.interface->capabilities.stores(); });
  const std::vector<Crew> all(distinct.begin(), distinct.end());
  selection.count = std::min(all.size(), most_crews);
  for (std::size_t i = 0; i < selection.count; ++i) {
    const std::size_t place = all.size() <= most_crews ? i : i * (all.size() - 1) / (most_crews - 1);
    selection.crews[i] = all[place].wanted;
  }
  return selection;
}

/// A ceiling of one node as it goes from rank to rank.
struct NodeCeiling {
  char name[24], about[160];
  double value, spread;
  std::uint32_t has_value, has_spread;
};

/// Results of the first rank of a node. Trivially copyable.
struct NodeCeilings {
  static constexpr std::size_t most = 4;
  std::array<NodeCeiling, most> each;
  std::uint32_t count, node;

  void add(const Ceiling& ceiling) {
    NodeCeiling& own = each[count++];
    std::strncpy(own.name, ceiling.name.c_str(), sizeof own.name - 1);
    std::strncpy(own.about, ceiling.about.c_str(), sizeof own.about - 1);
    own.value = ceiling.value.value_or(0);
    own.spread = ceiling.spread.value_or(0);
    own.has_value = ceiling.value ? 1 : 0;
    own.has_spread = ceiling.spread ? 1 : 0;
  }
  std::vector<Ceiling> ceilings() const {
    const auto if_known = [](std::uint32_t has, double number) {
      return has != 0 ? std::optional(number) : std::nullopt;
    };
    std::vector<Ceiling> all;
    for (std::uint32_t i = 0; i < count; ++i) {
      const NodeCeiling& own = each[i];
      all.push_back(
          {own.name, "MiB/s", if_known(own.has_value, own.value), if_known(own.has_spread, own.spread), own.about});
    }
    return all;
  }
};

Ceiling link_ceiling() {
  const Links links = find_links();
  Ceiling sum{"link", "MiB/s", std::nullopt, std::nullopt, ""};
  double total = 0;
  const auto mention = [&](const std::string& text) { sum.about += (sum.about.empty() ? "" : ", ") + text; };
  for (const Link& link : links.known) {
    total += link.mib_s;
    mention(link.name + " " + std::to_string(std::lround(link.mib_s * mib * 8 / 1e6)) + " Mbit/s");
  }
  for (const std::string& name : links.unknown) mention("the speed of " + name + " is not known");
  if (links.known.empty() && links.unknown.empty()) sum.about = "the node has no external network link";
  if (!links.known.empty() && links.unknown.empty()) sum.value = total;
  return sum;
}

/// What storage does by itself, named after what the stream measures: a device of the node, or whatever the target is.
/// All machines measure at once, and may do so in one place: `rank` makes the file's name this one's own.
void add_storage(const RunContext& context, int rank, std::size_t machines, NodeCeilings& mine) {
  const std::string prefix = context.storage.source == StorageSource::process ? "device_" : "target_";
  const bool in_memory = context.storage.file_system == "tmpfs" || context.storage.file_system == "ramfs";
  DeviceStream found;
  if (in_memory) {
    found.write.about = found.read.about = context.storage.file_system + " is in memory, without a storage device";
  } else {
    found = measure_device({.path = context.directory + "/ceiling." + std::to_string(rank),
                            .folder = context.folder,
                            .seconds = device_seconds,
                            .sharers = machines,
                            .go_on = [] { return !interrupted(); }});
  }
  found.write.name = prefix + "write";
  found.read.name = prefix + "read";
  mine.add(found.write);
  mine.add(found.read);
}

class Measurement {
 public:
  Measurement(const RunContext& context, const Plan& plan, CeilingMoment moment, const CommunicatorOf& communicator_of)
      : context_(context),
        moment_(moment),
        communicator_of_(communicator_of),
        waiting_{.patience = Patience::long_sleeps, .stall_timeout_s = context.stall_timeout_s} {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    Selection selection;
    if (rank_ == 0) selection = select(plan, context.nodes);
    broadcast(selection, MPI_COMM_WORLD, waiting_);
    uses_storage_ = selection.uses_storage;
    for (const GroupRanks& wanted : std::span(selection.crews).first(selection.count))
      if (auto crew = crew_of(wanted, context.nodes)) crews_.push_back(std::move(*crew));
    if (moment == CeilingMoment::end && !crews_.empty()) crews_ = {crews_.back()};
  }

  bool run() {
    // The largest number first: a rank that has done its part sleeps to the end, and wakes up for nothing between.
    for (auto crew = crews_.rbegin(); crew != crews_.rend() && !interrupted_; ++crew)
      if (std::ranges::binary_search(crew->ranks, static_cast<std::uint32_t>(rank_))) measure_clients(*crew);
    if (moment_ == CeilingMoment::start && !agreed()) measure_nodes();
    return agreed();
  }

 private:
  /// Rank 0 takes part in everything, so it knows.
  bool agreed() {
    interrupted_ = interrupted_ || interrupted();
    broadcast(interrupted_, MPI_COMM_WORLD, idle);
    return interrupted_;
  }

  /// Whether any rank was interrupted: then what was measured on its node was cut short.
  bool agreed_by_all() {
    interrupted_ = is_so_on_any(interrupted_ || interrupted(), MPI_COMM_WORLD, waiting_);
    return interrupted_;
  }

  void measure_clients(const Crew& crew) {
    const std::uint64_t begin = monotonic_ns();
    const auto here = std::ranges::count_if(
        crew.ranks, [&](std::uint32_t rank) { return context_.nodes.of_rank[rank] == context_.nodes.mine; });
    const std::vector<Ceiling> found =
        measure_ranks(context_, communicator_of_(crew.ranks), static_cast<std::uint32_t>(here), interrupted_);
    if (rank_ != 0 || found.empty()) return;
    report({.moment = moment_,
            .clients = static_cast<std::uint32_t>(crew.ranks.size()),
            .shares = crew.shares,
            .elapsed_s = seconds_since(begin),
            .ceilings = found});
  }

  /// On one rank of each node, all at once, while the others sleep.
  void measure_nodes() {
    const std::uint64_t begin = monotonic_ns();
    NodeCeilings mine{};
    mine.node = context_.nodes.mine;
    const NumberRuns leaders = context_.nodes.machine_of_rank.first_places();  // the lowest rank of each machine
    if (context_.nodes.counts) mine.add(link_ceiling());
    if (leaders.size() > 1) measure_between(leaders, mine);
    else if (ranks_ > 1 && rank_ < 2) measure_within(mine);
    if (context_.nodes.counts && uses_storage_) add_storage(context_, rank_, leaders.size(), mine);
    if (!agreed_by_all()) report_nodes(mine, begin);
  }

  void measure_between(const NumberRuns& leaders, NodeCeilings& mine) {
    if (!context_.nodes.counts) return;
    MPI_Comm communicator = communicator_among(leaders, "to measure the network between nodes", waiting_);
    mine.add(
        ceiling_of("network", "MiB/s", measure_messages(context_, communicator),
                   "1 MiB MPI messages in a ring of nodes: each sends to the next and receives from the previous one"));
    MPI_Comm_free(&communicator);
  }

  void measure_within(NodeCeilings& mine) {
    const std::vector<double> found = measure_messages(context_, communicator_of_({0, 1}));
    if (rank_ == 0)
      mine.add(
          ceiling_of("mpi_within_node", "MiB/s", found, "1 MiB MPI messages between two ranks, in both directions"));
  }

  void report_nodes(const NodeCeilings& mine, std::uint64_t begin) {
    for (const NodeCeilings& node : gather(mine, MPI_COMM_WORLD, waiting_))
      if (node.count > 0)
        report({.moment = moment_, .node = node.node, .elapsed_s = seconds_since(begin), .ceilings = node.ceilings()});
  }

  void report(const CeilingReport& found) { context_.events->ceilings(found); }
  static double seconds_since(std::uint64_t begin) { return static_cast<double>(monotonic_ns() - begin) * 1e-9; }

  const RunContext& context_;
  bool uses_storage_ = false;
  CeilingMoment moment_;
  const CommunicatorOf& communicator_of_;
  WaitOptions waiting_;  ///< for ranks that come at about the same time
  std::vector<Crew> crews_;
  int rank_ = 0, ranks_ = 1;
  bool interrupted_ = false;
};

}  // namespace

bool measure_ceilings(const RunContext& context, const Plan& plan, CeilingMoment moment,
                      const CommunicatorOf& communicator_of) {
  return Measurement(context, plan, moment, communicator_of).run();
}

}  // namespace strider
