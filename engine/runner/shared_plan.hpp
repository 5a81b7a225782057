#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace strider {

/// Cases that run at the same time, in the order of the plan.
struct TurnCases {
  std::vector<std::size_t> indices;  ///< in the plan
  std::vector<Case> cases;
};

/// The plan on all ranks of a run. Rank 0 reads it and keeps all cases; the other ranks check each case as it passes,
/// since their nodes may lack what it needs, and get it again when its turn comes. Collective over MPI_COMM_WORLD.
class SharedPlan {
 public:
  /// Reads the plan at `path` on rank 0. What is wrong with the plan as a whole goes into `errors` of all ranks, what
  /// is wrong with a case into those of the ranks that find it.
  SharedPlan(const std::string& path, std::vector<PlanError>& errors);

  /// Its cases are on rank 0 alone.
  const Plan& plan() const { return plan_; }
  /// The cases of a turn, of which this is the first. They stay until another turn begins.
  const TurnCases& begin_turn(std::size_t case_index);

 private:
  void read_cases(std::vector<std::string> pieces, std::vector<PlanError>& errors);

  int rank_ = 0;
  Plan plan_;
  std::optional<PlanReader> reader_;
  std::vector<std::string> pieces_;  ///< on rank 0, by case
  TurnCases turn_;
};

}  // namespace strider
