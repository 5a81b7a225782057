#include "repetitions/simulated_repetition.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "foundation/random.hpp"
#include "phases/simulated_phase.hpp"
#include "plan/plan.hpp"
#include "plan/totals.hpp"
#include "repetitions/case_repetition.hpp"

namespace strider {
namespace {

constexpr double phase_s = 2;
constexpr double spread = 0.02;  ///< between phases
constexpr double pause_s = 0.5;
constexpr std::uint32_t fewest_nodes = 3;  ///< with a slow node, which is not that of the straggler
constexpr std::uint64_t slow_node_period = 3;

class SimulatedRepetition {
 public:
  SimulatedRepetition(RunContext& context, const RepetitionTask& task, SimulatedTime& time)
      : context_(context),
        test_(task.test),
        repetition_(task.repetition),
        communicator_(task.communicator),
        progress_(task.progress),
        time_(time),
        assignments_(test_.sharing, test_.clients, context.nodes.of_rank),
        shares_(shares_of(context.nodes.of_rank)) {
    if (test_.tree != nullptr) tree_ = make_tree_of(test_);
    else pattern_ = make_pattern_of(test_);
  }

  RepetitionOutcome run() {
    const bool reports = rank_in(communicator_) == 0;
    if (reports) context_.events->case_begins(name_of_phase(""));
    RepetitionOutcome outcome;
    for (const Operation operation : test_.operations) {
      const PhaseTask task = task_of(operation);
      const PhaseOutcome result = run_simulated_phase(context_, task, next_work());
      if (reports) outcome.rates[task.name.operation] = result.rate;
      ++progress_.done_phases;
    }
    return outcome;
  }

 private:
  PhaseName name_of_phase(std::string operation) const {
    return {test_.number, repetition_, repetition_ < test_.warmup, std::move(operation)};
  }

  PhaseTask task_of(Operation operation) const {
    PhaseTask task;
    task.test = &test_;
    task.communicator = communicator_;
    task.operation = operation;
    task.name = name_of_phase(std::string(name_of(operation)));
    task.unit = tree_ ? Unit::requests : Unit::bytes;
    task.assignments = &assignments_;
    task.shares = shares_;
    task.files = tree_ ? tree_->items() * test_.clients : assignments_.files();
    const PhaseTotals totals = tree_ ? totals_of(test_, *tree_, assignments_, operation)
                                     : totals_of(test_, *pattern_, assignments_, operation);
    task.total_bytes = totals.bytes;
    task.total_requests = totals.requests;
    task.done_phases = progress_.done_phases;
    task.planned_phases = progress_.planned_phases;
    return task;
  }

  SimulatedWork next_work() {
    const std::uint64_t number = time_.phases++;
    const double noise = static_cast<double>(hash_numbers(test_.seed, number) >> 11) * 0x1p-53;
    const double duration_s = std::max(phase_s, test_.ramp_s + test_.runtime_s) * (1 + spread * (2 * noise - 1));
    const double begin_s = time_.now_s;
    time_.now_s += slow_node_factor * (1 + simulated_spread) * duration_s + pause_s;
    // A single rank is no straggler: there is no other to wait for it.
    const std::uint32_t straggler = test_.clients > 1 ? test_.clients / 3 * 2 : test_.clients;
    SimulatedWork work{
        .number = number, .begin_s = begin_s, .duration_s = duration_s, .straggler = straggler, .slow_node = {}};
    // Not in each repetition: events of many ranks name the last rank of a phase alone, and the straggler has to be it
    // in most of them.
    if (repetition_ % slow_node_period == slow_node_period - 1) work.slow_node = slow_node(straggler);
    return work;
  }

  std::optional<std::uint32_t> slow_node(std::uint32_t straggler) const {
    if (shares_.nodes < fewest_nodes) return std::nullopt;
    const std::uint32_t third = (shares_.nodes - 1) / 3;
    return context_.nodes.of_rank[straggler] == third ? third + 1 : third;
  }

  RunContext& context_;
  const Case& test_;
  std::uint64_t repetition_;
  MPI_Comm communicator_;
  RunProgress progress_;
  SimulatedTime& time_;
  FileAssignments assignments_;
  NodeShares shares_;
  std::unique_ptr<Pattern> pattern_;
  std::unique_ptr<Tree> tree_;
};

}  // namespace

Nodes simulated_nodes(std::uint32_t ranks, std::uint32_t ranks_per_node) {
  Nodes nodes;
  nodes.host = host_name();
  nodes.of_rank = consecutive_nodes(ranks, ranks_per_node);
  nodes.machine_of_rank = nodes.of_rank;
  nodes.clock_of_rank = NumberRuns::equal(0, ranks);
  const std::uint32_t last = nodes.of_rank[ranks - 1];
  for (std::uint32_t node = 0; node <= last; ++node)
    nodes.table.push_back({.name = "simulated-" + std::to_string(node)});
  for (const std::uint32_t node : nodes.of_rank) ++nodes.table[node].ranks;
  nodes.note_firsts(0);
  return nodes;
}

RepetitionOutcome simulate_repetition(RunContext& context, const RepetitionTask& task, SimulatedTime& time) {
  return SimulatedRepetition(context, task, time).run();
}

}  // namespace strider
