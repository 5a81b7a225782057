#include "repetitions/case_runner.hpp"

#include <algorithm>

#include "confinement/errands.hpp"
#include "confinement/remount.hpp"
#include "patterns/slices.hpp"
#include "phases/tasks.hpp"
#include "phases/write_record.hpp"
#include "plan/plan.hpp"
#include "ranks/exchange.hpp"
#include "ranks/interrupt.hpp"
#include "repetitions/cache_preparation.hpp"
#include "repetitions/case_repetition.hpp"
#include "repetitions/data_set_use.hpp"

namespace strider {
namespace {

constexpr std::uint64_t page_bytes = 4096;

/// A repetition of a case of data.
class TransferRepetition : private CaseRepetition {
 public:
  TransferRepetition(RunContext& context, const RepetitionTask& task)
      : CaseRepetition(context, task),
        pattern_(make_pattern_of(test_)),
        slices_(*pattern_),
        prepares_(test_.operations.front() != Operation::write && test_.interface->capabilities.stores() &&
                  !test_.data_set.used()),
        slot_bytes_((memory_bytes() + page_bytes - 1) / page_bytes * page_bytes),
        buffer_(std::max(slot_bytes_ * test_.depth, reads_slices() ? slices_.request_bytes(test_.clients) : 0)),
        generation_(repetition_ * generations_per_repetition) {
    // The plan was checked for the nodes it names; these are the ones it got.
    for (std::uint64_t file = 0; file < assignments_.files(); ++file) pattern_->check(assignments_.ranks_of(file));
    if (test_.verify == Verify::full) record_.emplace(test_, *pattern_, assignments_, *interface_);
    if (test_.data_set.used()) adopt_data_set();
    fill_with_noise(buffer_.get());
  }

  RepetitionOutcome run() {
    if (rank_ == 0) context_.events->case_begins(name_of_phase(""));
    RepetitionOutcome outcome;
    const auto refused = attempt([&] { connect(); });
    if (!share("connect", refused, outcome)) run_steps(outcome);
    remove_own_folder(outcome);
    return outcome;
  }

 private:
  /// What earlier cases and runs have left is what this one finds.
  void adopt_data_set() {
    set_.emplace(context_, test_, communicator_);
    const DataSetState& state = set_->state();
    check_use(test_, *pattern_, assignments_, state);
    generation_ = state.generation;
    if (makes_files()) return;
    available_ = set_->available_requests(*pattern_, assignments_);
    if (record_ && state.dense()) record_->found(state.generation, set_->file_bytes(assignments_));
    else if (record_) record_->written(Operation::write, state.generation, state.parts);
  }

  bool makes_files() const { return test_.operations.front() == Operation::write; }

  void run_steps(RepetitionOutcome& outcome) {
    if (set_ && makes_files()) remove_data_set(outcome);
    if (outcome.failed) return;
    if (prepares_) step(Operation::prefill, slices_, outcome);
    for (const Operation operation : test_.operations) {
      prepare_cache(operation, outcome);
      if (outcome.failed || outcome.interrupted || !may_measure(outcome)) break;
      step(operation, *pattern_, outcome);
    }
    await_other_groups();
    // Of a dense data set, what this case does not access is left to strider data verify.
    const bool leaves_files = set_ && set_->state().dense() && !writes_any(test_);
    if (record_ && !leaves_files && !outcome.failed && !outcome.interrupted && seems_right(outcome))
      check_files(outcome);
    remove_files(outcome);
  }

  /// Of this rank's own requests and of those whose data it reads.
  std::uint64_t memory_bytes() const {
    const std::uint32_t reads_as = readback_rank(test_, rank_, repetition_);
    return std::max(pattern_->memory_bytes(assignments_.assignment(rank_).place),
                    pattern_->memory_bytes(assignments_.assignment(reads_as).place));
  }

  bool reads_slices() const { return prepares_ || test_.verify == Verify::full; }

  /// What the case's cache policy wants done before a phase that reads.
  void prepare_cache(Operation operation, RepetitionOutcome& outcome) {
    cache_.reset();
    const bool applies = test_.interface->capabilities.stores() && reads(operation) && !outcome.failed;
    if (!applies || outcome.interrupted || test_.cache == CachePolicy::as_is) return;
    if (test_.cache == CachePolicy::warm) step(Operation::read, *pattern_, outcome, Purpose::preparation);
    if (outcome.failed || outcome.interrupted) return;
    if (test_.interface->capabilities.client == StorageClient::library) {
      cache_ = {test_.cache == CachePolicy::cold ? "cold" : "warm",
                "not known: the interface has its own client, whose cache is not visible", std::nullopt, ""};
      return;
    }
    const bool remounts = test_.cache == CachePolicy::cold && !context_.remount_command.empty();
    if (remounts && remount_target(outcome)) return;
    const FilesOfRank files(test_, assignments_, context_.nodes.of_rank, rank_, repetition_, context_.directory);
    cache_ = test_.cache == CachePolicy::cold ? make_cold(context_, communicator_, files)
                                              : examine_warm(context_, communicator_, files);
    if (remounts) cache_->action = "remount, " + cache_->action;
  }

  /// On each machine once, while no file is open. Whether it failed on one of them.
  bool remount_target(RepetitionOutcome& outcome) {
    constexpr double longest_s = 120;
    const double stall_s = context_.stall_timeout_s;  // the others wait for it
    const double deadline_s = stall_s > 0 ? std::min(longest_s, stall_s / 2) : longest_s;
    std::optional<IoError> refused;
    if (context_.folder != nullptr) context_.folder->release();
    share("remount", refused, outcome);  // all ranks have let go of it
    // Once it runs it is left to its end, since the target would stay unmounted.
    if (context_.nodes.counts && !interrupted()) refused = attempt([&] { remount_here(deadline_s); });
    return share("remount", refused, outcome);
  }

  void remount_here(double deadline_s) {
    const ErrandResult result = ask_errand(context_.errands, Errand::remount, std::to_string(deadline_s));
    if (result.state == ErrandResult::State::no_process) remount(context_.remount_command, deadline_s);
    if (result.state == ErrandResult::State::refused)
      throw IoError({"remount", context_.remount_command.front(), 0, 0, 0}, result.message, result.remedy);
  }

  using Purpose = PhaseTask::Purpose;
  void step(Operation operation, const Pattern& pattern, RepetitionOutcome& outcome,
            Purpose purpose = Purpose::measurement) {
    TransferTask task;
    const bool prefills = operation == Operation::prefill;
    const bool warms = purpose == Purpose::preparation && operation == Operation::read;
    task.name = name_of_phase(warms ? "preread" : std::string(name_of(operation)));
    task.purpose = prefills ? Purpose::preparation : purpose;
    complete(task, operation, totals_of(test_, pattern, assignments_, operation));
    task.cache = cache_;
    // Files are prepared in large pieces, one at a time.
    if (!prefills) task.depth = test_.depth;
    task.pattern = &pattern;
    task.interface = interface_.get();
    task.order = prefills ? OrderKind::forward : test_.order;
    task.memory = prefills ? buffer_.get() : buffer_.get().first(slot_bytes_ * test_.depth);
    task.request_limit = limit_of(operation);
    task.expected_generation = generation_;
    task.written_generation = prefills ? generation_ : generation_ + 1;
    if (set_ && writes(operation)) task.written_generation = set_->begin_writing(task.name);
    task.files = assignments_.files();
    task.known = known_files();
    task.record = record_ ? &*record_ : nullptr;
    const PhaseOutcome result = run_phase(context_, task);
    account(task, result, outcome);
    outcome.wrong = outcome.wrong || !result.valid;
    if (!prefills && writes(operation)) generation_ = task.written_generation;
    if (set_ && writes(operation)) set_->written(task.name, result, *pattern_, assignments_, size_of_files());
    // After a phase that its deadline cut short, only what every rank has written or warmed is there for the next ones.
    if (prefills || warms || writes(operation)) available_ = std::min(available_, result.completed_requests);
    else read_ = result.completed_requests;
  }

  DataSetUse::Size size_of_files() const {
    const bool at_once = test_.verify == Verify::full && interface_->sizes_new_files();
    return at_once ? DataSetUse::Size::of_pattern : DataSetUse::Size::of_written;
  }

  TransferTask::Known known_files() const {
    if (set_ && !makes_files()) return {set_->state().file_count(), set_->state().largest_file()};
    return {assignments_.files(), pattern_->file_size(assignments_.assignment(rank_).place.ranks)};
  }

  std::uint64_t limit_of(Operation operation) const {
    if (operation == Operation::prefill) return ~std::uint64_t{0};
    return operation == Operation::reread ? std::min(available_, read_) : available_;
  }

  /// What a phase has found wrong need not be looked for once more.
  bool seems_right(const RepetitionOutcome& outcome) {
    std::uint8_t right = outcome.wrong ? 0 : 1;  // as rank 0 knows
    broadcast(right, communicator_, {.stall_timeout_s = context_.stall_timeout_s});
    return right != 0;
  }

  /// Reads all files again, from end to end.
  void check_files(RepetitionOutcome& outcome) {
    TransferTask task;
    task.name = name_of_phase("check");
    task.purpose = Purpose::preparation;
    PhaseTotals totals;
    for (std::uint64_t file = 0; file < assignments_.files(); ++file) {
      totals.bytes += record_->size_of(file).least;
      for (std::uint32_t rank = 0; rank < assignments_.ranks_of(file); ++rank)
        totals.requests += slices_.requests({rank, assignments_.ranks_of(file)}, Direction::read);
    }
    complete(task, Operation::read, totals);
    task.pattern = pattern_.get();
    task.interface = interface_.get();
    task.memory = buffer_.get();
    task.files = assignments_.files();
    task.known = known_files();
    task.record = &*record_;
    const PhaseOutcome result = run_check_phase(context_, task);
    account(task, result, outcome);
    outcome.wrong = outcome.wrong || !result.valid;
  }

  /// Removes this rank's files; a file that stays would make the next repetition's write a rewrite, so all ranks hear
  /// of it.
  void remove_files(RepetitionOutcome& outcome) {
    if (!test_.interface->capabilities.stores() || set_) return;
    const FileAssignment assignment = assignments_.assignment(rank_);
    const auto error = attempt([&] {
      if (context_.folder != nullptr) context_.folder->check();
      if (assignment.place.rank == 0) interface_->remove(context_.directory + "/" + file_name(test_, assignment.file));
    });
    share("remove", error, outcome);
  }

  /// Of earlier repetitions of a case that makes its data set.
  void remove_data_set(RepetitionOutcome& outcome) {
    const std::uint64_t files = std::max(set_->state().file_count(), assignments_.files());
    const auto error = attempt([&] {
      for (std::uint64_t file = rank_; file < files; file += test_.clients)
        interface_->remove(context_.directory + "/" + file_name(test_, file));
    });
    share("remove", error, outcome);
  }

  std::unique_ptr<Pattern> pattern_;
  Slices slices_;
  bool prepares_;
  std::uint64_t slot_bytes_;  ///< memory of a request
  Buffer buffer_;
  std::uint64_t generation_;
  std::uint64_t available_ = ~std::uint64_t{0};
  std::uint64_t read_ = ~std::uint64_t{0};         ///< requests of the last phase that read
  std::optional<DataSetUse> set_;                  ///< where the files outlive the run
  std::optional<WriteRecord> record_;              ///< where the case is verified
  std::optional<Sample::CachePreparation> cache_;  ///< for the phase to come
};

}  // namespace

RepetitionOutcome run_repetition(RunContext& context, const RepetitionTask& task) {
  if (task.test.tree != nullptr) return run_metadata_repetition(context, task);
  return TransferRepetition(context, task).run();
}

}  // namespace strider
