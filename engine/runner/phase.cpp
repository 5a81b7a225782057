#include "runner/phase.hpp"

#include <array>
#include <chrono>
#include <thread>

#include "core/random.hpp"
#include "interfaces/mpi_group.hpp"
#include "measure/milestones.hpp"
#include "measure/usage.hpp"
#include "runner/alarm.hpp"
#include "runner/interrupt.hpp"
#include "runner/phase_report.hpp"
#include "runner/waiting.hpp"

namespace strider {
namespace {

constexpr double progress_interval_s = 0.5;

double seconds_between(std::uint64_t begin_ns, std::uint64_t end_ns) {
  return static_cast<double>(end_ns - begin_ns) * 1e-9;
}

/// The ranks that open this rank's file, for interfaces built on MPI.
class FileGroup {
 public:
  FileGroup(const PhaseTask& task, Cooperation cooperation, const Seat& seat) {
    if (cooperation == Cooperation::independent || task.test->sharing.kind == SharingKind::per_rank) return;
    group_.communicator = task.communicator;
    if (task.test->sharing.kind == SharingKind::shared) return;
    MPI_Comm_split(task.communicator, static_cast<int>(seat.file), static_cast<int>(seat.place.rank),
                   &group_.communicator);
    owned_ = true;
  }
  FileGroup(const FileGroup&) = delete;
  FileGroup& operator=(const FileGroup&) = delete;
  ~FileGroup() {
    if (owned_) MPI_Comm_free(&group_.communicator);
  }
  const Group& get() const { return group_; }

 private:
  Group group_;
  bool owned_ = false;
};

/// A rank at work in a phase: opens, transfers, syncs, closes; watches for bad news meanwhile.
class Worker final : public Watch, public Agreement, public Attention {
 public:
  Worker(RunContext& context, const PhaseTask& task);
  PhaseOutcome run();

 private:
  bool go_on(const Tally& tally) override;
  Wish agree(Wish mine) override;
  void look() override;

  void settle();
  void execute();
  void open_file();
  void transfer();
  std::optional<std::uint64_t> most_requests();
  void wear_out(Transfer& transfer);
  void finish_file();
  void note_error(const IoError& error);
  std::optional<CallCount> calls_so_far() const;
  template <typename Step>
  void guarded(const Step& step);
  void report_progress(std::uint64_t bytes);
  WaitOptions waiting() { return {.stall_timeout_s = context_.stall_timeout_s, .attention = this}; }
  bool limited() const { return test_.deadline_s > 0 && task_.operation != Operation::prefill; }
  bool failed() const { return !part_.errors.empty(); }
  bool reads_back() const { return task_.operation == Operation::read || task_.operation == Operation::reread; }

  RunContext& context_;
  const PhaseTask& task_;
  const Case& test_;
  int rank_ = 0, ranks_ = 1;
  std::uint32_t acts_as_ = 0;
  Seat seat_;
  std::uint64_t requests_ = 0, rounds_ = 0;
  Order order_;
  RequestShape shape_;
  Cooperation cooperation_;
  FileGroup group_;
  Alarm alarm_;
  FileData written_;
  FileData::Identity expected_;
  std::optional<Examiner> examiner_;
  std::unique_ptr<File> file_;
  std::unique_ptr<Tally> tally_ = std::make_unique<Tally>();
  Milestones milestones_;
  RankPart part_;
  bool interrupted_ = false;
  std::uint64_t waited_ns_ = 0;  ///< for the others at a deadline, when done oneself
  std::uint64_t begin_ns_ = 0, next_progress_ns_ = 0;
};

FileData::Identity identity_of(const RunContext& context, const PhaseTask& task, const Seat& seat,
                               std::uint64_t generation) {
  return {context.data_seed, task.test->workload, seat.file, generation};
}

Worker::Worker(RunContext& context, const PhaseTask& task)
    : context_(context),
      task_(task),
      test_(*task.test),
      rank_([&] {
        int rank = 0;
        MPI_Comm_rank(task.communicator, &rank);
        return rank;
      }()),
      ranks_(static_cast<int>(test_.clients)),
      acts_as_(reads_back() ? readback_rank(test_, static_cast<std::uint32_t>(rank_), task.name.repetition)
                            : static_cast<std::uint32_t>(rank_)),
      seat_(task.seating->seat(acts_as_)),
      requests_(std::min(task.pattern->requests(seat_.place, role_of(task.operation)), task.request_limit)),
      order_(task.order, task.pattern->requests(seat_.place, role_of(task.operation)),
             hash_numbers(test_.seed, acts_as_)),
      shape_{task.pattern->contiguous(), task.pattern->file_shift(seat_.place) > 0},
      cooperation_(task.interface->cooperation(shape_)),
      group_(task, cooperation_, seat_),
      alarm_(task.communicator, context.next_phase++),
      written_(identity_of(context, task, seat_, task.written_generation)),
      expected_(identity_of(context, task, seat_, task.expected_generation)) {
  for (std::uint32_t r = 0; cooperation_ == Cooperation::collective && r < seat_.place.ranks; ++r)
    rounds_ = std::max(rounds_, task.pattern->requests({r, seat_.place.ranks}, role_of(task.operation)));
  rounds_ = std::min(rounds_, task.request_limit);
  if (test_.verify == Verify::full && reads(task.operation))
    examiner_.emplace(expected_, task.seating->files(), task.pattern->file_size(seat_.place.ranks));
}

bool Worker::go_on(const Tally& tally) {
  const std::uint64_t now = monotonic_ns();
  milestones_.add(now, tally.bytes);
  if (now >= next_progress_ns_) report_progress(tally.bytes);
  if (interrupted()) {
    interrupted_ = true;
    alarm_.raise();
  }
  return !alarm_.raised();
}

void Worker::look() {
  alarm_.raised();
  if (monotonic_ns() >= next_progress_ns_) report_progress(tally_->bytes);
}

void Worker::report_progress(std::uint64_t bytes) {
  const std::uint64_t now = monotonic_ns();
  next_progress_ns_ = now + static_cast<std::uint64_t>(progress_interval_s * 1e9);
  if (rank_ != 0 || begin_ns_ == 0) return;
  // Rank 0 knows only itself: the others are taken to be as far.
  const Direction role = role_of(task_.operation);
  const auto mine = static_cast<double>(task_.pattern->bytes(seat_.place, role));
  const double share = mine > 0 ? static_cast<double>(bytes) / mine : 0;
  const auto total = static_cast<double>(task_.total_bytes);
  context_.events->progress(task_.name, {.bytes_done = static_cast<std::uint64_t>(share * total),
                                         .bytes_total = task_.total_bytes,
                                         .elapsed_s = seconds_between(begin_ns_, now),
                                         .observed_ranks = 1,
                                         .done_phases = task_.done_phases,
                                         .planned_phases = task_.planned_phases});
}

Agreement::Wish Worker::agree(Wish mine) {
  int wish = static_cast<int>(mine);
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, &wish, 1, MPI_INT, MPI_MAX, group_.get().communicator, &request);
  wait(request, waiting());
  return static_cast<Wish>(wish);
}

void Worker::note_error(const IoError& error) {
  part_.errors.push_back(describe_error(error, rank_, context_.nodes.host));
  alarm_.raise();
}

template <typename Step>
void Worker::guarded(const Step& step) {
  try {
    step();
  } catch (const IoError& error) {
    note_error(error);
  } catch (const std::bad_alloc&) {
    note_error(IoError({"allocate", "", 0, 0, ENOMEM}));
  }
}

void Worker::settle() {
  const std::uint64_t end = monotonic_ns() + static_cast<std::uint64_t>(test_.settle_s * 1e9);
  while (monotonic_ns() < end && !interrupted())
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::min<std::uint64_t>(50, (end - monotonic_ns()) / 1'000'000 + 1)));
}

void Worker::open_file() {
  const Access access = task_.operation == Operation::read_modify_write ? Access::read_write
                        : writes(task_.operation)                       ? Access::write
                                                                        : Access::read;
  const bool creates = task_.operation == Operation::write || task_.operation == Operation::prefill;
  std::vector<Extent> first(shape_.regular ? task_.pattern->extents(seat_.place, 0) : 0);
  if (shape_.regular) task_.pattern->fill_request(seat_.place, 0, first);
  const std::uint64_t begin = monotonic_ns();
  file_ = task_.interface->open({.path = context_.directory + "/" + file_name(test_.number, seat_.file),
                                 .access = access,
                                 .creation = creates ? Creation::create : Creation::existing,
                                 .file_size = task_.pattern->file_size(seat_.place.ranks),
                                 .place = seat_.place,
                                 .group = &group_.get(),
                                 .shape = shape_,
                                 .regular = {first, task_.pattern->file_shift(seat_.place)}});
  part_.open_s = seconds_between(begin, monotonic_ns());
  if (rank_ == 0 && task_.name.repetition == 0) part_.facts = file_->facts();
}

void Worker::transfer() {
  Work work;
  work.operation = task_.operation;
  work.pattern = task_.pattern;
  work.order = &order_;
  work.place = seat_.place;
  work.sync = test_.sync;
  work.memory = task_.memory;
  work.written = test_.verify == Verify::full && writes(task_.operation) ? &written_ : nullptr;
  work.examiner = examiner_ ? &*examiner_ : nullptr;

  const std::uint64_t deadline =
      limited() ? context_.timer.now() + context_.timer.from_ns(static_cast<std::uint64_t>(test_.deadline_s * 1e9)) : 0;
  Transfer transfer(work, *file_, context_.timer, *tally_, *this);
  guarded([&] {
    if (cooperation_ == Cooperation::collective) transfer.run_collective(requests_, rounds_, deadline, *this);
    else transfer.run(requests_, deadline);
  });
  if (limited()) wear_out(transfer);
}

/// At the deadline: the most requests that any rank has done; nothing if the phase has to end. Every rank of the case
/// takes part, also one that could not open its file.
std::optional<std::uint64_t> Worker::most_requests() {
  std::array<std::uint64_t, 2> most{tally_->requests, failed() || alarm_.raised() ? 1U : 0U};
  MPI_Request request;
  const std::uint64_t begin = monotonic_ns();
  MPI_Iallreduce(MPI_IN_PLACE, most.data(), 2, MPI_UINT64_T, MPI_MAX, task_.communicator, &request);
  wait(request, waiting());
  waited_ns_ = monotonic_ns() - begin;
  return most[1] != 0 ? std::nullopt : std::optional(most[0]);
}

/// What was done at the deadline; then, if wanted, every rank completes as many requests as the fastest.
void Worker::wear_out(Transfer& transfer) {
  const std::uint64_t at_deadline_ns = monotonic_ns();
  part_.deadline = {tally_->requests, tally_->bytes, seconds_between(begin_ns_, at_deadline_ns), 0};
  const std::optional<std::uint64_t> most = most_requests();
  if (!most || test_.wear_out == WearOut::no || cooperation_ == Cooperation::collective) return;
  if (tally_->requests >= std::min(requests_, *most)) return;
  waited_ns_ = 0;  // there is more to do: the waiting was part of it
  const std::uint64_t begin = monotonic_ns();
  guarded([&] { transfer.run(std::min(requests_, *most), 0); });
  part_.deadline.wear_out_s = seconds_between(begin, monotonic_ns());
}

/// But for those that tell of progress.
std::optional<CallCount> Worker::calls_so_far() const {
  std::optional<CallCount> made = context_.calls.now();
  if (made) made->write -= context_.events->write_calls();
  return made;
}

void Worker::finish_file() {
  const bool wanted = writes(task_.operation) && test_.sync == SyncPolicy::end;
  bool ended = failed() || alarm_.raised();
  if (cooperation_ != Cooperation::independent) ended = agree(ended ? Wish::end : Wish::go_on) == Wish::end;
  if (wanted && !ended)
    guarded([&] {
      const std::uint64_t begin = monotonic_ns();
      file_->sync();
      part_.sync_s = seconds_between(begin, monotonic_ns());
    });
  guarded([&] {
    const std::uint64_t begin = monotonic_ns();
    file_->close();
    part_.close_s = seconds_between(begin, monotonic_ns());
  });
}

void Worker::execute() {
  guarded([&] { open_file(); });
  if (cooperation_ != Cooperation::independent && agree(failed() ? Wish::end : Wish::go_on) == Wish::end) file_.reset();
  if (file_ == nullptr) {
    if (limited()) most_requests();
    return;
  }
  const std::optional<CallCount> calls_before = calls_so_far();
  const std::uint64_t begin = monotonic_ns();
  transfer();
  part_.transfer_s = seconds_between(begin, monotonic_ns() - waited_ns_);
  const std::optional<CallCount> calls_after = calls_so_far();
  if (calls_before && calls_after) part_.calls = *calls_after - *calls_before;
  finish_file();
}

PhaseOutcome Worker::run() {
  settle();
  MPI_Request request;
  MPI_Ibarrier(task_.communicator, &request);
  wait(request, waiting());
  context_.timer.recalibrate();
  const Usage before = Usage::now();
  begin_ns_ = monotonic_ns();
  next_progress_ns_ = begin_ns_ + static_cast<std::uint64_t>(progress_interval_s * 1e9);
  milestones_.begin(begin_ns_);
  execute();
  // A rank that had nothing left to do when the others came to their deadline was done then.
  const std::uint64_t end_ns = monotonic_ns() - waited_ns_;
  milestones_.finish(end_ns, tally_->bytes);
  part_.usage = Usage::now() - before;
  part_.begin_ns = begin_ns_;
  part_.end_ns = end_ns;
  part_.prepare_s = static_cast<double>(context_.timer.to_ns(tally_->prepare_ticks)) * 1e-9;
  part_.interrupted = interrupted_ || interrupted();
  return report_phase(context_, task_, rank_, seat_, part_, *tally_, milestones_, examiner_ ? &*examiner_ : nullptr,
                      waiting());
}

}  // namespace

PhaseOutcome run_phase(RunContext& context, const PhaseTask& task) {
  context.current = task.name;
  Worker worker(context, task);
  try {
    return worker.run();
  } catch (const StallError& error) {
    context.stalled(error);  // does not return
    std::abort();
  }
}

}  // namespace strider
