#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "foundation/number_runs.hpp"
#include "plan/case.hpp"
#include "plan/file_assignments.hpp"

namespace strider {

struct Plan;

/// The ranks of the run that take part in a case, in the order of the case's ranks: its rank i is rank `case_ranks[i]`
/// of the run. Nodes are used in the order of their first ranks. The first rank is rank 0, except in a case that leaves
/// ranks to earlier groups. Throws InputError where the nodes do not have the ranks that the case needs.
/// `node_of`: the node of each rank of the run.
NumberRuns ranks_of_case(const Case& test, const NumberRuns& node_of);

/// The same; nothing where it would throw.
std::optional<NumberRuns> attempt_ranks_of_case(const Case& test, const NumberRuns& node_of);

/// The ranks of the cases of a run, found once for all cases with the same clients, placement and earlier groups.
class KnownCaseRanks {
 public:
  /// As `ranks_of_case`. `node_of`: always the same.
  NumberRuns of(const Case& test, const NumberRuns& node_of);

 private:
  std::vector<std::pair<std::vector<GroupRanks>, NumberRuns>> known_;
};

/// The ranks that a case and the groups before it need, as far as no node has too few.
std::uint32_t ranks_needed(const Case& test);

/// Ranks on each node that a case uses, fewest and most. `node_of`: the node of each rank of the case.
struct NodeShares {
  std::uint32_t nodes = 0;
  std::uint32_t fewest = 0, most = 0;
};
NodeShares shares_of(const NumberRuns& node_of);

/// The node of each rank of a case as far as a plan tells: with `ranks_per_node` 0, the nodes that the case asks for,
/// or one. `ranks`: of the run, 0: as many as the case needs. Throws InputError as `ranks_of_case` does.
NumberRuns planned_nodes(const Case& test, std::uint32_t ranks, std::uint32_t ranks_per_node);

/// The files of a case's ranks on these nodes.
FileAssignments planned_assignments(const Case& test, const Plan& plan);

}  // namespace strider
