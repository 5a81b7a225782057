#include "reports/phase_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "foundation/random.hpp"
#include "ranks/exchange.hpp"
#include "reports/clock_rows.hpp"
#include "reports/timelines.hpp"

namespace strider {
namespace {

constexpr int error_tag = 914;
constexpr double nobody = 1e300;  ///< a minimum over no ranks

/// Minima over ranks; maxima travel negated, so that one reduction serves all.
struct Bounds {
  enum Field {
    begin,
    neg_begin,
    end,
    neg_end,
    neg_working_end,
    neg_news,
    neg_open,
    neg_transfer,
    neg_sync,
    neg_close,
    neg_prepare,
    neg_compute,
    neg_failed,
    neg_interrupted,
    neg_deadline,
    neg_wear_out,
    neg_latest,
    requests_min,
    neg_requests_max,
    capped_requests,
    fields
  };
  std::array<double, fields> value{};
  double max(Field field) const { return -value[field]; }
};

/// Sums over ranks of whole numbers; the latency counts ride behind them.
struct Sums {
  enum Field {
    bytes,
    requests,
    checked,
    wrong,
    mismatches,
    outside,
    sized_files,
    digest,
    voluntary,
    involuntary,
    latency_ns,
    failed_ranks,
    error_records,
    working_ranks,
    deadline_requests,
    deadline_bytes,
    read_calls,
    write_calls,
    call_read_bytes,
    call_write_bytes,
    storage_read_bytes,
    storage_write_bytes,
    uncounted_ranks,
    client_read,
    client_written,
    network_read,
    network_written,
    block_read,
    block_written,
    late_requests,
    fields
  };
  std::vector<std::uint64_t> value = std::vector<std::uint64_t>(fields + Histogram::size);
};

struct RealSums {
  enum Field { user, system, rate, first_done, offered, achieved, fields };
  std::array<double, fields> value{};
};

/// The least latency and the negated largest one. Signed: MPICH 4.0 compares even unsigned numbers as signed ones, and
/// a rank without requests has the largest number there is.
using LatencyBounds = std::array<std::int64_t, 2>;
LatencyBounds bounds_of(const Histogram& latency_ns) {
  constexpr std::uint64_t none = std::numeric_limits<std::int64_t>::max();
  return {static_cast<std::int64_t>(std::min(latency_ns.minimum(), none)),
          -static_cast<std::int64_t>(std::min(latency_ns.maximum(), none))};
}

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
    reduce_bounds();
    counters_.finish();  // all ranks have come to their end
    const bool has_sample = bounds_.max(Bounds::neg_failed) == 0 && bounds_.max(Bounds::neg_interrupted) == 0;
    if (has_sample) inspect_();
    reduce_sums();
    reduce_parts();
    const std::vector<RankRow> rows = gather_rows();
    const std::vector<NodeCounters> counters = counters_.gather(waiting_);
    const std::vector<ErrorRecord> errors = gather_errors();
    PhaseOutcome outcome;
    outcome.failed = bounds_.max(Bounds::neg_failed) > 0;
    outcome.interrupted = bounds_.max(Bounds::neg_interrupted) > 0;
    outcome.my_requests = tally_.requests;
    context_.starts.learn(bounds_.max(Bounds::neg_news));
    if (bounds_.value[Bounds::capped_requests] < nobody)
      outcome.completed_requests = static_cast<std::uint64_t>(bounds_.value[Bounds::capped_requests]);
    if (has_sample && rank_ == 0) write_sample(rows, counters, outcome);
    if (has_sample && measures() && context_.timelines.scope != TimelineScope::none)
      report_timelines(context_, task_, part_.scheduled_s - origin_s(), tally_.timeline, waiting_);
    for (const ErrorRecord& error : errors) context_.events->error(task_.name, info_of(error));
    return outcome;
  }

 private:
  /// On rank 0.
  void write_sample(const std::vector<RankRow>& rows, const std::vector<NodeCounters>& counters,
                    PhaseOutcome& outcome) {
    const Sample sample = sample_of();
    outcome.rate = amount_of(sample.unit, sample.bytes, sample.requests) / sample.elapsed_s;
    outcome.valid = sample.valid;
    context_.events->sample(task_.name, sample);
    for (std::size_t r = 0; r < rows.size(); ++r)
      context_.events->rank(task_.name, static_cast<std::uint32_t>(r), rows[r]);
    for (const ClockRow& clock : clock_rows(context_, clocks_, sample)) context_.events->clock(task_.name, clock);
    for (const NodeCounters& node : counters) context_.events->counters(task_.name, node);
  }

  /// Whether this rank has anything to do in the phase; one that has not says nothing about rates.
  bool works() const { return part_.had_requests > 0; }
  RankPart::Arrivals arrivals() const { return part_.arrivals.value_or(RankPart::Arrivals{}); }
  bool measures() const { return task_.purpose == PhaseTask::Purpose::measurement; }

  double origin_s() const { return static_cast<double>(context_.origin_ns) * 1e-9; }
  /// A time of this rank's clock in seconds since the run's start on rank 0's clock.
  double since_origin_s(std::uint64_t ns) const { return clocks_.reference_s(ns) - origin_s(); }

  void reduce_bounds() {
    begin_s_ = since_origin_s(part_.begin_ns);
    end_s_ = since_origin_s(part_.end_ns);
    auto& v = bounds_.value;
    v[Bounds::begin] = begin_s_;
    v[Bounds::neg_begin] = -begin_s_;
    v[Bounds::end] = works() ? end_s_ : nobody;
    v[Bounds::neg_end] = -end_s_;
    v[Bounds::neg_working_end] = works() ? -end_s_ : nobody;
    v[Bounds::neg_news] = -context_.starts.news_s();
    v[Bounds::neg_open] = -part_.open_s;
    v[Bounds::neg_transfer] = -part_.transfer_s;
    v[Bounds::neg_sync] = -part_.sync_s;
    v[Bounds::neg_close] = -part_.close_s;
    v[Bounds::neg_prepare] = -part_.prepare_s;
    v[Bounds::neg_compute] = -part_.compute_s;
    v[Bounds::neg_failed] = part_.errors.empty() ? 0 : -1;
    v[Bounds::neg_interrupted] = part_.interrupted ? -1 : 0;
    v[Bounds::neg_deadline] = -part_.deadline.elapsed_s;
    v[Bounds::neg_wear_out] = -part_.deadline.wear_out_s;
    v[Bounds::neg_latest] = -arrivals().latest_s;
    v[Bounds::requests_min] = works() ? static_cast<double>(part_.deadline.requests) : nobody;
    v[Bounds::neg_requests_max] = -static_cast<double>(part_.deadline.requests);
    // A rank that did all it had does not limit the others.
    v[Bounds::capped_requests] = tally_.requests < part_.had_requests ? static_cast<double>(tally_.requests) : nobody;
    all_reduce(v, MPI_MIN, task_.communicator, waiting_);
  }

  void reduce(void* data, int count, MPI_Datatype type, MPI_Op operation, MPI_Request& request) const {
    if (rank_ == 0) MPI_Ireduce(MPI_IN_PLACE, data, count, type, operation, 0, task_.communicator, &request);
    else MPI_Ireduce(data, nullptr, count, type, operation, 0, task_.communicator, &request);
  }

  void reduce_sums() {
    auto& v = sums_.value;
    v[Sums::bytes] = tally_.bytes;
    v[Sums::requests] = tally_.requests;
    v[Sums::voluntary] = part_.usage.voluntary_switches;
    v[Sums::involuntary] = part_.usage.involuntary_switches;
    v[Sums::latency_ns] = tally_.latency_ns.sum();
    v[Sums::failed_ranks] = part_.errors.empty() ? 0 : 1;
    v[Sums::error_records] = part_.errors.size() + part_.findings.size();
    v[Sums::deadline_requests] = part_.deadline.requests;
    v[Sums::deadline_bytes] = part_.deadline.bytes;
    const CallCount calls = part_.calls.value_or(CallCount{});
    v[Sums::read_calls] = calls.read;
    v[Sums::write_calls] = calls.write;
    v[Sums::call_read_bytes] = calls.read_bytes;
    v[Sums::call_write_bytes] = calls.write_bytes;
    v[Sums::storage_read_bytes] = calls.storage_read_bytes;
    v[Sums::storage_write_bytes] = calls.storage_write_bytes;
    v[Sums::uncounted_ranks] = part_.calls ? 0 : 1;
    const StorageTraffic& storage = counters_.storage();
    v[Sums::client_read] = storage.client.read;
    v[Sums::client_written] = storage.client.written;
    v[Sums::network_read] = storage.network.read;
    v[Sums::network_written] = storage.network.written;
    v[Sums::block_read] = storage.block.read;
    v[Sums::block_written] = storage.block.written;
    v[Sums::late_requests] = arrivals().late_requests;
    if (part_.verification) {
      v[Sums::checked] = part_.verification->checked_bytes;
      v[Sums::wrong] = part_.verification->wrong_bytes;
      v[Sums::mismatches] = part_.verification->mismatches;
      v[Sums::outside] = part_.verification->outside_bytes;
      v[Sums::sized_files] = part_.verification->files;
    }
    if (part_.digest) v[Sums::digest] = hash_numbers(*part_.digest, rank_);
    std::copy(tally_.latency_ns.counts().begin(), tally_.latency_ns.counts().end(), v.begin() + Sums::fields);

    if (bounds_.value[Bounds::end] >= nobody) {
      bounds_.value[Bounds::end] = bounds_.max(Bounds::neg_end);
      bounds_.value[Bounds::neg_working_end] = bounds_.value[Bounds::neg_end];
    }
    if (bounds_.value[Bounds::requests_min] >= nobody) bounds_.value[Bounds::requests_min] = 0;
    const std::uint64_t first_end_ns =
        part_.end_ns - static_cast<std::uint64_t>(std::max(0.0, (end_s_ - bounds_.value[Bounds::end]) * 1e9));
    const double elapsed_s = static_cast<double>(part_.end_ns - part_.begin_ns) * 1e-9;
    const double rate = elapsed_s > 0 ? amount_of(task_.unit, tally_.bytes, tally_.requests) / elapsed_s : 0;
    reals_.value = {part_.usage.user_s,       part_.usage.system_s,     rate, milestones_.amount_at(first_end_ns),
                    arrivals().offered_per_s, arrivals().achieved_per_s};
    lowest_ = {works() ? rate : nobody, rank_};
    highest_ = {works() ? rate : -1, rank_};
    v[Sums::working_ranks] = works() ? 1 : 0;
    latency_bounds_ = bounds_of(tally_.latency_ns);

    std::array<MPI_Request, 5> requests;
    reduce(v.data(), static_cast<int>(v.size()), MPI_UINT64_T, MPI_SUM, requests[0]);
    reduce(reals_.value.data(), RealSums::fields, MPI_DOUBLE, MPI_SUM, requests[1]);
    reduce(&lowest_, 1, MPI_DOUBLE_INT, MPI_MINLOC, requests[2]);
    reduce(&highest_, 1, MPI_DOUBLE_INT, MPI_MAXLOC, requests[3]);
    reduce(latency_bounds_.data(), 2, MPI_INT64_T, MPI_MIN, requests[4]);
    for (MPI_Request& request : requests) wait(request, waiting_);
  }

  /// What each operation of a mix came to, one after the other: a mix has a few.
  void reduce_parts() {
    for (const MixTally& part : part_.parts) {
      std::vector<std::uint64_t> sum(part.latency_ns.counts().begin(), part.latency_ns.counts().end());
      sum.push_back(part.latency_ns.sum());
      sum.push_back(part.requests);
      LatencyBounds bounds = bounds_of(part.latency_ns);
      std::array<MPI_Request, 2> requests;
      reduce(sum.data(), static_cast<int>(sum.size()), MPI_UINT64_T, MPI_SUM, requests[0]);
      reduce(bounds.data(), 2, MPI_INT64_T, MPI_MIN, requests[1]);
      for (MPI_Request& request : requests) wait(request, waiting_);
      if (rank_ != 0 || sum.back() == 0) continue;
      SamplePart& whole = parts_.emplace_back();
      whole.operation = name_of(part.operation);
      whole.requests = sum.back();
      std::copy_n(sum.begin(), Histogram::size, whole.latency.counts.begin());
      whole.latency.sum_ns = sum[Histogram::size];
      whole.latency.minimum_ns = static_cast<std::uint64_t>(bounds[0]);
      whole.latency.maximum_ns = static_cast<std::uint64_t>(-bounds[1]);
    }
  }

  std::vector<RankRow> gather_rows() const {
    RankRow row{};
    row.bytes = tally_.bytes;
    row.requests = tally_.requests;
    row.start_s = begin_s_;
    row.end_s = end_s_;
    row.transfer_s = part_.transfer_s;
    row.io_s = static_cast<double>(tally_.latency_ns.sum()) * 1e-9;
    row.user_s = part_.usage.user_s;
    row.system_s = part_.usage.system_s;
    if (part_.calls) row.calls = *part_.calls, row.has_calls = 1;
    row.node = context_.nodes.mine;
    if (part_.digest) row.digest = *part_.digest, row.has_digest = 1;
    return gather(row, task_.communicator, waiting_);
  }

  /// On rank 0: the errors of all ranks, the first ones in full.
  std::vector<ErrorRecord> gather_errors() {
    std::vector<ErrorRecord> mine = part_.errors;
    mine.insert(mine.end(), part_.findings.begin(), part_.findings.end());
    if (rank_ != 0) {
      for (const ErrorRecord& record : mine) send(std::span(&record, 1), 0, error_tag, task_.communicator, waiting_);
      return {};
    }
    for (std::uint64_t more = sums_.value[Sums::error_records] - mine.size(); more > 0; --more) {
      ErrorRecord record{};
      receive(std::span(&record, 1), MPI_ANY_SOURCE, error_tag, task_.communicator, waiting_);
      mine.push_back(record);
    }
    return condense(std::move(mine));
  }

  /// What of the bytes of a reading phase came from storage; a writing phase shows which counters can tell.
  std::optional<Sample::Served> served(const Sample& sample) {
    const Capabilities& capabilities = task_.test->interface->capabilities;
    if (task_.unit != Unit::bytes || !capabilities.stores() || sample.bytes == 0) return std::nullopt;
    const auto& sum = sums_.value;
    const Seen seen{
        .process = sample.calls ? Moved{sample.calls->storage_read_bytes, sample.calls->storage_write_bytes} : Moved{},
        .traffic = {.client = {sum[Sums::client_read], sum[Sums::client_written]},
                    .network = {sum[Sums::network_read], sum[Sums::network_written]},
                    .block = {sum[Sums::block_read], sum[Sums::block_written]}}};
    const auto client =
        capabilities.client == StorageClient::library ? ServedBy::Client::own : ServedBy::Client::kernel;
    if (!reads(task_.operation)) context_.served_by.note_write(client, context_.storage.source, sample.bytes, seen);
    if (writes(task_.operation)) return std::nullopt;
    const auto answer = context_.served_by.of_read(client, context_.storage.source, seen);
    return answer ? std::optional<Sample::Served>({answer->bytes, answer->source}) : std::nullopt;
  }

  Sample sample_of() {
    const auto& sum = sums_.value;
    Sample sample;
    sample.measured = measures();
    sample.unit = task_.unit;
    sample.valid = sum[Sums::mismatches] == 0;
    sample.clients = task_.test->clients;
    sample.nodes = task_.nodes;
    sample.files = task_.files;
    sample.bytes = sum[Sums::bytes];
    sample.requests = sum[Sums::requests];
    sample.start_s = bounds_.value[Bounds::begin];
    sample.elapsed_s = bounds_.max(Bounds::neg_end) - sample.start_s;
    sample.start_skew_s = bounds_.max(Bounds::neg_begin) - sample.start_s;
    sample.end_skew_s = bounds_.max(Bounds::neg_working_end) - bounds_.value[Bounds::end];
    note_clock_error(clocks_, sample);
    sample.first_done_s = bounds_.value[Bounds::end] - sample.start_s;
    sample.first_done_amount = reals_.value[RealSums::first_done];
    sample.open_s = bounds_.max(Bounds::neg_open);
    sample.transfer_s = bounds_.max(Bounds::neg_transfer);
    sample.sync_s = bounds_.max(Bounds::neg_sync);
    sample.close_s = bounds_.max(Bounds::neg_close);
    sample.prepare_s = bounds_.max(Bounds::neg_prepare);
    sample.compute_s = bounds_.max(Bounds::neg_compute);
    sample.user_s = reals_.value[RealSums::user];
    sample.system_s = reals_.value[RealSums::system];
    sample.voluntary_switches = sum[Sums::voluntary];
    sample.involuntary_switches = sum[Sums::involuntary];
    if (sum[Sums::uncounted_ranks] == 0)
      sample.calls = {sum[Sums::read_calls],       sum[Sums::write_calls],        sum[Sums::call_read_bytes],
                      sum[Sums::call_write_bytes], sum[Sums::storage_read_bytes], sum[Sums::storage_write_bytes]};
    sample.served = served(sample);
    sample.cache = task_.cache;
    std::copy(sum.begin() + Sums::fields, sum.end(), sample.latency.counts.begin());
    sample.latency.sum_ns = sum[Sums::latency_ns];
    sample.latency.minimum_ns = static_cast<std::uint64_t>(latency_bounds_[0]);
    sample.latency.maximum_ns = static_cast<std::uint64_t>(-latency_bounds_[1]);
    sample.parts = parts_;
    if (sum[Sums::working_ranks] > 0) {
      sample.rank_rate_mean = reals_.value[RealSums::rate] / static_cast<double>(sum[Sums::working_ranks]);
      sample.rank_rate_lowest = lowest_;
      sample.rank_rate_highest = highest_;
    }
    sample.facts = part_.facts;
    if (part_.verification)
      sample.verification = {sum[Sums::checked], sum[Sums::wrong], sum[Sums::mismatches], sum[Sums::outside],
                             sum[Sums::sized_files]};
    if (part_.digest) sample.digest = sum[Sums::digest];
    if (task_.test->arrivals != Arrivals::closed && measures())
      sample.arrivals = {task_.test->arrivals == Arrivals::fixed ? "fixed" : "poisson",
                         static_cast<double>(task_.test->arrival_rate_per_s),
                         reals_.value[RealSums::offered],
                         reals_.value[RealSums::achieved],
                         sum[Sums::late_requests],
                         bounds_.max(Bounds::neg_latest)};
    if (part_.limited)
      sample.deadline = {task_.test->deadline_s,
                         sum[Sums::deadline_requests],
                         sum[Sums::deadline_bytes],
                         bounds_.max(Bounds::neg_deadline),
                         bounds_.max(Bounds::neg_wear_out),
                         static_cast<std::uint64_t>(bounds_.value[Bounds::requests_min]),
                         static_cast<std::uint64_t>(bounds_.max(Bounds::neg_requests_max))};
    return sample;
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
  Bounds bounds_;
  Sums sums_;
  RealSums reals_;
  RankExtreme lowest_, highest_;
  std::vector<SamplePart> parts_;  ///< on rank 0
  LatencyBounds latency_bounds_{};
  double begin_s_ = 0, end_s_ = 0;
};

}  // namespace

PhaseOutcome report_phase(RunContext& context, const PhaseTask& task, int rank, RankPart& part, Tally& tally,
                          const Milestones& milestones, CounterWatch& counters, ClockWatch& clocks,
                          const WaitOptions& waiting, const std::function<void()>& inspect) {
  return Report(context, task, rank, part, tally, milestones, counters, clocks, waiting, inspect).make();
}

}  // namespace strider
