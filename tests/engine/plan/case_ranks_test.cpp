#include "plan/case_ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "foundation/error.hpp"
#include "plan/file_assignments.hpp"
#include "plans.hpp"

namespace strider {
namespace {

using Ranks = std::vector<std::uint32_t>;

Case case_on(std::uint32_t clients, RankPlacement rank_placement) {
  Case test;
  test.clients = clients;
  test.rank_placement = rank_placement;
  return test;
}

RankPlacement packed(std::uint32_t nodes = 0, std::uint32_t per_node = 0) { return {Placement::pack, nodes, per_node}; }
RankPlacement spread(std::uint32_t nodes = 0, std::uint32_t per_node = 0) {
  return {Placement::spread, nodes, per_node};
}

Ranks homes_of(const Ranks& case_ranks, const Ranks& node_of) {
  Ranks homes;
  for (const std::uint32_t rank : case_ranks) homes.push_back(node_of[rank]);
  return homes;
}

std::vector<std::uint32_t> counts_of(const Ranks& homes, std::uint32_t nodes) {
  std::vector<std::uint32_t> counts(nodes);
  for (const std::uint32_t home : homes) ++counts[home];
  return counts;
}

/// Runs of up to 24 ranks on up to 6 nodes: in blocks, in turns, and at random, nodes numbered by their first ranks.
std::vector<Ranks> layouts() {
  std::vector<Ranks> all;
  std::mt19937 random(7);
  for (std::uint32_t nodes = 1; nodes <= 6; ++nodes)
    for (std::uint32_t width = 1; width <= 4; ++width) {
      Ranks blocks = consecutive_nodes(nodes * width, width).all(), turns;
      for (std::uint32_t rank = 0; rank < nodes * width; ++rank) turns.push_back(rank % nodes);
      Ranks mixed = blocks;
      std::shuffle(mixed.begin(), mixed.end(), random);
      Ranks numbers(nodes, nodes);
      std::uint32_t next = 0;
      for (std::uint32_t& node : mixed) {
        if (numbers[node] == nodes) numbers[node] = next++;
        node = numbers[node];
      }
      all.insert(all.end(), {blocks, turns, mixed});
    }
  return all;
}

/// Calls `check` with each layout, each number of clients and each placement.
template <typename Check>
void for_all(const Check& check) {
  for (const Ranks& node_of : layouts())
    for (std::uint32_t clients = 1; clients <= node_of.size(); ++clients)
      for (const Placement placement : {Placement::pack, Placement::spread})
        check(node_of, clients, placement, ranks_of_case(case_on(clients, {placement}), node_of).all());
}

TEST(CaseRanks, AreRanksOfTheRunEachOnceAndRank0First) {
  for_all([](const Ranks& node_of, std::uint32_t clients, Placement, const Ranks& case_ranks) {
    ASSERT_EQ(case_ranks.size(), clients);
    EXPECT_EQ(case_ranks[0], 0U);
    EXPECT_EQ(std::set<std::uint32_t>(case_ranks.begin(), case_ranks.end()).size(), clients);
    EXPECT_LT(*std::ranges::max_element(case_ranks), node_of.size());
  });
}

TEST(CaseRanks, SpreadUsesAllNodesThatItCanAndDiffersByOneAtMost) {
  for_all([](const Ranks& node_of, std::uint32_t clients, Placement placement, const Ranks& case_ranks) {
    if (placement != Placement::spread) return;
    const NodeShares run = shares_of(node_of), shares = shares_of(homes_of(case_ranks, node_of));
    EXPECT_EQ(shares.nodes, std::min(clients, run.nodes));
    EXPECT_LE(shares.most - shares.fewest, 1U);
  });
}

TEST(CaseRanks, SpreadPutsConsecutiveRanksOnDifferentNodes) {
  for_all([](const Ranks& node_of, std::uint32_t, Placement placement, const Ranks& case_ranks) {
    if (placement != Placement::spread || shares_of(node_of).nodes == 1) return;
    const Ranks homes = homes_of(case_ranks, node_of);
    EXPECT_EQ(std::ranges::adjacent_find(homes), homes.end());
  });
}

TEST(CaseRanks, PackUsesTheFewestNodesAndFillsThemOneAfterTheOther) {
  for_all([](const Ranks& node_of, std::uint32_t clients, Placement placement, const Ranks& case_ranks) {
    if (placement != Placement::pack) return;
    const std::uint32_t width = shares_of(node_of).most;  // all nodes of these layouts are alike
    const Ranks homes = homes_of(case_ranks, node_of);
    EXPECT_EQ(shares_of(homes).nodes, (clients + width - 1) / width);
    EXPECT_TRUE(std::ranges::is_sorted(homes));
  });
}

TEST(CaseRanks, PackOfConsecutiveRanksIsTheFirstRanks) {
  const Ranks case_ranks = ranks_of_case(case_on(5, packed()), consecutive_nodes(8, 2)).all();
  EXPECT_EQ(case_ranks, (Ranks{0, 1, 2, 3, 4}));
}

TEST(CaseRanks, EightRanksOnFourNodesAreSeatedAsTheManualShows) {
  const Ranks node_of = consecutive_nodes(8, 2).all();
  const auto counts = [&](std::uint32_t clients, RankPlacement rank_placement) {
    return counts_of(homes_of(ranks_of_case(case_on(clients, rank_placement), node_of).all(), node_of), 4);
  };
  using Counts = std::vector<std::uint32_t>;
  EXPECT_EQ(counts(1, packed()), (Counts{1, 0, 0, 0}));
  EXPECT_EQ(counts(2, packed()), (Counts{2, 0, 0, 0}));
  EXPECT_EQ(counts(4, packed()), (Counts{2, 2, 0, 0}));
  EXPECT_EQ(counts(8, packed()), (Counts{2, 2, 2, 2}));
  EXPECT_EQ(counts(1, spread()), (Counts{1, 0, 0, 0}));
  EXPECT_EQ(counts(2, spread()), (Counts{1, 1, 0, 0}));
  EXPECT_EQ(counts(4, spread()), (Counts{1, 1, 1, 1}));
  EXPECT_EQ(counts(8, spread()), (Counts{2, 2, 2, 2}));
}

TEST(CaseRanks, AreOnAsManyNodesAsTheCaseNames) {
  const Ranks node_of = consecutive_nodes(16, 4).all();
  EXPECT_EQ(ranks_of_case(case_on(6, packed(3, 2)), node_of), (NumberRuns{0, 1, 4, 5, 8, 9}));
  EXPECT_EQ(ranks_of_case(case_on(6, spread(3, 2)), node_of), (NumberRuns{0, 4, 8, 1, 5, 9}));
  EXPECT_EQ(ranks_of_case(case_on(5, packed(2)), node_of), (NumberRuns{0, 1, 2, 4, 5}))
      << "the first node has one more";
  EXPECT_EQ(ranks_of_case(case_on(5, packed(0, 2)), node_of), (NumberRuns{0, 1, 4, 5, 8}))
      << "the last node has the rest";
  EXPECT_EQ(ranks_of_case(case_on(5, spread(0, 3)), node_of), (NumberRuns{0, 4, 1, 5, 2}));
}

TEST(CaseRanks, NodesThatAreSmallerAreFullAndTheOthersShareTheRest) {
  const Ranks node_of{0, 1, 1, 1, 1, 2, 2, 2};
  EXPECT_EQ(counts_of(homes_of(ranks_of_case(case_on(6, spread()), node_of).all(), node_of), 3), (Ranks{1, 3, 2}));
  EXPECT_EQ(counts_of(homes_of(ranks_of_case(case_on(6, packed()), node_of).all(), node_of), 3), (Ranks{1, 4, 1}));
}

std::string refusal(const Case& test, const Ranks& node_of) {
  try {
    ranks_of_case(test, node_of);
  } catch (const InputError& error) {
    return std::string(error.key()) + ": " + error.what();
  }
  return "";
}

TEST(CaseRanks, ThatTheRunDoesNotHaveAreRefusedWithBothNumbers) {
  const Ranks node_of = consecutive_nodes(8, 2).all();
  EXPECT_EQ(refusal(case_on(5, packed(5, 1)), node_of), "nodes: the case needs 5 nodes, but the run has 4");
  EXPECT_EQ(refusal(case_on(6, spread(2, 3)), node_of),
            "per_node: the case has 6 clients, but its nodes (2 with at most 3 ranks each) have 4");
  EXPECT_EQ(refusal(case_on(5, packed(2)), node_of), "clients: the case has 5 clients, but its nodes (2) have 4");
  EXPECT_FALSE(attempt_ranks_of_case(case_on(5, packed(2)), node_of));
}

TEST(CaseRanks, OfLaterGroupsAreTheRanksThatEarlierOnesLeave) {
  for (const Ranks& node_of : layouts())
    for (std::uint32_t first = 1; first < node_of.size(); ++first)
      for (const Placement placement : {Placement::pack, Placement::spread}) {
        const auto rest = static_cast<std::uint32_t>(node_of.size()) - first;
        Case later = case_on(rest, {placement});
        later.earlier_groups = {{first, {placement}}};
        Ranks all = ranks_of_case(case_on(first, {placement}), node_of).all();
        const Ranks case_ranks = ranks_of_case(later, node_of).all();
        all.insert(all.end(), case_ranks.begin(), case_ranks.end());
        EXPECT_EQ(std::set<std::uint32_t>(all.begin(), all.end()).size(), node_of.size()) << "each rank once";
        EXPECT_EQ(ranks_needed(later), node_of.size());
      }
}

TEST(KnownCaseRanks, AreThoseOfEachCase) {
  const NumberRuns node_of = consecutive_nodes(16, 4);
  Case later = case_on(3, spread(2));
  later.earlier_groups = {{5, packed()}};
  KnownCaseRanks known;
  for (int time = 0; time < 2; ++time)
    for (const Case& test : {case_on(3, packed()), case_on(3, spread()), case_on(3, spread(2)), later,
                             case_on(3, packed(0, 2)), case_on(4, packed())})
      EXPECT_EQ(known.of(test, node_of), ranks_of_case(test, node_of));
}

TEST(CaseRanks, OfLaterGroupsFollowTheirOwnPlacement) {
  Case later = case_on(1, packed());
  later.earlier_groups = {{3, packed()}};
  EXPECT_EQ(ranks_of_case(later, consecutive_nodes(4, 2)), (NumberRuns{3}));
  later.earlier_groups = {{2, spread()}};
  later.clients = 2;
  EXPECT_EQ(ranks_of_case(later, consecutive_nodes(4, 2)), (NumberRuns{1, 3}));
  later.clients = 3;
  EXPECT_EQ(refusal(later, consecutive_nodes(4, 2).all()), "clients: the case has 3 clients, but its nodes (2) have 2");
}

TEST(PlannedNodes, AreThoseThatTheCaseAsksForOrThePlanSimulates) {
  EXPECT_EQ(planned_nodes(case_on(3, spread()), 8, 0), (NumberRuns{0, 0, 0})) << "the plan does not know the nodes";
  EXPECT_EQ(planned_nodes(case_on(4, spread(2, 2)), 8, 0), (NumberRuns{0, 1, 0, 1}));
  EXPECT_EQ(planned_nodes(case_on(5, packed(0, 2)), 0, 0), (NumberRuns{0, 0, 1, 1, 2}));
  EXPECT_EQ(planned_nodes(case_on(3, spread()), 8, 2), (NumberRuns{0, 1, 2}));
  EXPECT_EQ(planned_nodes(case_on(3, packed(3)), 0, 4), (NumberRuns{0, 1, 2})) << "the run will have ranks enough";
  EXPECT_THROW(planned_nodes(case_on(5, packed(5)), 8, 2), InputError);
}

TEST(CaseRankPlacement, ClientsFollowFromNodesAndRanksOnEach) {
  const Case test = good_case(case_text(R"("nodes": 3, "per_node": 2, "placement": "spread")"));
  EXPECT_EQ(test.clients, 6U);
  EXPECT_EQ(test.rank_placement.placement, Placement::spread);
  EXPECT_EQ(good_case(case_text(R"("clients": 6, "nodes": 3, "per_node": 2)")).clients, 6U);
}

TEST(CaseRankPlacement, ContradictionsAreNamedByTheirKey) {
  EXPECT_EQ(key_at_fault(case_text(R"("clients": 5, "nodes": 3, "per_node": 2)")), "clients");
  EXPECT_EQ(key_at_fault(case_text(R"("clients": 2, "nodes": 3)")), "nodes");
  EXPECT_EQ(key_at_fault(case_text(R"("nodes": 5000, "per_node": 5000)")), "per_node");
  EXPECT_EQ(key_at_fault(case_text(R"("placement": "scatter")")), "placement");
  EXPECT_EQ(key_at_fault(tree_text(R"("clients": 2, "nodes": 3)")), "nodes");
  const auto errors = errors_of({case_text(R"("clients": 5, "nodes": 5)")}, R"("ranks": 8, "ranks_per_node": 2, )");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].key, "nodes") << "the plan knows its nodes";
}

TEST(Groups, OfAPlanHaveTheirTurnAndLeaveRanksToOthers) {
  const std::string turn = R"("turn": {"number": 1, "earlier": [{"clients": 3, "nodes": 0, "per_node": 0}]})";
  const Plan plan = good_plan({case_text(R"("clients": 3, "group": "a", "turn": {"number": 1, "earlier": []})"),
                               case_text(R"("clients": 2, "group": "b", "start": 1.5, )" + turn), case_text()});
  EXPECT_EQ(plan.ranks, 5U);
  EXPECT_EQ(members_of_turn(plan, 0), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(members_of_turn(plan, 2), (std::vector<std::size_t>{2}));
  EXPECT_EQ(plan.cases[1].start_s, 1.5);
  EXPECT_EQ(ranks_of_case(plan.cases[1], consecutive_nodes(5, 5)), (NumberRuns{3, 4}));
}

TEST(Groups, AreRefusedWhatWouldDisturbOthers) {
  EXPECT_EQ(key_at_fault(case_text(R"("start": 1)")), "start");
  EXPECT_EQ(key_at_fault(case_text(R"("group": "a", "repetitions": {"min": 3, "max": 9, "until": 0.05})")),
            "repetitions");
  EXPECT_EQ(key_at_fault(case_text(R"("group": "a", "operations": ["read", "reread"], "cache": "cold")")), "cache");
  EXPECT_EQ(key_at_fault(case_text(R"("group": "a", "turn": 1)")), "turn");
  EXPECT_EQ(key_at_fault(case_text(R"("group": "a", "turn": {"number": -1, "earlier": []})")), "turn");
}

TEST(CaseRankPlacement, TheDataInFilesDoesNotDependOnIt) {
  const auto workload = [](const std::string& more) { return good_case(case_text(more)).workload; };
  EXPECT_EQ(workload(R"("clients": 4, "nodes": 2, "placement": "spread")"), workload(R"("clients": 4)"));
}

TEST(PlannedNodes, DecideWhichRanksShareAFilePerNode) {
  const Plan plan =
      good_plan({case_text(R"("nodes": 2, "per_node": 3, "sharing": "per-node", "placement": "spread")")});
  const Case& test = plan.cases[0];
  const FileAssignments files(test.sharing, test.clients, planned_nodes(test, plan.ranks, plan.ranks_per_node));
  EXPECT_EQ(files.files(), 2U);
  EXPECT_EQ(files.assignment(3).file, 1U);
  EXPECT_EQ(files.assignment(3).place.rank, 1U);
  EXPECT_EQ(files.assignment(3).place.ranks, 3U);
}

}  // namespace
}  // namespace strider
