#include <algorithm>

#include "foundation/error.hpp"
#include "operations/population.hpp"
#include "phases/tasks.hpp"
#include "plan/plan.hpp"
#include "plan/steps.hpp"
#include "repetitions/case_repetition.hpp"
#include "repetitions/case_runner.hpp"
#include "repetitions/data_set_use.hpp"
#include "repetitions/sweeper.hpp"

namespace strider {
namespace {

/// A repetition of a case of metadata.
class MetadataRepetition : private CaseRepetition {
 public:
  MetadataRepetition(RunContext& context, const RepetitionTask& task)
      : CaseRepetition(context, task), tree_(make_tree_of(test_)), buffer_(tree_->file_bytes()) {
    fill_with_noise(buffer_.get());
    population_.generation = repetition_ * generations_per_repetition;
    if (test_.data_set.used()) adopt_data_set();
    open_files_.reserve(std::min(tree_->items(), test_.open_files));
  }

  RepetitionOutcome run() {
    if (rank_ == 0) context_.events->case_begins(name_of_phase(""));
    RepetitionOutcome outcome;
    const auto error = attempt([&] {
      connect();
      directory_ = interface_->open_directory(context_.directory);
    });
    if (!share("open", error, outcome)) run_steps(outcome);
    remove_own_folder(outcome);
    return outcome;
  }

 private:
  /// What earlier cases and runs have left is what this one finds.
  void adopt_data_set() {
    set_.emplace(context_, test_, communicator_);
    kept_ = set_->state().tree;
    population_ = population_of(kept_, *tree_);
  }

  void run_steps(RepetitionOutcome& outcome) {
    sweeper_.emplace(*tree_, *directory_, assignments_, test_, rank_);
    for (const Step& step : steps_of(test_.operations, population_.present)) {
      if (outcome.failed || outcome.interrupted) break;
      if (step.kind == Step::Kind::measured && !may_measure(outcome)) break;
      if (step.kind == Step::Kind::sweep) sweep(step.swept, outcome);
      else execute(step, outcome);
    }
    await_other_groups();
    sweep(set_ ? made_.both({Thing::open_files}) : made_, outcome);
  }

  MetadataTask task_of(const Step& step) {
    const bool measured = step.kind == Step::Kind::measured;
    MetadataTask task;
    task.name = name_of_phase(measured ? std::string(name_of(step.operation)) : "prefill");
    task.purpose = measured ? PhaseTask::Purpose::measurement : PhaseTask::Purpose::preparation;
    task.unit = Unit::requests;
    complete(task, step.operation, totals_of(test_, *tree_, assignments_, step.operation));
    task.memory = buffer_.get();
    task.files = tree_->items() * test_.clients;
    task.tree = tree_.get();
    task.directory = directory_.get();
    task.population = &population_;
    task.open_files = &open_files_;
    const bool writes_contents = step.operation == Operation::create || step.operation == Operation::small_write;
    task.generation = writes_contents ? population_.generation + 1 : population_.generation;
    return task;
  }

  void execute(const Step& step, RepetitionOutcome& outcome) {
    // A mix numbers its files on from here: what not every rank came to before a deadline must not be in its way.
    if (step.operation == Operation::mix && !population_.whole) remove_surplus(outcome);
    if (outcome.failed) return;
    const MetadataTask task = task_of(step);
    made_.add(entry_of(step.operation).metadata.makes);
    const bool writes = set_ && entry_of(step.operation).metadata.population == MetadataOperation::Population::changes;
    if (writes) set_->begin_writing(task.name);
    const PhaseOutcome result = run_phase(context_, task);
    keep_account(task, result);
    if (writes && !result.failed && !result.interrupted) report_population(task);
    account(task, result, outcome);
    if (step.kind != Step::Kind::measured) return;
    // What a removal did not come to before its deadline, or an earlier phase before its own, is removed now.
    const Things removed = entry_of(step.operation).metadata.removes;
    if (!outcome.failed && !is_gone(result) && !removed.empty() && step.operation != Operation::mix)
      sweep(removed, outcome);
  }

  void report_population(const MetadataTask& task) {
    kept_ = state_of(population_, kept_, task.operation);
    const Things made = entry_of(task.operation).metadata.makes;
    if (made.has(Thing::files) || made.has(Thing::directories)) kept_.order_hash = test_.order_hash;
    set_->populated(task.name, kept_);
  }

  /// Whether a phase that removes things has removed all there were; ranks have equally many items of a data set.
  bool is_gone(const PhaseOutcome& result) const {
    return result.completed_requests == PhaseOutcome::all && (population_.whole || set_);
  }

  void keep_account(const MetadataTask& task, const PhaseOutcome& result) {
    sweeper_->note(task.operation, result);
    std::erase(open_files_, Directory::closed);
    const bool cut = result.completed_requests != PhaseOutcome::all;
    if (result.failed || result.interrupted) return;
    population_.generation = task.generation;
    population_.complete(task.operation, *tree_, result.completed_requests, cut);
    if (is_gone(result) && task.operation != Operation::mix) made_.remove(entry_of(task.operation).metadata.removes);
    if (task.operation != Operation::mix) return;
    population_.mixed = true;
    population_.first_file = result.oldest_file;
    population_.files = result.existing_files;
  }

  /// Removes things, unmeasured; what cannot be removed fails the case, since the next repetition would meet it.
  void sweep(Things things, RepetitionOutcome& outcome) {
    std::optional<IoError> error;
    if (things.has(Thing::open_files)) error = attempt([&] { close_files(); });
    if (const auto other = attempt([&] { sweeper_->remove_items(things); })) error = other;
    share("remove", error, outcome);
    if (things.has(Thing::tree)) remove_tree(outcome);
    population_.remove(things);
    made_.remove(things);
  }

  void remove_surplus(RepetitionOutcome& outcome) {
    const std::uint64_t next = population_.first_file + population_.files;
    const auto error = attempt([&] { sweeper_->remove_files_from(next); });
    share("remove", error, outcome);
  }

  /// A level at a time: ranks that share a tree have removed what is below before they remove what is above.
  void remove_tree(RepetitionOutcome& outcome) {
    for (unsigned level = tree_->levels(); level-- > 0;) {
      const auto error = attempt([&] { sweeper_->remove_level(level); });
      if (share("remove", error, outcome)) return;
    }
  }

  /// All of them, also after an error.
  void close_files() {
    std::optional<IoError> error;
    for (const Directory::Handle file : open_files_)
      if (const auto other = attempt([&] { directory_->close(file, ""); })) error = other;
    open_files_.clear();
    if (error) throw IoError(*error);
  }

  std::unique_ptr<Tree> tree_;
  Buffer buffer_;
  std::unique_ptr<Directory> directory_;
  std::vector<Directory::Handle> open_files_;
  Population population_;
  std::optional<DataSetUse> set_;
  TreeState kept_;  ///< in the data set
  Things made_;     ///< what may be there, as far as this repetition made it
  std::optional<Sweeper> sweeper_;
};

}  // namespace

RepetitionOutcome run_metadata_repetition(RunContext& context, const RepetitionTask& task) {
  return MetadataRepetition(context, task).run();
}

}  // namespace strider
