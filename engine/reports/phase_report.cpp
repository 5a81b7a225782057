#include "reports/phase_report.hpp"

#include <algorithm>
#include <limits>

#include "foundation/random.hpp"
#include "ranks/exchange.hpp"
#include "reports/clock_rows.hpp"
#include "reports/errors.hpp"
#include "reports/rank_distributions.hpp"
#include "reports/reduction.hpp"
#include "reports/timelines.hpp"
#include "reports/values.hpp"

namespace strider {
namespace {

/// Up to so many clients each rank has a row in the events of a phase; for more, the distributions stand for them, so
/// that the events do not grow with the number of ranks. As of timelines.
constexpr std::uint32_t most_ranks_one_by_one = 64;
constexpr double no_rank = std::numeric_limits<double>::infinity();  ///< a minimum over no ranks

/// When ranks began and ended, in seconds since the run's start, and how; all ranks learn it.
struct Ends {
  double first_begin_s, last_begin_s;
  double first_end_s, last_end_s, last_working_end_s;  ///< first, and working: of ranks with work
  double news_s;                                       ///< that a start takes to reach all
  double failed, interrupted;                          ///< 1: a rank is
  double fewest_capped_requests;                       ///< of ranks that did not do all they had
  RankQuantities bounds;                               ///< of the quantities of all ranks

  void reduce(MPI_Comm communicator, const WaitOptions& waiting) {
    Reduction reduction;
    for (double* each : {&first_begin_s, &first_end_s, &fewest_capped_requests}) reduction.least(*each);
    for (double* each : {&last_begin_s, &last_end_s, &last_working_end_s, &news_s, &failed, &interrupted})
      reduction.most(*each);
    for (double& each : bounds) reduction.most(each);
    reduction.to_all(communicator, waiting);
    if (first_end_s < no_rank) return;
    first_end_s = last_end_s;
    last_working_end_s = last_end_s;
  }
};

/// Sums over ranks that are in no sample.
struct Aside {
  std::uint64_t uncounted_ranks = 0, working_ranks = 0;
  StorageTraffic traffic;

  void add_to(Reduction& reduction) {
    for (std::uint64_t* each : {&uncounted_ranks, &working_ranks}) reduction.sum(*each);
    for (Moved* each : {&traffic.client, &traffic.network, &traffic.block}) {
      reduction.sum(each->read);
      reduction.sum(each->written);
    }
  }
};

class Report {
 public:
  Report(RunContext& context, const PhaseTask& task, int rank, RankPart& part, Tally& tally,
         const Milestones& milestones, CounterWatch& counters, ClockWatch& clocks, const WaitOptions& waiting,
         const std::function<void()>& inspect)
      : context_(context),
        task_(task),
        rank_(rank),
        part_(part),
        tally_(tally),
        milestones_(milestones),
        counters_(counters),
        clocks_(clocks),
        waiting_(waiting),
        inspect_(inspect) {}

  PhaseOutcome make() {
    clocks_.compare_again();
    note_ends();
    ends_.reduce(task_.communicator, waiting_);
    counters_.finish();  // all ranks have come to their end
    const bool has_sample = ends_.failed == 0 && ends_.interrupted == 0;
    if (has_sample) inspect_();
    reduce();
    const std::vector<RankRow> rows = gather_rows();
    const std::vector<NodeCounters> counters = counters_.gather(waiting_);
    const std::vector<ErrorRecord> errors = gather_errors();
    PhaseOutcome outcome;
    outcome.failed = ends_.failed > 0;
    outcome.interrupted = ends_.interrupted > 0;
    outcome.my_requests = tally_.all_requests();
    outcome.written_end = tally_.written_end;
    context_.starts.learn(ends_.news_s);
    if (ends_.fewest_capped_requests < no_rank)
      outcome.completed_requests = static_cast<std::uint64_t>(ends_.fewest_capped_requests);
    if (has_sample && rank_ == 0) write_sample(rows, counters, outcome);
    if (has_sample && measures() && context_.timelines.scope != TimelineScope::none)
      report_timelines(context_, task_, part_.scheduled_s - origin_s(), tally_.timeline, waiting_);
    if (has_sample && records_values(task_)) report_values(context_, task_, part_.values, waiting_);
    for (const ErrorRecord& error : errors) context_.events->error(task_.name, info_of(error));
    return outcome;
  }

 private:
  /// On rank 0.
  void write_sample(const std::vector<RankRow>& rows, const std::vector<NodeCounters>& counters,
                    PhaseOutcome& outcome) {
    complete_sample();
    outcome.rate = amount_of(sample_.unit, sample_.bytes, sample_.requests) / sample_.elapsed_s;
    outcome.valid = sample_.valid;
    context_.events->sample(task_.name, sample_);
    for (const RankRow& row : rows) context_.events->rank(task_.name, row);
    for (const ClockRow& clock : clock_rows(context_, clocks_, sample_)) context_.events->clock(task_.name, clock);
    for (const NodeCounters& node : counters) context_.events->counters(task_.name, node);
  }

  /// Whether this rank has anything to do in the phase; one that has not says nothing about rates.
  bool works() const { return part_.had_requests > 0; }
  bool measures() const { return task_.purpose == PhaseTask::Purpose::measurement; }

  /// Without the ramp.
  double counted_s(double seconds) const {
    return is_by_time(task_) ? std::max(0.0, seconds - task_.test->ramp_s) : seconds;
  }

  double origin_s() const { return static_cast<double>(context_.origin_ns) * 1e-9; }
  /// A time of this rank's clock in seconds since the run's start on rank 0's clock.
  double since_origin_s(std::uint64_t ns) const { return clocks_.reference_s(ns) - origin_s(); }

  void note_ends() {
    const double begin_s = since_origin_s(part_.begin_ns), end_s = since_origin_s(part_.end_ns);
    ends_ = mine_ = {
        .first_begin_s = begin_s,
        .last_begin_s = begin_s,
        .first_end_s = works() ? end_s : no_rank,
        .last_end_s = end_s,
        .last_working_end_s = works() ? end_s : -no_rank,
        .news_s = context_.starts.news_s(),
        .failed = part_.errors.empty() ? 0.0 : 1.0,
        .interrupted = part_.interrupted ? 1.0 : 0.0,
        // A rank that did all it had does not limit the others.
        .fewest_capped_requests =
            tally_.all_requests() < part_.had_requests ? static_cast<double>(tally_.all_requests()) : no_rank,
        .bounds = {},
    };
    ends_.bounds = mine_.bounds = quantities_of(row(), rate());
  }

  /// On rank 0 the sample is that of all ranks then. Every rank has the same optional records in it.
  void reduce() {
    fill_sample();
    fill_optional_records();
    Aside aside{
        .uncounted_ranks = part_.calls ? 0U : 1U, .working_ranks = works() ? 1U : 0U, .traffic = counters_.storage()};
    Reduction reduction;
    reduction.add(sample_);
    reduction.add(sample_.rank_rates);
    reduction.add(sample_.latency);
    for (SamplePart& part : sample_.parts) reduction.add(part.latency);
    for (RankDistribution& distribution : sample_.rank_distributions) reduction.add(distribution.counts);
    reduction.sum(sample_.first_done_amount);
    aside.add_to(reduction);
    reduction.to_first(task_.communicator, waiting_);
    aside_ = aside;
  }

  /// What this rank brings to the sample.
  void fill_sample() {
    sample_.measured = measures();
    sample_.unit = task_.unit;
    sample_.clients = task_.test->clients;
    sample_.nodes = task_.shares.nodes;
    sample_.ranks_per_node_min = task_.shares.fewest;
    sample_.ranks_per_node_max = task_.shares.most;
    sample_.files = task_.files;
    sample_.bytes = tally_.bytes;
    sample_.requests = tally_.requests;
    sample_.start_s = mine_.first_begin_s;
    sample_.first_done_amount = milestones_.amount_at(on_my_clock_ns(ends_.first_end_s));
    sample_.open_s = part_.open_s;
    sample_.transfer_s = part_.transfer_s;
    sample_.sync_s = part_.sync_s;
    sample_.close_s = part_.close_s;
    sample_.prepare_s = part_.prepare_s;
    sample_.compute_s = part_.compute_s;
    sample_.usage = part_.usage;
    sample_.cache = task_.cache;
    sample_.facts = part_.facts;
    sample_.latency = LatencyCounts::of(tally_.latency_ns);
    for (const MixTally& part : part_.parts)
      sample_.parts.push_back({name_of(part.operation), part.requests, part.bytes, LatencyCounts::of(part.latency_ns)});
    fill_distributions();
    if (works()) sample_.rank_rates = {{rate(), rank_}, rate(), {rate(), rank_}};
  }

  void fill_distributions() {
    RankQuantities mine = mine_.bounds, bounds = ends_.bounds;
    count_from(ends_.first_begin_s, mine);
    count_from(ends_.first_begin_s, bounds);
    sample_.rank_distributions = distributions_of(mine, bounds, task_.unit, rank_, works());
  }

  /// Of this rank, in the unit of the sample.
  double rate() const {
    const double elapsed_s = counted_s(static_cast<double>(part_.end_ns - part_.begin_ns) * 1e-9);
    return per_second(amount_of(task_.unit, tally_.bytes, tally_.requests), elapsed_s);
  }

  void fill_optional_records() {
    sample_.calls = part_.calls.value_or(CallCount{});
    sample_.verification = part_.verification.value_or(Sample::Verification{});
    sample_.digest = Digest{part_.digest ? hash_numbers(*part_.digest, rank_) : 0};
    const RankPart::AtDeadline& at = part_.deadline;
    sample_.deadline = {.deadline_s = task_.test->deadline_s,
                        .requests = at.requests,
                        .bytes = at.bytes,
                        .elapsed_s = at.elapsed_s,
                        .wear_out_s = at.wear_out_s,
                        .requests_per_rank_min = works() ? at.requests : std::numeric_limits<std::uint64_t>::max(),
                        .requests_per_rank_max = at.requests};
    const std::uint64_t requests = tally_.all_requests();
    const double passes = static_cast<double>(requests) / static_cast<double>(part_.had_requests);
    sample_.runtime = {.runtime_s = task_.test->runtime_s,
                       .ramp_s = task_.test->ramp_s,
                       .ramp_requests = tally_.ramp.requests,
                       .ramp_bytes = tally_.ramp.bytes,
                       .requests_per_rank_min = works() ? requests : std::numeric_limits<std::uint64_t>::max(),
                       .requests_per_rank_max = requests,
                       .passes_min = works() ? passes : std::numeric_limits<double>::infinity(),
                       .passes_max = works() ? passes : 0};
    const RankPart::Arrivals arrivals = part_.arrivals.value_or(RankPart::Arrivals{});
    sample_.arrivals = {.kind = task_.test->arrivals == Arrivals::fixed ? "fixed" : "poisson",
                        .rate_requests_s = static_cast<double>(task_.test->arrival_rate_per_s),
                        .offered_requests_s = arrivals.offered_per_s,
                        .achieved_requests_s = arrivals.achieved_per_s,
                        .late_requests = arrivals.late_requests,
                        .latest_s = arrivals.latest_s};
  }

  /// An instant since the run's start, on this node's clock: as far from this rank's end as on rank 0's clock.
  std::uint64_t on_my_clock_ns(double instant_s) const {
    return part_.end_ns - static_cast<std::uint64_t>(std::max(0.0, (mine_.last_end_s - instant_s) * 1e9));
  }

  /// On rank 0, where each rank has a row.
  std::vector<RankRow> gather_rows() const {
    const bool asked = context_.timelines.scope == TimelineScope::rank;
    if (task_.test->clients > most_ranks_one_by_one && !asked) return {};
    return gather(row(), task_.communicator, waiting_);
  }

  RankRow row() const {
    RankRow row{};
    row.bytes = tally_.bytes;
    row.requests = tally_.requests;
    row.start_s = mine_.first_begin_s;
    row.end_s = mine_.last_end_s;
    row.open_s = part_.open_s;
    row.transfer_s = part_.transfer_s;
    row.close_s = part_.close_s;
    row.io_s = static_cast<double>(tally_.latency_ns.sum()) * 1e-9;
    row.user_s = part_.usage.user_s;
    row.system_s = part_.usage.system_s;
    if (part_.calls) row.calls = *part_.calls, row.has_calls = 1;
    row.rank = static_cast<std::uint32_t>(rank_);
    row.node = context_.nodes.mine;
    if (part_.digest) row.digest = *part_.digest, row.has_digest = 1;
    return row;
  }

  /// On rank 0: the errors of all ranks, the first ones in full.
  std::vector<ErrorRecord> gather_errors() {
    std::vector<ErrorRecord> mine = part_.errors;
    mine.insert(mine.end(), part_.findings.begin(), part_.findings.end());
    return bring_errors_to_first(std::move(mine), task_.communicator, waiting_);
  }

  /// What of the bytes of a reading phase came from storage; a writing phase shows which counters can be believed.
  std::optional<Sample::Served> served() {
    const Capabilities& capabilities = task_.test->interface->capabilities;
    // The counters have seen the ramp too.
    const std::uint64_t moved_bytes = sample_.bytes + (sample_.runtime ? sample_.runtime->ramp_bytes : 0);
    if (task_.unit != Unit::bytes || !capabilities.stores() || moved_bytes == 0) return std::nullopt;
    const std::optional<CallCount>& calls = sample_.calls;
    const Seen seen{.process = calls ? Moved{calls->storage_read_bytes, calls->storage_write_bytes} : Moved{},
                    .traffic = aside_.traffic};
    const auto client =
        capabilities.client == StorageClient::library ? ServedBy::Client::own : ServedBy::Client::kernel;
    if (!reads(task_.operation)) context_.served_by.note_write(client, context_.storage.source, moved_bytes, seen);
    if (writes(task_.operation)) return std::nullopt;
    const auto answer = context_.served_by.of_read(client, context_.storage.source, seen);
    if (!answer) return std::nullopt;
    const double share = static_cast<double>(answer->bytes) / static_cast<double>(moved_bytes);
    return Sample::Served{share, answer->bytes, answer->source};
  }

  /// On rank 0: what follows from the numbers of all ranks, and what the phase does not have after all.
  void complete_sample() {
    sample_.valid = sample_.verification->mismatches == 0;
    sample_.elapsed_s = counted_s(ends_.last_end_s - sample_.start_s);
    sample_.start_skew_s = ends_.last_begin_s - sample_.start_s;
    sample_.end_skew_s = ends_.last_working_end_s - ends_.first_end_s;
    sample_.first_done_s = counted_s(ends_.first_end_s - sample_.start_s);
    note_clock_error(clocks_, sample_);
    std::erase_if(sample_.parts, [](const SamplePart& part) { return part.requests == 0; });
    if (aside_.working_ranks > 0) sample_.rank_rates.mean /= static_cast<double>(aside_.working_ranks);
    else sample_.rank_rates = {{0, 0}, 0, {0, 0}};
    complete(sample_.rank_distributions, context_.nodes.of_rank);
    if (aside_.uncounted_ranks > 0) sample_.calls.reset();
    if (!part_.verification) sample_.verification.reset();
    if (!part_.digest) sample_.digest.reset();
    if (task_.test->arrivals == Arrivals::closed || !measures()) sample_.arrivals.reset();
    if (!part_.limited) sample_.deadline.reset();
    else if (aside_.working_ranks == 0) sample_.deadline->requests_per_rank_min = 0;
    if (!is_by_time(task_)) sample_.runtime.reset();
    else if (aside_.working_ranks == 0) sample_.runtime->requests_per_rank_min = 0, sample_.runtime->passes_min = 0;
    sample_.served = served();
  }

  RunContext& context_;
  const PhaseTask& task_;
  int rank_;
  RankPart& part_;
  Tally& tally_;
  const Milestones& milestones_;
  CounterWatch& counters_;
  ClockWatch& clocks_;
  WaitOptions waiting_;
  const std::function<void()>& inspect_;
  Ends mine_{}, ends_{};  ///< of this rank, of all
  Aside aside_;           ///< on rank 0: of all ranks
  Sample sample_;         ///< of this rank; on rank 0 of all, after reduce()
};

}  // namespace

PhaseOutcome report_phase(RunContext& context, const PhaseTask& task, int rank, RankPart& part, Tally& tally,
                          const Milestones& milestones, CounterWatch& counters, ClockWatch& clocks,
                          const WaitOptions& waiting, const std::function<void()>& inspect) {
  return Report(context, task, rank, part, tally, milestones, counters, clocks, waiting, inspect).make();
}

}  // namespace strider
