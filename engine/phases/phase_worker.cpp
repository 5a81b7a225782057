#include "phases/phase_worker.hpp"

#include <chrono>
#include <thread>
#include <tuple>

#include "foundation/random.hpp"
#include "measure/usage.hpp"
#include "ranks/exchange.hpp"
#include "ranks/interrupt.hpp"
#include "reports/outside.hpp"
#include "reports/reduction.hpp"

namespace strider {
namespace {

constexpr double progress_interval_s = 0.5;

/// Of any rank, at the deadline.
struct MostDone {
  std::uint64_t requests, ending;  ///< ending: 1 where a rank cannot continue

  static constexpr auto figures() { return std::tuple{most_of(&MostDone::requests), most_of(&MostDone::ending)}; }
};

}  // namespace

PhaseWorker::PhaseWorker(RunContext& context, const PhaseTask& task)
    : context_(context),
      task_(task),
      test_(*task.test),
      rank_([&] {
        int rank = 0;
        MPI_Comm_rank(task.communicator, &rank);
        return rank;
      }()),
      alarm_(task.communicator, context.next_phase++) {
  context.current = task.name;
}

bool PhaseWorker::limited() const { return test_.deadline_s > 0 && task_.purpose == PhaseTask::Purpose::measurement; }

bool PhaseWorker::go_on(const Tally& tally) {
  const std::uint64_t now = monotonic_ns();
  milestones_.add(now, amount(tally));
  if (now >= next_progress_ns_) report_progress(tally);
  if (interrupted()) {
    interrupted_ = true;
    alarm_.raise();
  }
  return !alarm_.raised();
}

void PhaseWorker::look() {
  alarm_.raised();
  if (monotonic_ns() >= next_progress_ns_) report_progress(*tally_);
}

void PhaseWorker::report_progress(const Tally& tally) {
  const std::uint64_t now = monotonic_ns();
  next_progress_ns_ = now + static_cast<std::uint64_t>(progress_interval_s * 1e9);
  if (rank_ != 0 || begin_ns_ == 0) return;
  // Rank 0 knows only itself: the others are taken to be as far.
  const auto mine = static_cast<double>(part_.had_requests);
  const double passes = mine > 0 ? static_cast<double>(tally.all_requests()) / mine : 0;
  const double elapsed_s = seconds_between(begin_ns_, now);
  const double done = by_time() ? passes : std::min(1.0, passes);
  // Of a phase by time, all is as much as there will be if it goes on like this.
  const double all = by_time() ? done * std::max(1.0, test_.runtime_s / elapsed_s) : 1.0;
  const auto times = [](double factor, std::uint64_t total) {
    return static_cast<std::uint64_t>(factor * static_cast<double>(total));
  };
  context_.events->progress(task_.name, {.bytes_done = times(done, task_.total_bytes),
                                         .bytes_total = times(all, task_.total_bytes),
                                         .requests_done = times(done, task_.total_requests),
                                         .requests_total = times(all, task_.total_requests),
                                         .elapsed_s = elapsed_s,
                                         .observed_ranks = 1,
                                         .done_phases = task_.done_phases,
                                         .planned_phases = task_.planned_phases});
}

Agreement::Vote PhaseWorker::agree(Vote mine) {
  int vote = static_cast<int>(mine);
  all_reduce(std::span(&vote, 1), MPI_MAX, agreeing(), waiting());
  return static_cast<Vote>(vote);
}

void PhaseWorker::note_error(const IoError& error) {
  part_.errors.push_back(describe_error(explained(error, context_), rank_, context_.nodes.host));
  alarm_.raise();
}

void PhaseWorker::settle() const {
  const std::uint64_t end = monotonic_ns() + static_cast<std::uint64_t>(test_.settle_s * 1e9);
  constexpr std::uint64_t longest_nap_ns = 50'000'000;  // so that an interruption is soon seen
  for (std::uint64_t now = monotonic_ns(); now < end && !interrupted(); now = monotonic_ns())
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(end - now, longest_nap_ns)));
}

/// Libraries that open files by their path are not kept from following it elsewhere.
void PhaseWorker::require_own_place() const {
  if (context_.folder == nullptr) return;
  context_.folder->check();
  const Capabilities& capabilities = test_.interface->capabilities;
  const std::string written = written_file();
  if (!written.empty() && capabilities.stores() && capabilities.client == StorageClient::kernel)
    context_.folder->require_own_file(written);
}

std::uint64_t PhaseWorker::ticks_at(std::uint64_t time_ns) const {
  const std::uint64_t now_ns = monotonic_ns(), now_ticks = context_.timer.now();
  return now_ns < time_ns ? now_ticks + context_.timer.from_ns(time_ns - now_ns)
                          : now_ticks - context_.timer.from_ns(now_ns - time_ns);
}

std::uint64_t PhaseWorker::ramp_ticks() const {
  if (!by_time() || test_.ramp_s == 0) return 0;
  return ticks_at(begin_ns_ + static_cast<std::uint64_t>(test_.ramp_s * 1e9));
}

std::uint64_t PhaseWorker::deadline_ticks() const {
  if (by_time()) return ticks_at(begin_ns_ + static_cast<std::uint64_t>(test_.runtime_s * 1e9));
  if (!limited()) return 0;
  return context_.timer.now() + context_.timer.from_ns(static_cast<std::uint64_t>(test_.deadline_s * 1e9));
}

Pace PhaseWorker::pace(double part) const {
  if (task_.purpose != PhaseTask::Purpose::measurement) return Pace(context_.timer);
  const bool closed = test_.arrivals == Arrivals::closed;
  const std::uint64_t of_all = closed ? test_.rate_limit_per_s : test_.arrival_rate_per_s;
  return Pace({.arrivals = test_.arrivals,
               .per_s = static_cast<double>(of_all) * part,
               .rank = static_cast<std::uint32_t>(rank_),
               .ranks = test_.clients,
               .key = hash_numbers(test_.seed, task_.name.repetition, rank_)},
              context_.timer, context_.timer.now());
}

RankPart::Arrivals PhaseWorker::arrivals_of(const Pace& pace) const {
  return {.offered_per_s = pace.offered_per_s(),
          .achieved_per_s = pace.achieved_per_s(),
          .late_requests = pace.late_requests(),
          .latest_s = static_cast<double>(context_.timer.to_ns(pace.latest())) * 1e-9};
}

std::optional<std::uint64_t> PhaseWorker::most_requests() {
  MostDone most{.requests = tally_->requests, .ending = ending() ? 1U : 0U};
  const std::uint64_t begin = monotonic_ns();
  Reduction(most).to_all(task_.communicator, waiting());
  untimed_ns_ = monotonic_ns() - begin;
  return most.ending != 0 ? std::nullopt : std::optional(most.requests);
}

void PhaseWorker::wear_out(std::uint64_t requests, WearOut wanted) {
  const std::uint64_t at_deadline_ns = monotonic_ns();
  part_.deadline = {tally_->requests, tally_->bytes, seconds_between(begin_ns_, at_deadline_ns), 0};
  const std::optional<std::uint64_t> most = most_requests();
  // In open loop more requests came meanwhile, which would seem to have waited for storage.
  if (!most || wanted == WearOut::no || test_.arrivals != Arrivals::closed) return;
  if (tally_->requests >= std::min(requests, *most)) return;
  untimed_ns_ = 0;  // there is more to do: the waiting was part of it
  const std::uint64_t begin = monotonic_ns();
  guarded([&] { catch_up(std::min(requests, *most)); });
  part_.deadline.wear_out_s = seconds_between(begin, monotonic_ns());
}

void PhaseWorker::begin_timeline(std::uint64_t start_ns) {
  if (context_.timelines.scope == TimelineScope::none || task_.purpose != PhaseTask::Purpose::measurement) return;
  const auto interval_ns = static_cast<std::uint64_t>(context_.timelines.interval_s * 1e9);
  tally_->timeline.begin(ticks_at(start_ns), context_.timer.from_ns(interval_ns));
}

PhaseOutcome PhaseWorker::run() {
  settle();
  prepare();
  guarded([&] { require_own_place(); });
  const bool refused = is_so_on_any(failed(), task_.communicator, waiting());
  CounterWatch counters(context_, task_.communicator);
  ClockWatch clocks(context_.nodes, task_.communicator, waiting());
  clocks.compare();
  part_.scheduled_s = context_.starts.announce(task_.communicator, clocks, waiting());
  context_.timer.recalibrate();
  begin_timeline(clocks.local_ns(part_.scheduled_s));
  StartSignal::await(part_.scheduled_s, clocks);
  const Usage before = Usage::now();
  begin_ns_ = monotonic_ns();
  next_progress_ns_ = begin_ns_ + static_cast<std::uint64_t>(progress_interval_s * 1e9);
  milestones_.begin(begin_ns_);
  if (!refused) execute();
  // A rank that had nothing left to do when the others came to their deadline was done then.
  const std::uint64_t end_ns = monotonic_ns() - untimed_ns_;
  milestones_.finish(end_ns, amount(*tally_));
  part_.usage = Usage::now() - before;
  tally_->timeline.finish(tally_->totals());
  part_.begin_ns = begin_ns_;
  part_.end_ns = end_ns;
  part_.prepare_s = static_cast<double>(context_.timer.to_ns(tally_->prepare_ticks)) * 1e-9;
  part_.limited = limited();
  part_.compute_s = static_cast<double>(context_.timer.to_ns(tally_->compute_ticks)) * 1e-9;
  part_.interrupted = interrupted_ || interrupted();
  complete(part_);
  return report_phase(
      context_, task_, {.rank = rank_, .part = part_, .tally = *tally_, .milestones = milestones_},
      {.counters = counters, .clocks = clocks, .waiting = waiting(), .inspect = [this] { inspect(part_); }});
}

PhaseOutcome run_worker(RunContext& context, PhaseWorker& worker) {
  try {
    return worker.run();
  } catch (const StallError& error) {
    context.stalled(error);  // does not return
    std::abort();
  }
}

}  // namespace strider
