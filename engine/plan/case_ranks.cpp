#include "plan/case_ranks.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "foundation/error.hpp"
#include "plan/plan.hpp"

namespace strider {
namespace {

/// The ranks of a node of the run that a case may use, and how many of them it uses.
struct Bench {
  NumberRuns ranks;
  std::size_t used = 0;

  bool full() const { return used == ranks.size(); }
};
using Benches = std::vector<Bench>;

std::uint32_t limit_of(const GroupRanks& wanted) {
  return wanted.rank_placement.per_node > 0 ? wanted.rank_placement.per_node : ~std::uint32_t{0};
}

/// Of each node, in the order of their first ranks, without those of other groups.
Benches benches_of(const NumberRuns& node_of, const std::vector<bool>& taken, std::uint32_t limit) {
  std::map<std::uint32_t, std::size_t> numbers;
  Benches benches;
  std::optional<std::pair<std::uint32_t, std::size_t>> last;
  std::uint32_t rank = 0;
  for (const std::uint32_t node : node_of) {
    const std::uint32_t mine = rank++;
    if (taken[mine]) continue;
    if (!last || last->first != node) last = *numbers.try_emplace(node, benches.size()).first;
    if (last->second == benches.size()) benches.emplace_back();
    NumberRuns& ranks = benches[last->second].ranks;
    if (ranks.size() < limit) ranks.push_back(mine);
  }
  return benches;
}

std::size_t room_of(const Benches& benches) {
  return std::transform_reduce(benches.begin(), benches.end(), std::size_t{0}, std::plus<>(),
                               [](const Bench& bench) { return bench.ranks.size(); });
}

[[noreturn]] void refuse_nodes(const GroupRanks& test, std::size_t there) {
  throw InputError("nodes",
                   "the case needs " + std::to_string(test.rank_placement.nodes) + " nodes, but the run has " +
                       std::to_string(there),
                   "nodes = " + std::to_string(there) + " at most, or ranks on more nodes");
}

[[noreturn]] void refuse_room(const GroupRanks& test, const Benches& benches) {
  const std::string limit = test.rank_placement.per_node > 0
                                ? " with at most " + std::to_string(test.rank_placement.per_node) + " ranks each"
                                : "";
  throw InputError(test.rank_placement.per_node > 0 ? "per_node" : "clients",
                   "the case has " + std::to_string(test.clients) + " clients, but its nodes (" +
                       std::to_string(benches.size()) + limit + ") have " + std::to_string(room_of(benches)),
                   "fewer clients, or more ranks on each node");
}

/// Leaves the nodes that the case uses.
void choose_nodes(const GroupRanks& test, Benches& benches) {
  const std::uint32_t nodes = test.rank_placement.nodes;
  if (nodes > benches.size()) refuse_nodes(test, benches.size());
  if (nodes > 0) benches.resize(nodes);
  if (room_of(benches) < test.clients) refuse_room(test, benches);
  if (nodes > 0 || (test.rank_placement.placement == Placement::spread && test.rank_placement.per_node == 0)) return;
  std::size_t room = 0, needed = 0;
  while (room < test.clients) room += benches[needed++].ranks.size();
  benches.resize(needed);
}

/// Each node is full before the next one is used.
void fill(Benches& benches, std::size_t clients) {
  for (Bench& bench : benches) {
    bench.used = std::min(bench.ranks.size(), clients);
    clients -= bench.used;
  }
}

/// Nodes have equally many ranks, the first ones one more, as far as they have ranks.
void deal(Benches& benches, std::size_t clients) {
  while (clients > 0) {
    const auto open = static_cast<std::size_t>(
        std::count_if(benches.begin(), benches.end(), [](const Bench& bench) { return !bench.full(); }));
    const std::size_t share = std::max<std::size_t>(clients / open, 1);
    for (Bench& bench : benches) {
      const std::size_t more = std::min({share, bench.ranks.size() - bench.used, clients});
      bench.used += more;
      clients -= more;
    }
  }
}

/// Node after node.
NumberRuns in_blocks(const Benches& benches) {
  NumberRuns case_ranks;
  for (const Bench& bench : benches) case_ranks.append(bench.ranks.head(bench.used));
  return case_ranks;
}

/// A rank of each node in turn.
NumberRuns in_turns(const Benches& benches) {
  NumberRuns case_ranks;
  const auto rows = std::max_element(benches.begin(), benches.end(), [](const Bench& a, const Bench& b) {
                      return a.used < b.used;
                    })->used;
  for (std::size_t row = 0; row < rows; ++row)
    for (const Bench& bench : benches)
      if (row < bench.used) case_ranks.push_back(bench.ranks[row]);
  return case_ranks;
}

NumberRuns choose_ranks(const GroupRanks& wanted, const NumberRuns& node_of, const std::vector<bool>& taken) {
  const bool packs = wanted.rank_placement.placement == Placement::pack;
  Benches benches = benches_of(node_of, taken, limit_of(wanted));
  choose_nodes(wanted, benches);
  if (packs && wanted.rank_placement.nodes == 0) fill(benches, wanted.clients);
  else deal(benches, wanted.clients);
  return packs ? in_blocks(benches) : in_turns(benches);
}

std::uint32_t share_of(std::uint32_t all, std::uint32_t parts) { return (all + parts - 1) / parts; }

/// A case and the groups before it.
std::vector<GroupRanks> groups_of(const Case& test) {
  std::vector<GroupRanks> groups = test.earlier_groups;
  groups.push_back({test.clients, test.rank_placement});
  return groups;
}

bool is_alone_on_one_node(const Case& test) {
  const std::vector<GroupRanks> groups = groups_of(test);
  return std::ranges::all_of(
      groups, [](const GroupRanks& each) { return each.rank_placement.nodes + each.rank_placement.per_node == 0; });
}

/// Ranks that a node needs, so that each group finds its own there.
std::uint32_t widest_share(const Case& test) {
  std::uint32_t width = 0;
  for (const auto& [clients, rank_placement] : groups_of(test)) {
    if (rank_placement.per_node > 0) width += std::min(rank_placement.per_node, clients);
    else width += rank_placement.nodes > 0 ? share_of(clients, rank_placement.nodes) : clients;
  }
  return width;
}

/// Nodes of `width` ranks on which each group finds its own.
std::uint32_t nodes_needed(const Case& test, std::uint32_t width) {
  std::uint32_t nodes = 0;
  for (const auto& [clients, rank_placement] : groups_of(test))
    nodes =
        std::max({nodes, rank_placement.nodes,
                  share_of(clients, rank_placement.per_node > 0 ? std::min(width, rank_placement.per_node) : width)});
  return nodes;
}

}  // namespace

NumberRuns ranks_of_case(const Case& test, const NumberRuns& node_of) {
  std::vector<bool> taken(node_of.size(), false);
  for (const GroupRanks& group : test.earlier_groups)
    for (const std::uint32_t rank : choose_ranks(group, node_of, taken)) taken[rank] = true;
  return choose_ranks({test.clients, test.rank_placement}, node_of, taken);
}

std::uint32_t ranks_needed(const Case& test) {
  return std::transform_reduce(test.earlier_groups.begin(), test.earlier_groups.end(), test.clients, std::plus<>(),
                               [](const GroupRanks& group) { return group.clients; });
}

std::optional<NumberRuns> attempt_ranks_of_case(const Case& test, const NumberRuns& node_of) {
  try {
    return ranks_of_case(test, node_of);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

NumberRuns KnownCaseRanks::of(const Case& test, const NumberRuns& node_of) {
  const std::vector<GroupRanks> groups = groups_of(test);
  const auto known = std::ranges::find(known_, groups, [](const auto& entry) -> const auto& { return entry.first; });
  return known != known_.end() ? known->second : known_.emplace_back(groups, ranks_of_case(test, node_of)).second;
}

NodeShares shares_of(const NumberRuns& node_of) {
  std::map<std::uint32_t, std::uint32_t> ranks;
  auto last = ranks.end();
  for (const std::uint32_t node : node_of) {
    if (last == ranks.end() || last->first != node) last = ranks.try_emplace(node, 0).first;
    ++last->second;
  }
  NodeShares shares{.nodes = static_cast<std::uint32_t>(ranks.size()), .fewest = ~std::uint32_t{0}};
  for (const auto& [node, count] : ranks) {
    shares.fewest = std::min(shares.fewest, count);
    shares.most = std::max(shares.most, count);
  }
  return shares;
}

NumberRuns planned_nodes(const Case& test, std::uint32_t ranks, std::uint32_t ranks_per_node) {
  if (ranks_per_node == 0 && is_alone_on_one_node(test)) return consecutive_nodes(test.clients, 0);
  const std::uint32_t width = ranks_per_node > 0 ? ranks_per_node : widest_share(test);
  if (ranks_per_node == 0 || ranks == 0) ranks = width * nodes_needed(test, width);
  const NumberRuns node_of = consecutive_nodes(std::max(ranks, ranks_needed(test)), width);
  return node_of.at(ranks_of_case(test, node_of));
}

std::vector<std::size_t> members_of_turn(const Plan& plan, std::size_t case_index) {
  const std::uint64_t turn = plan.cases[case_index].turn;
  if (turn == 0) return {case_index};
  std::vector<std::size_t> members;
  for (std::size_t index = 0; index < plan.cases.size(); ++index)
    if (plan.cases[index].turn == turn) members.push_back(index);
  return members;
}

FileAssignments planned_assignments(const Case& test, const Plan& plan) {
  return {test.sharing, test.clients, planned_nodes(test, plan.ranks, plan.ranks_per_node)};
}

}  // namespace strider
