#include "plan/seats.hpp"

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
  std::vector<std::uint32_t> ranks;
  std::size_t used = 0;

  bool full() const { return used == ranks.size(); }
};
using Benches = std::vector<Bench>;

std::uint32_t limit_of(const Case& test) {
  return test.seating.per_node > 0 ? test.seating.per_node : ~std::uint32_t{0};
}

/// Of each node, in the order of their first ranks.
Benches benches_of(std::span<const std::uint32_t> node_of, std::uint32_t limit) {
  std::map<std::uint32_t, std::size_t> numbers;
  Benches benches;
  for (std::uint32_t rank = 0; rank < node_of.size(); ++rank) {
    const auto [found, first] = numbers.try_emplace(node_of[rank], benches.size());
    if (first) benches.emplace_back();
    std::vector<std::uint32_t>& ranks = benches[found->second].ranks;
    if (ranks.size() < limit) ranks.push_back(rank);
  }
  return benches;
}

std::size_t room_of(const Benches& benches) {
  return std::transform_reduce(benches.begin(), benches.end(), std::size_t{0}, std::plus<>(),
                               [](const Bench& bench) { return bench.ranks.size(); });
}

[[noreturn]] void refuse_nodes(const Case& test, std::size_t there) {
  throw InputError(
      "nodes",
      "the case needs " + std::to_string(test.seating.nodes) + " nodes, but the run has " + std::to_string(there),
      "nodes = " + std::to_string(there) + " at most, or ranks on more nodes");
}

[[noreturn]] void refuse_room(const Case& test, const Benches& benches) {
  const std::string limit =
      test.seating.per_node > 0 ? " with at most " + std::to_string(test.seating.per_node) + " ranks each" : "";
  throw InputError(test.seating.per_node > 0 ? "per_node" : "clients",
                   "the case has " + std::to_string(test.clients) + " clients, but its nodes (" +
                       std::to_string(benches.size()) + limit + ") have " + std::to_string(room_of(benches)),
                   "fewer clients, or more ranks on each node");
}

/// Leaves the nodes that the case uses.
void choose_nodes(const Case& test, Benches& benches) {
  const std::uint32_t nodes = test.seating.nodes;
  if (nodes > benches.size()) refuse_nodes(test, benches.size());
  if (nodes > 0) benches.resize(nodes);
  if (room_of(benches) < test.clients) refuse_room(test, benches);
  if (nodes > 0 || (test.seating.placement == Placement::spread && test.seating.per_node == 0)) return;
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
std::vector<std::uint32_t> in_blocks(const Benches& benches) {
  std::vector<std::uint32_t> seats;
  for (const Bench& bench : benches)
    seats.insert(seats.end(), bench.ranks.begin(), bench.ranks.begin() + static_cast<std::ptrdiff_t>(bench.used));
  return seats;
}

/// A rank of each node in turn.
std::vector<std::uint32_t> in_turns(const Benches& benches) {
  std::vector<std::uint32_t> seats;
  const auto rows = std::max_element(benches.begin(), benches.end(), [](const Bench& a, const Bench& b) {
                      return a.used < b.used;
                    })->used;
  for (std::size_t row = 0; row < rows; ++row)
    for (const Bench& bench : benches)
      if (row < bench.used) seats.push_back(bench.ranks[row]);
  return seats;
}

}  // namespace

std::vector<std::uint32_t> seats_of(const Case& test, std::span<const std::uint32_t> node_of) {
  const bool packs = test.seating.placement == Placement::pack;
  Benches benches = benches_of(node_of, limit_of(test));
  choose_nodes(test, benches);
  if (packs && test.seating.nodes == 0) fill(benches, test.clients);
  else deal(benches, test.clients);
  return packs ? in_blocks(benches) : in_turns(benches);
}

std::optional<std::vector<std::uint32_t>> attempt_seats(const Case& test, std::span<const std::uint32_t> node_of) {
  try {
    return seats_of(test, node_of);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

NodeShares shares_of(std::span<const std::uint32_t> node_of) {
  std::map<std::uint32_t, std::uint32_t> ranks;
  for (const std::uint32_t node : node_of) ++ranks[node];
  NodeShares shares{.nodes = static_cast<std::uint32_t>(ranks.size()), .fewest = ~std::uint32_t{0}};
  for (const auto& [node, count] : ranks) {
    shares.fewest = std::min(shares.fewest, count);
    shares.most = std::max(shares.most, count);
  }
  return shares;
}

std::vector<std::uint32_t> planned_nodes(const Case& test, std::uint32_t ranks, std::uint32_t ranks_per_node) {
  const auto [placement, nodes, per_node] = test.seating;
  if (ranks_per_node == 0 && nodes + per_node == 0) return consecutive_nodes(test.clients, 0);
  const auto share = [](std::uint32_t all, std::uint32_t parts) { return (all + parts - 1) / parts; };
  std::uint32_t width = ranks_per_node;
  if (width == 0) width = per_node > 0 ? per_node : share(test.clients, nodes);
  if (ranks_per_node == 0 || ranks == 0)
    ranks = width * std::max(nodes, share(test.clients, per_node > 0 ? std::min(width, per_node) : width));
  const std::vector<std::uint32_t> node_of = consecutive_nodes(std::max(ranks, test.clients), width);
  std::vector<std::uint32_t> found = seats_of(test, node_of);
  for (std::uint32_t& seat : found) seat = node_of[seat];
  return found;
}

FileAssignments planned_assignments(const Case& test, const Plan& plan) {
  return {test.sharing, test.clients, planned_nodes(test, plan.ranks, plan.ranks_per_node)};
}

}  // namespace strider
