#include "reports/contribution.hpp"

#include <algorithm>
#include <limits>

#include "foundation/random.hpp"

namespace strider {
namespace {

constexpr std::uint64_t no_requests = std::numeric_limits<std::uint64_t>::max();

void add(const Histogram& histogram, LatencyCounts& sum) {
  if (histogram.minimum() > histogram.maximum()) return;
  const std::size_t last = Histogram::index_of(histogram.maximum());
  for (std::size_t i = Histogram::index_of(histogram.minimum()); i <= last; ++i) sum.counts[i] += histogram.counts()[i];
  sum.sum_ns += histogram.sum();
  sum.minimum_ns = std::min(sum.minimum_ns, static_cast<double>(histogram.minimum()));
  sum.maximum_ns = std::max(sum.maximum_ns, static_cast<double>(histogram.maximum()));
}

}  // namespace

void Ends::complete() {
  if (first_end_s < no_rank) return;
  first_end_s = last_end_s;
  last_working_end_s = last_end_s;
}

double counted_s(const PhaseTask& task, double seconds) {
  return is_by_time(task) ? std::max(0.0, seconds - task.test->ramp_s) : seconds;
}

/// A time of this rank's clock in seconds since the run's start on rank 0's clock.
double Contribution::since_origin_s(std::uint64_t ns) const {
  return clocks_.reference_s(ns) - static_cast<double>(context_.origin_ns) * 1e-9;
}

/// An instant since the run's start, on this node's clock: as far from this rank's end as on rank 0's clock.
std::uint64_t Contribution::on_my_clock_ns(double instant_s) const {
  return part_.end_ns - static_cast<std::uint64_t>(std::max(0.0, (since_origin_s(part_.end_ns) - instant_s) * 1e9));
}

Ends Contribution::ends() const {
  const double begin_s = since_origin_s(part_.begin_ns), end_s = since_origin_s(part_.end_ns);
  return {
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
      .bounds = quantities_of(row(), rate()),
  };
}

/// In the unit of the sample.
double Contribution::rate() const {
  const double elapsed_s = counted_s(task_, static_cast<double>(part_.end_ns - part_.begin_ns) * 1e-9);
  return per_second(amount_of(task_.unit, tally_.bytes, tally_.requests), elapsed_s);
}

RankQuantities Contribution::values_from(double start_s) const {
  RankQuantities values = quantities_of(row(), rate());
  count_from(start_s, values);
  return values;
}

RankRow Contribution::row() const {
  RankRow row{};
  row.bytes = tally_.bytes;
  row.requests = tally_.requests;
  row.start_s = since_origin_s(part_.begin_ns);
  row.end_s = since_origin_s(part_.end_ns);
  row.open_s = part_.open_s;
  row.transfer_s = part_.transfer_s;
  row.close_s = part_.close_s;
  row.io_s = static_cast<double>(tally_.latency_ns.sum()) * 1e-9;
  row.user_s = part_.usage.user_s;
  row.system_s = part_.usage.system_s;
  if (part_.calls) row.calls = *part_.calls, row.has_calls = 1;
  row.rank = static_cast<std::uint32_t>(rank_);
  row.node = context_.nodes.of_rank[row.rank];
  if (part_.digest) row.digest = *part_.digest, row.has_digest = 1;
  return row;
}

void Contribution::set(Sample& sample, const Ends& all) const {
  sample.measured = task_.purpose == PhaseTask::Purpose::measurement;
  sample.unit = task_.unit;
  sample.clients = task_.test->clients;
  sample.nodes = task_.shares.nodes;
  sample.ranks_per_node_min = task_.shares.fewest;
  sample.ranks_per_node_max = task_.shares.most;
  sample.files = task_.files;
  sample.bytes = tally_.bytes;
  sample.requests = tally_.requests;
  sample.start_s = since_origin_s(part_.begin_ns);
  sample.first_done_amount = milestones_.amount_at(on_my_clock_ns(all.first_end_s));
  sample.open_s = part_.open_s;
  sample.transfer_s = part_.transfer_s;
  sample.sync_s = part_.sync_s;
  sample.close_s = part_.close_s;
  sample.prepare_s = part_.prepare_s;
  sample.compute_s = part_.compute_s;
  sample.usage = part_.usage;
  sample.cache = task_.cache;
  sample.facts = part_.facts;
  sample.parts.clear();
  for (const MixTally& part : part_.parts)
    sample.parts.push_back({name_of(part.operation), part.requests, part.bytes, LatencyCounts::of(part.latency_ns)});
  RankQuantities bounds = all.bounds;
  count_from(all.first_begin_s, bounds);
  set_values(values_from(all.first_begin_s), bounds, task_.unit, rank_, works(), sample.rank_distributions);
  sample.rank_rates = works() ? Sample::RankRates{{rate(), rank_}, rate(), {rate(), rank_}} : Sample::RankRates{};
  set_optional_records(sample);
}

void Contribution::count_in(Sample& sample, const Ends& all) const {
  add(tally_.latency_ns, sample.latency);
  if (works()) count(values_from(all.first_begin_s), sample.rank_distributions);
}

void Contribution::set_optional_records(Sample& sample) const {
  sample.calls = part_.calls.value_or(CallCount{});
  sample.verification = part_.verification.value_or(Sample::Verification{});
  sample.digest = Digest{part_.digest ? hash_numbers(*part_.digest, rank_) : 0};
  const RankPart::AtDeadline& at = part_.deadline;
  sample.deadline = {.deadline_s = task_.test->deadline_s,
                     .requests = at.requests,
                     .bytes = at.bytes,
                     .elapsed_s = at.elapsed_s,
                     .wear_out_s = at.wear_out_s,
                     .requests_per_rank_min = works() ? at.requests : no_requests,
                     .requests_per_rank_max = at.requests};
  const std::uint64_t requests = tally_.all_requests();
  const double passes = static_cast<double>(requests) / static_cast<double>(part_.had_requests);
  sample.runtime = {.runtime_s = task_.test->runtime_s,
                    .ramp_s = task_.test->ramp_s,
                    .ramp_requests = tally_.ramp.requests,
                    .ramp_bytes = tally_.ramp.bytes,
                    .requests_per_rank_min = works() ? requests : no_requests,
                    .requests_per_rank_max = requests,
                    .passes_min = works() ? passes : no_rank,
                    .passes_max = works() ? passes : 0};
  const RankPart::Arrivals arrivals = part_.arrivals.value_or(RankPart::Arrivals{});
  sample.arrivals = {.kind = task_.test->arrivals == Arrivals::fixed ? "fixed" : "poisson",
                     .rate_requests_s = static_cast<double>(task_.test->arrival_rate_per_s),
                     .offered_requests_s = arrivals.offered_per_s,
                     .achieved_requests_s = arrivals.achieved_per_s,
                     .late_requests = arrivals.late_requests,
                     .latest_s = arrivals.latest_s};
}

}  // namespace strider
