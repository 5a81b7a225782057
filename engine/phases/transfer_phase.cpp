#include <array>

#include "foundation/random.hpp"
#include "operations/queued_transfer.hpp"
#include "phases/file_group.hpp"
#include "phases/hole_map.hpp"
#include "phases/phase_worker.hpp"
#include "phases/size_check.hpp"
#include "phases/tasks.hpp"
#include "ranks/exchange.hpp"

namespace strider {
namespace {

/// A rank that opens a file, transfers, syncs and closes it.
class TransferWorker final : public PhaseWorker {
 public:
  TransferWorker(RunContext& context, const TransferTask& task);

 private:
  void execute() override;
  void catch_up(std::uint64_t last) override { run(last, 0); }
  Stop run(std::uint64_t last, std::uint64_t deadline);
  void run_passes(std::uint64_t end_ticks);
  void begin_pass(std::uint64_t pass);
  bool time_is_left(std::uint64_t end_ticks);
  void sync_pass();
  void complete(RankPart& part) override;
  void inspect(RankPart& part) override;
  MPI_Comm agreeing() const override { return group_.get().communicator; }
  std::string path() const { return context_.directory + "/" + file_name(test_, assignment_.file); }
  std::string written_file() const override { return writes(task_.operation) ? path() : ""; }

  FileGroup::Opening opening() const;
  void open_file();
  void check_size();
  Work work();
  void transfer();
  void finish_file();
  std::optional<CallCount> calls_so_far() const;
  bool creates() const { return task_.operation == Operation::write || task_.operation == Operation::prefill; }
  bool reads_back() const { return task_.operation == Operation::read || task_.operation == Operation::reread; }

  /// The rank's part of all requests, so that ranks with more of them are done when the others are.
  double part_of_all() const {
    const std::uint64_t mine = task_.pattern->requests(assignment_.place, role_of(task_.operation));
    return static_cast<double>(mine) / static_cast<double>(task_.total_requests);
  }

  /// Each request is done before the next step can be taken.
  bool waits_for_each() const {
    return task_.operation == Operation::read_modify_write ||
           (writes(task_.operation) && test_.sync == SyncPolicy::each);
  }

  const TransferTask& task_;
  std::uint32_t acts_as_ = 0;
  FileAssignment assignment_;
  std::uint64_t requests_ = 0, rounds_ = 0;
  Order order_;
  RequestShape shape_;
  Cooperation cooperation_;
  FileGroup::Opening opening_;
  FileGroup group_;
  std::optional<Pace> pace_;  ///< where requests are not issued as soon as they can
  FileData written_;
  FileData::Identity expected_;
  std::optional<Examiner> examiner_;
  std::optional<ValueRecorder> values_;
  std::optional<OlderData> older_;  ///< of the phases before this one
  std::optional<Mixed> mixed_;      ///< of read-write
  Work work_{};
  std::optional<Transfer> transfer_;      ///< with one request at a time
  std::optional<QueuedTransfer> queued_;  ///< with a file that keeps requests in flight
  std::uint64_t next_look_ns_ = 0;        ///< between passes
  /// Goes before the transfer: after an error it waits for requests in flight, whose extents the transfer holds.
  std::unique_ptr<File> file_;
};

TransferWorker::TransferWorker(RunContext& context, const TransferTask& task)
    : PhaseWorker(context, task),
      task_(task),
      acts_as_(reads_back() ? readback_rank(test_, static_cast<std::uint32_t>(rank_), task.name.repetition)
                            : static_cast<std::uint32_t>(rank_)),
      assignment_(task.assignments->assignment(acts_as_)),
      requests_(std::min(task.pattern->requests(assignment_.place, role_of(task.operation)), task.request_limit)),
      order_(task.order, task.pattern->requests(assignment_.place, role_of(task.operation)),
             hash_numbers(test_.seed, acts_as_)),
      shape_{task.pattern->contiguous(), task.pattern->file_shift(assignment_.place) > 0},
      cooperation_(task.interface->cooperation(shape_)),
      opening_(opening()),
      group_(task, opening_, assignment_, context.stall_timeout_s),
      written_(identity_of(context, test_, assignment_.file, task.written_generation)),
      expected_(identity_of(context, test_, assignment_.file, task.expected_generation)) {
  for (std::uint32_t r = 0; cooperation_ == Cooperation::collective && r < assignment_.place.ranks; ++r)
    rounds_ = std::max(rounds_, task.pattern->requests({r, assignment_.place.ranks}, role_of(task.operation)));
  rounds_ = std::min(rounds_, task.request_limit);
  part_.had_requests = requests_;
  if (task.record != nullptr) part_.verification.emplace();
  if (records_values(task)) values_.emplace(std::min(test_.recorded_requests, requests_));
  if (test_.verify != Verify::full || !reads(task.operation)) return;
  examiner_.emplace(expected_, task.known.files, task.known.bytes);
  spoil(task.memory);
}

/// While a rank creates or extends a file, accesses of others may fail: FUSE takes its size from answers out of order.
FileGroup::Opening TransferWorker::opening() const {
  return creates() && task_.interface->sizes_new_files() ? FileGroup::Opening::together
                                                         : FileGroup::opening(cooperation_);
}

void TransferWorker::open_file() {
  const bool reading = reads(task_.operation), writing = writes(task_.operation);
  const Access access = reading && writing ? Access::read_write : writing ? Access::write : Access::read;
  std::vector<Extent> first(shape_.regular ? task_.pattern->extents(assignment_.place, 0) : 0);
  if (shape_.regular) task_.pattern->fill_request(assignment_.place, 0, first);
  // Libraries that open by path are not kept from following it elsewhere.
  if (context_.folder != nullptr) context_.folder->check();
  const std::uint64_t begin = monotonic_ns();
  file_ = task_.interface->open({.path = path(),
                                 .access = access,
                                 .creation = creates() ? Creation::create : Creation::existing,
                                 .file_size = task_.pattern->file_size(assignment_.place.ranks),
                                 .place = assignment_.place,
                                 .group = &group_.get(),
                                 .shape = shape_,
                                 .regular = {first, task_.pattern->file_shift(assignment_.place)},
                                 .depth = task_.depth,
                                 .memory = task_.memory,
                                 .verified = test_.verify == Verify::full});
  part_.open_s = seconds_between(begin, monotonic_ns());
  // They may have followed it elsewhere meanwhile: nothing is written there.
  if (context_.folder != nullptr) context_.folder->check();
}

/// Of the file as it was opened, before anything is read.
void TransferWorker::check_size() {
  const std::uint64_t begin = context_.timer.now();
  SizeCheck(context_, task_, rank_, part_).compare(*file_, checked_file(context_, task_, assignment_));
  tally_->prepare_ticks += context_.timer.now() - begin;
}

Work TransferWorker::work() {
  const bool identifies = test_.verify == Verify::full || test_.recorded_requests > 0 || test_.data_set.used();
  const bool prefills = task_.operation == Operation::prefill;
  const auto if_any = [](auto& made) { return made ? &*made : nullptr; };
  return {.operation = task_.operation,
          .pattern = task_.pattern,
          .order = &order_,
          .place = assignment_.place,
          .sync = test_.sync,
          .memory = task_.memory,
          .depth = task_.depth,
          .written = identifies && writes(task_.operation) ? &written_ : nullptr,
          .values = if_any(values_),
          .mixed = if_any(mixed_),
          .expected = {.examiner = if_any(examiner_),
                       .generation = task_.expected_generation,
                       .left = examiner_ ? task_.record->passes_of(acts_as_) : Passes{},
                       .older = if_any(older_)},
          .timing = {.pace = pace_ && pace_->limited() ? &*pace_ : nullptr,
                     .think_ns = prefills ? 0 : static_cast<std::uint64_t>(test_.think_s * 1e9),
                     .ramp_ticks = ramp_ticks(),
                     .repeats = by_time()}};
}

void TransferWorker::transfer() {
  if (examiner_) older_ = task_.record->older_data_of(acts_as_);
  if (task_.operation == Operation::read_write) mixed_.emplace(draw_of(test_));
  if (task_.total_requests > 0) pace_.emplace(pace(part_of_all()));
  work_ = work();

  const std::uint64_t deadline = deadline_ticks();
  // What is due is issued at once where one request at a time is.
  const bool one_at_a_time = waits_for_each() || (work_.timing.pace != nullptr && work_.depth == 1);
  auto* queue = one_at_a_time ? nullptr : dynamic_cast<QueuedFile*>(file_.get());
  if (queue != nullptr) queued_.emplace(work_, *queue, context_.timer, *tally_, *this);
  else transfer_.emplace(work_, *file_, context_.timer, *tally_, *this);
  guarded([&] { by_time() ? run_passes(deadline) : static_cast<void>(run(requests_, deadline)); });
  if (limited()) wear_out(requests_, cooperation_ == Cooperation::collective ? WearOut::no : test_.wear_out);
}

Stop TransferWorker::run(std::uint64_t last, std::uint64_t deadline) {
  const bool together = cooperation_ == Cooperation::collective;
  if (queued_ && together) return queued_->run_collective(last, rounds_, deadline, *this);
  if (queued_) return queued_->run(last, deadline);
  if (together) return transfer_->run_collective(last, rounds_, deadline, *this);
  return transfer_->run(last, deadline);
}

/// All requests again and again.
void TransferWorker::run_passes(std::uint64_t end_ticks) {
  if (std::max(requests_, rounds_) == 0) return;
  for (std::uint64_t pass = 0; run(requests_, end_ticks) == Stop::finished; begin_pass(++pass)) {
    if (!time_is_left(end_ticks)) return;
    sync_pass();
    if (!time_is_left(end_ticks)) return;
  }
}

/// Whether another pass may begin. In collective transfers the ranks agree on that when it begins.
bool TransferWorker::time_is_left(std::uint64_t end_ticks) {
  if (cooperation_ == Cooperation::collective) return true;
  if (failed()) return false;
  constexpr std::uint64_t watch_interval_ns = 2'000'000;
  if (const std::uint64_t now = monotonic_ns(); now >= next_look_ns_) {
    if (!go_on(*tally_)) return false;
    next_look_ns_ = now + watch_interval_ns;
  }
  return context_.timer.now() < end_ticks;
}

/// No block is written twice between two syncs: data that is overwritten in memory would never reach the storage.
void TransferWorker::sync_pass() {
  if (!writes(task_.operation) || test_.sync != SyncPolicy::end) return;
  guarded([&] {
    const std::uint64_t begin = monotonic_ns();
    file_->sync();
    part_.sync_s += seconds_between(begin, monotonic_ns());
  });
}

void TransferWorker::begin_pass(std::uint64_t pass) {
  if (queued_) queued_->rewind();
  else transfer_->rewind();
  if (work_.written != nullptr)
    written_ = FileData(identity_of(context_, test_, assignment_.file, task_.written_generation, pass));
  if (!examiner_ || task_.operation != Operation::read_modify_write) return;
  // Read-modify-write finds what its own pass before has written.
  examiner_->expect_generation(task_.written_generation);
  examiner_->expect_pass(pass - 1);
  work_.expected.left = {requests_, pass * requests_};
  work_.expected.older = nullptr;
}

/// Except those that report progress.
std::optional<CallCount> TransferWorker::calls_so_far() const {
  std::optional<CallCount> made = context_.calls.now();
  if (made) made->write -= context_.events->write_calls(), made->write_bytes -= context_.events->written_bytes();
  return made;
}

void TransferWorker::finish_file() {
  const bool wanted = writes(task_.operation) && test_.sync == SyncPolicy::end;
  bool ended = ending();
  if (cooperation_ != Cooperation::independent) ended = agree(ended ? Vote::end : Vote::go_on) == Vote::end;
  if (wanted && !ended)
    guarded([&] {
      const std::uint64_t begin = monotonic_ns();
      file_->sync();
      part_.sync_s += seconds_between(begin, monotonic_ns());
    });
  // At the end, since some interfaces report what they did, and before it is closed, since others ask the open file.
  if (rank_ == 0 && task_.name.repetition == 0) {
    const std::uint64_t begin = monotonic_ns();
    guarded([&] { part_.facts = file_->facts(); });
    untimed_ns_ += monotonic_ns() - begin;
  }
  guarded([&] {
    const std::uint64_t begin = monotonic_ns();
    file_->close();
    part_.close_s = seconds_between(begin, monotonic_ns());
  });
}

void TransferWorker::execute() {
  guarded([&] { open_file(); });
  const Vote mine = failed() ? Vote::end : Vote::go_on;
  if ((opening_ == FileGroup::Opening::each ? mine : agree(mine)) == Vote::end) file_.reset();
  if (file_ == nullptr) {
    if (limited()) most_requests();
    return;
  }
  const std::optional<CallCount> calls_before = calls_so_far();
  const std::uint64_t begin = monotonic_ns();
  if (task_.record != nullptr && reads(task_.operation)) guarded([&] { check_size(); });
  transfer();
  part_.transfer_s = seconds_between(begin, monotonic_ns() - untimed_ns_);
  const std::optional<CallCount> calls_after = calls_so_far();
  if (calls_before && calls_after) part_.calls = *calls_after - *calls_before;
  finish_file();
}

void TransferWorker::complete(RankPart& part) {
  if (pace_ && pace_->open()) part.arrivals = arrivals_of(*pace_);
  if (task_.operation == Operation::read_write) {
    const Mixed mixed = mixed_.value_or(Mixed(draw_of(test_)));
    part.parts = {mixed.reads, mixed.writes};
  }
  if (values_) part.values = values_->read();
  if (!examiner_) return;
  part.verification->checked_bytes = examiner_->checked_bytes();
  part.verification->wrong_bytes = examiner_->wrong_bytes();
  part.verification->mismatches += examiner_->mismatches();
  part.digest = examiner_->digest();
  if (examiner_->mismatches() == 0) return;
  const std::string file = path();
  HoleMap holes(test_.interface->capabilities, file);
  add_findings(part, examiner_->first_mismatches(), examiner_->mismatches(), *file_, [&](const Mismatch& mismatch) {
    return describe_mismatch(holes.explain(mismatch), rank_, context_.nodes.host, file);
  });
}

/// After a phase that writes: all ranks learn what was written, and compare the size that the files now have.
void TransferWorker::inspect(RankPart& part) {
  if (task_.record == nullptr || !writes(task_.operation)) return;
  if (task_.operation == Operation::prefill) {
    task_.record->prefilled(task_.written_generation);
  } else {
    const WriteRecord::Part mine{tally_->all_requests(), tally_->written_end};
    task_.record->written(task_.operation, task_.written_generation, gather_to_all(mine, task_.communicator, waiting()),
                          task_.request_limit);
  }
  SizeCheck(context_, task_, rank_, part).compare_anew(checked_file(context_, task_, assignment_));
}

}  // namespace

PhaseOutcome run_phase(RunContext& context, const TransferTask& task) {
  TransferWorker worker(context, task);
  return run_worker(context, worker);
}

}  // namespace strider
