#include "reports/phase_report.hpp"

#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "ranks/exchange.hpp"
#include "reports/clock_rows.hpp"
#include "reports/contribution.hpp"
#include "reports/errors.hpp"
#include "reports/per_rank_file.hpp"
#include "reports/reduction.hpp"
#include "reports/timelines.hpp"
#include "reports/values.hpp"

namespace strider {
namespace {

/// The ranks for which this process stands.
struct ReportedRanks {
  enum class Kind : std::uint8_t { real, simulated } kind;
  const EachRank& each;
  RankResult process;  ///< this one; of a simulated phase without results
};

class Report {
 public:
  Report(RunContext& context, const PhaseTask& task, const ReportedRanks& ranks, const ReportOptions& options)
      : context_(context),
        task_(task),
        kind_(ranks.kind),
        each_rank_(ranks.each),
        rank_(ranks.process.rank),
        part_(ranks.process.part),
        tally_(ranks.process.tally),
        counters_(options.counters),
        clocks_(options.clocks),
        waiting_(options.waiting),
        inspect_(options.inspect) {}

  PhaseOutcome make() {
    clocks_.compare_again();
    note_ends();
    counters_.finish();  // all ranks have come to their end
    const bool has_sample = ends_.failed == 0 && ends_.interrupted == 0;
    if (has_sample && inspect_) inspect_();
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
    if (std::isfinite(ends_.fewest_capped_requests))
      outcome.completed_requests = static_cast<std::uint64_t>(ends_.fewest_capped_requests);
    if (has_sample && rank_ == 0) write_sample(rows, counters, outcome);
    if (has_sample && context_.per_rank != nullptr)
      context_.per_rank->keep({task_.name, measures(), task_.test->clients}, own_rows());
    if (has_sample && has_timelines())
      report_timelines(context_, task_, part_.scheduled_s - origin_s(), tally_.timeline, waiting_);
    if (has_sample && is_real() && records_values(task_)) report_values(context_, task_, part_.values, waiting_);
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

  bool is_real() const { return kind_ == ReportedRanks::Kind::real; }
  bool measures() const { return task_.purpose == PhaseTask::Purpose::measurement; }
  bool has_timelines() const { return measures() && is_real() && context_.timelines.scope != TimelineScope::none; }
  double origin_s() const { return static_cast<double>(context_.origin_ns) * 1e-9; }

  /// Brings together when all ranks began and ended.
  void note_ends() {
    bool first = true;
    each_rank_([&](const Contribution& one) {
      Ends theirs = one.ends();
      if (std::exchange(first, false)) ends_ = theirs;
      else Reduction(ends_).take_in(Reduction(theirs));
    });
    Reduction(ends_).to_all(task_.communicator, waiting_);
    ends_.complete();
  }

  /// On rank 0 the sample is that of all ranks then.
  void reduce() {
    bool first = true;
    Sample further;
    each_rank_([&](const Contribution& one) {
      const bool is_further = !std::exchange(first, false);
      one.set(is_further ? further : sample_, ends_);
      Aside aside = one.aside();
      if (is_further) Reduction(sample_, aside_).take_in(Reduction(further, aside));
      else aside_ = aside;
      one.count_in(sample_, ends_);
    });
    aside_.traffic = counters_.storage();
    Reduction reduction(sample_, aside_);
    reduction.add(sample_.latency);
    for (SamplePart& part : sample_.parts) reduction.add(part.latency);
    for (RankDistribution& distribution : sample_.rank_distributions) reduction.add(distribution.counts);
    reduction.to_first(task_.communicator, waiting_);
  }

  /// Of the ranks for which this process stands.
  std::vector<RankRow> own_rows() const {
    std::vector<RankRow> rows;
    each_rank_([&](const Contribution& one) { rows.push_back(one.row()); });
    return rows;
  }

  /// On rank 0, where each rank has a row.
  std::vector<RankRow> gather_rows() const {
    const bool asked = context_.timelines.scope == TimelineScope::rank;
    const std::uint32_t clients = task_.test->clients;
    if (clients > most_ranks_one_by_one && !asked) return {};
    int processes = 1;
    MPI_Comm_size(task_.communicator, &processes);
    const auto parts = static_cast<std::uint32_t>(processes);
    std::vector<RankRow> mine = own_rows();
    RankRow of_no_rank{};
    of_no_rank.rank = clients;
    // As many of each process: those of no rank are left out.
    mine.resize((clients + parts - 1) / parts, of_no_rank);
    std::vector<RankRow> rows(rank_ == 0 ? mine.size() * parts : 0);
    gather_bytes(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(rows)), task_.communicator, waiting_);
    std::erase_if(rows, [&](const RankRow& row) { return row.rank == clients; });
    return rows;
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
    sample_.elapsed_s = counted_s(task_, ends_.last_end_s - sample_.start_s);
    sample_.start_skew_s = ends_.last_begin_s - sample_.start_s;
    sample_.end_skew_s = ends_.last_working_end_s - ends_.first_end_s;
    sample_.first_done_s = counted_s(task_, ends_.first_end_s - sample_.start_s);
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
    if (is_real()) sample_.served = served();
    else sample_.flags.emplace_back("simulated");
  }

  RunContext& context_;
  const PhaseTask& task_;
  ReportedRanks::Kind kind_;
  const EachRank& each_rank_;
  int rank_;  ///< of this process
  RankPart& part_;
  Tally& tally_;
  CounterWatch& counters_;
  ClockWatch& clocks_;
  WaitOptions waiting_;
  const std::function<void()>& inspect_;
  Ends ends_{};    ///< of all ranks
  Aside aside_;    ///< of this process; on rank 0 of all ranks, after reduce()
  Sample sample_;  ///< the same
};

}  // namespace

PhaseOutcome report_phase(RunContext& context, const PhaseTask& task, const RankResult& mine,
                          const ReportOptions& options) {
  const Contribution contribution(context, task, options.clocks, mine);
  const EachRank each = [&](const TakeContribution& take) { take(contribution); };
  return Report(context, task, {.kind = ReportedRanks::Kind::real, .each = each, .process = mine}, options).make();
}

PhaseOutcome report_simulated_phase(RunContext& context, const PhaseTask& task, int process, const EachRank& each_rank,
                                    const ReportOptions& options) {
  RankPart nothing;
  const auto no_tally = std::make_unique<Tally>();
  const Milestones none{};
  const ReportedRanks ranks{
      .kind = ReportedRanks::Kind::simulated,
      .each = each_rank,
      .process = {.rank = process, .part = nothing, .tally = *no_tally, .milestones = none},
  };
  return Report(context, task, ranks, options).make();
}

}  // namespace strider
