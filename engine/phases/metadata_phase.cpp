#include <unistd.h>

#include "foundation/random.hpp"
#include "operations/metadata_executor.hpp"
#include "operations/mix.hpp"
#include "phases/phase_worker.hpp"
#include "phases/tasks.hpp"
#include "plan/plan.hpp"
#include "plan/steps.hpp"
#include "ranks/exchange.hpp"

namespace strider {
namespace {

/// A rank that executes metadata operations on items of a tree.
class MetadataWorker final : public PhaseWorker {
 public:
  MetadataWorker(RunContext& context, const MetadataTask& task);
  std::uint64_t oldest_file() const { return mix_ ? mix_->oldest() : 0; }
  std::uint64_t existing_files() const { return mix_ ? mix_->living() : 0; }

 private:
  void prepare() override;
  void execute() override;
  void catch_up(std::uint64_t last) override { run(last, 0); }
  void complete(RankPart& part) override;
  bool limited() const override {
    const bool creates = metadata_.makes.has(Thing::files) || metadata_.makes.has(Thing::directories);
    return PhaseWorker::limited() && !works_level_by_level() && (creates || test_.deadline_of == DeadlineOf::all);
  }
  Stop run(std::uint64_t last, std::uint64_t deadline);
  void go_through_levels();
  void sync_node();
  std::uint64_t planned_operations() const;
  std::uint32_t acting_rank() const;
  bool works_level_by_level() const {
    return task_.operation == Operation::make_tree || task_.operation == Operation::remove_tree;
  }
  /// Each rank has numbers of its own then.
  bool works_on_mixed_files() const { return population_.mixed && metadata_.operates_on == OperatesOn::files; }
  /// Files of a data set always hold data that any later case can check.
  bool writes_into_data_set() const {
    return test_.data_set.used() && (task_.operation == Operation::create || task_.operation == Operation::small_write);
  }
  bool stores() const { return test_.interface->capabilities.stores(); }

  const MetadataTask& task_;
  const Population& population_;
  const MetadataOperation& metadata_;
  std::uint32_t acts_as_;
  FileAssignment assignment_;
  std::uint64_t operations_;
  std::uint64_t total_operations_ = 0;  ///< of all ranks, where these go at a rate
  Order order_;
  MetadataWork work_;
  Findings findings_;
  std::optional<MetadataExecutor> executor_;
  std::optional<Mix> mix_;
  std::optional<OperationLoop> mix_loop_;
  std::optional<Pace> pace_;
};

MetadataWorker::MetadataWorker(RunContext& context, const MetadataTask& task)
    : PhaseWorker(context, task),
      task_(task),
      population_(*task.population),
      metadata_(entry_of(task.operation).metadata),
      acts_as_(acting_rank()),
      assignment_(task.assignments->assignment(acts_as_)),
      operations_(planned_operations()),
      order_(order_of(test_, acts_as_, works_on_mixed_files() ? population_.files : task.tree->items())) {
  part_.had_requests = operations_;
  work_ = {.operation = task.operation,
           .tree = task.tree,
           .directory = task.directory,
           .top = file_name(test_, assignment_.file),
           .place = assignment_.place,
           .tree_number = assignment_.file,
           .order = &order_,
           .population = task.population,
           .sync = test_.sync,
           .memory = task.memory,
           .contents = {},
           .open_files = task.open_files,
           .checks = stores() ? MetadataWork::Checks::yes : MetadataWork::Checks::no};
  if (test_.verify == Verify::full || writes_into_data_set())
    work_.contents = identity_of(context, test_, 0, task.generation);
  executor_.emplace(work_, context.timer, *tally_, *this, findings_);
  if (task.operation != Operation::mix) return;
  const std::uint64_t seed = hash_numbers(test_.seed, rank_, task.name.repetition);
  mix_.emplace(test_.mix, seed, assignment_.place.rank, *task.population, *executor_, context.timer);
  mix_loop_.emplace(context.timer, *tally_, *this);
}

/// How much the ranks have to do may follow from what was done before.
void MetadataWorker::prepare() {
  if (test_.arrivals == Arrivals::closed && test_.rate_limit_per_s == 0) return;
  total_operations_ = operations_;
  all_reduce(std::span(&total_operations_, 1), MPI_SUM, task_.communicator, waiting());
}

/// The rank whose items this one works on.
std::uint32_t MetadataWorker::acting_rank() const {
  const auto me = static_cast<std::uint32_t>(rank_);
  if (metadata_.owner == MetadataOperation::Owner::own || works_on_mixed_files()) return me;
  return readback_rank(test_, me, task_.name.repetition, steps_of_shift(entry_of(task_.operation)));
}

std::uint64_t MetadataWorker::planned_operations() const {
  const std::uint64_t planned = operations_of(test_, *task_.tree, task_.operation, assignment_.place);
  if (task_.operation == Operation::lseek || task_.operation == Operation::close) return task_.open_files->size();
  if (task_.operation == Operation::mix || metadata_.operates_on == OperatesOn::tree ||
      metadata_.makes.has(Thing::files) || metadata_.makes.has(Thing::directories))
    return planned;
  if (metadata_.operates_on == OperatesOn::directories) return std::min(planned, population_.directories);
  // After a mix a rank may have more files than the tree was planned for.
  return metadata_.makes.has(Thing::open_files) ? std::min(planned, population_.files) : population_.files;
}

Stop MetadataWorker::run(std::uint64_t last, std::uint64_t deadline) {
  if (!mix_) return executor_->run(last, deadline, *pace_);
  return mix_loop_->run(last, deadline, *pace_,
                        [this](std::uint64_t, std::uint64_t waited) { return mix_->step(waited); });
}

/// Ranks that share a tree make a level together before the next one, and remove the deepest first.
void MetadataWorker::go_through_levels() {
  const Tree& tree = *task_.tree;
  const bool makes = task_.operation == Operation::make_tree;
  const bool shares = task_.assignments->files() < test_.clients;
  bool ended = false;
  for (unsigned step = 0; step < tree.levels() && !ended; ++step) {
    const unsigned level = makes ? step + 1 : tree.levels() - 1 - step;
    const std::uint64_t before = dealt_directories(assignment_.place, tree.first_of_level(level));
    guarded([&] { run(makes ? before : operations_ - before, 0); });
    ended = shares ? agree(ending() ? Vote::end : Vote::go_on) == Vote::end : ending();
  }
}

void MetadataWorker::execute() {
  const std::uint64_t begin = monotonic_ns();
  if (total_operations_ > 0)
    pace_.emplace(pace(static_cast<double>(operations_) / static_cast<double>(total_operations_)));
  else pace_.emplace(context_.timer);
  if (works_level_by_level()) go_through_levels();
  else guarded([&] { run(operations_, deadline_ticks()); });
  if (limited()) wear_out(operations_, test_.wear_out);
  if (task_.operation == Operation::chdir) guarded([&] { task_.directory->go_back(); });
  part_.transfer_s = seconds_between(begin, monotonic_ns() - untimed_ns_);
  if (test_.sync == SyncPolicy::node && stores() && !works_level_by_level() && !ending()) sync_node();
}

/// What the kernel holds of all its file systems: as the program sync does.
void MetadataWorker::sync_node() {
  if (task_.purpose != PhaseTask::Purpose::measurement) return;
  const std::uint64_t begin = monotonic_ns();
  ::sync();
  part_.sync_s = seconds_between(begin, monotonic_ns());
}

void MetadataWorker::complete(RankPart& part) {
  if (mix_) part.parts = mix_->tallies();
  if (pace_ && pace_->open()) part.arrivals = arrivals_of(*pace_);
  if (!stores()) return;
  const bool compares = work_.contents && task_.operation == Operation::small_read;
  part.verification = {compares ? tally_->bytes : 0, 0, findings_.count()};
  for (const Findings::Finding& finding : findings_.first())
    part.findings.push_back(describe_finding(finding, rank_, context_.nodes.host, context_.directory));
  if (!part.findings.empty()) part.findings.back().count += findings_.count() - part.findings.size();
}

}  // namespace

PhaseOutcome run_phase(RunContext& context, const MetadataTask& task) {
  MetadataWorker worker(context, task);
  PhaseOutcome outcome = run_worker(context, worker);
  outcome.oldest_file = worker.oldest_file();
  outcome.existing_files = worker.existing_files();
  return outcome;
}

}  // namespace strider
