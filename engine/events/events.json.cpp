#include "events/events.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "foundation/clock.hpp"
#include "foundation/error.hpp"
#include "foundation/whole_transfer.hpp"

namespace strider {
namespace {

using Json = nlohmann::ordered_json;

std::string utc_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  char text[40] = {};
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03ldZ", now.tv_nsec / 1'000'000);
  return text;
}

std::string hex16(std::uint64_t number) {
  char text[17] = {};
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

Json begin(const char* event, double time_s, const PhaseName& name) {
  const bool known = name.case_number != 0;
  return {{"event", event},
          {"time_s", time_s},
          {"case", known ? Json(name.case_number) : Json(nullptr)},
          {"repetition", known ? Json(name.repetition) : Json(nullptr)},
          {"warmup", name.warmup},
          {"operation", name.operation.empty() ? Json(nullptr) : Json(name.operation)}};
}

double rate_mib_s(double bytes, double seconds) { return seconds > 0 ? bytes / mib / seconds : 0; }

Json latency_of(const LatencyCounts& latency) {
  std::uint64_t count = 0;
  for (const std::uint64_t n : latency.counts) count += n;
  if (count == 0) return nullptr;
  // A percentile is the middle of its bucket, but never outside what was seen.
  const auto percentile = [&](double share) {
    const double value = quantile_of(latency.counts, count, share);
    return std::clamp(value, static_cast<double>(latency.minimum_ns), static_cast<double>(latency.maximum_ns)) * 1e-9;
  };
  return {{"count", count},
          {"min_s", static_cast<double>(latency.minimum_ns) * 1e-9},
          {"mean_s", static_cast<double>(latency.sum_ns) / static_cast<double>(count) * 1e-9},
          {"p50_s", percentile(0.5)},
          {"p90_s", percentile(0.9)},
          {"p99_s", percentile(0.99)},
          {"p999_s", percentile(0.999)},
          {"max_s", static_cast<double>(latency.maximum_ns) * 1e-9}};
}

Json histogram_of(const LatencyCounts& latency) {
  Json buckets = Json::array();
  for (std::size_t i = 0; i < latency.counts.size(); ++i)
    if (latency.counts[i] != 0) buckets.push_back({i, latency.counts[i]});
  return {{"scheme", "loglinear-7"}, {"unit", "ns"}, {"buckets", buckets}};
}

Json parts_of(const Sample& sample) {
  Json parts = Json::array();
  for (const SamplePart& part : sample.parts)
    parts.push_back({{"operation", part.operation},
                     {"requests", part.requests},
                     {"latency", latency_of(part.latency)},
                     {"histogram", histogram_of(part.latency)}});
  return parts;
}

double per_second(double amount, double elapsed_s) { return elapsed_s > 0 ? amount / elapsed_s : 0; }

Json rank_rates_of(const Sample& sample) {
  return {{"min", sample.rank_rate_lowest.value},
          {"min_rank", sample.rank_rate_lowest.rank},
          {"mean", sample.rank_rate_mean},
          {"max", sample.rank_rate_highest.value},
          {"max_rank", sample.rank_rate_highest.rank}};
}

Json deadline_of(const std::optional<Sample::Deadline>& deadline) {
  if (!deadline) return nullptr;
  return {{"deadline_s", deadline->deadline_s},
          {"requests", deadline->requests},
          {"bytes", deadline->bytes},
          {"elapsed_s", deadline->elapsed_s},
          {"rate_mib_s", rate_mib_s(static_cast<double>(deadline->bytes), deadline->elapsed_s)},
          {"wear_out_s", deadline->wear_out_s},
          {"requests_per_rank_min", deadline->requests_per_rank_min},
          {"requests_per_rank_max", deadline->requests_per_rank_max}};
}

Json arrivals_of(const std::optional<Sample::OpenLoop>& arrivals) {
  if (!arrivals) return nullptr;
  return {{"kind", arrivals->kind},
          {"rate_requests_s", arrivals->rate},
          {"offered_requests_s", arrivals->offered},
          {"achieved_requests_s", arrivals->achieved},
          {"late_requests", arrivals->late_requests},
          {"latest_s", arrivals->latest_s}};
}

Json verification_of(const std::optional<Sample::Verification>& verification) {
  if (!verification) return nullptr;
  return {{"checked_bytes", verification->checked_bytes},
          {"wrong_bytes", verification->wrong_bytes},
          {"mismatches", verification->mismatches},
          {"outside_bytes", verification->outside_bytes},
          {"files", verification->files}};
}

Json counters_of(const CounterGroups& groups) {
  Json result = Json::array();
  for (const CounterGroup& group : groups) {
    Json values = Json::object();
    for (const Counter& counter : group.counters)
      values[counter.name] =
          counter.kind == CounterKind::time_ns ? Json(static_cast<double>(counter.value) / 1e9) : Json(counter.value);
    result.push_back({{"source", group.source}, {"instance", group.instance}, {"values", std::move(values)}});
  }
  return result;
}

/// The fields of what the kernel counts of processes; null where it does not.
Json calls_of(const CallCount* calls) {
  const auto field = [&](std::uint64_t CallCount::* member) {
    return calls != nullptr ? Json(calls->*member) : Json(nullptr);
  };
  return {{"read_calls", field(&CallCount::read)},
          {"write_calls", field(&CallCount::write)},
          {"call_read_bytes", field(&CallCount::read_bytes)},
          {"call_write_bytes", field(&CallCount::write_bytes)},
          {"storage_read_bytes", field(&CallCount::storage_read_bytes)},
          {"storage_write_bytes", field(&CallCount::storage_write_bytes)}};
}

Json cache_of(const std::optional<Sample::CachePreparation>& cache) {
  if (!cache) return nullptr;
  return {{"policy", cache->policy},
          {"action", cache->action},
          {"cached_share", cache->cached_share ? Json(*cache->cached_share) : Json(nullptr)},
          {"examined_by", cache->examined_by.empty() ? Json(nullptr) : Json(cache->examined_by)}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

Json causes_of(const std::vector<Damage>& causes) {
  if (causes.empty()) return nullptr;
  Json list = Json::array();
  for (const Damage& damage : causes)
    list.push_back({{"class", name_of(damage.cause)},
                    {"offset", damage.file_offset},
                    {"bytes", damage.bytes},
                    {"value", has_value(damage.cause) ? Json(damage.value) : Json(nullptr)},
                    {"text", text_of(damage)}});
  return list;
}

}  // namespace

ObservationStream::ObservationStream(const std::string& path, const std::string& host, double interval_s)
    : out_(std::cout.rdbuf()), path_(path) {
  if (path != "-") {
    file_.open(path, std::ios::trunc);
    out_.rdbuf(file_.rdbuf());
  }
  if (!file_) throw_errno("open", path);
  const Json head{{"format", "strider-observed"},
                  {"version", 1},
                  {"host", host},
                  {"started", utc_now()},
                  {"interval_s", interval_s}};
  if (!(out_ << line_of(head) << std::flush)) throw_errno("write", path_);
}

void ObservationStream::observed(double elapsed_s, const CounterGroups& groups) {
  const Json line{{"end", utc_now()}, {"elapsed_s", elapsed_s}, {"counters", counters_of(groups)}};
  if (!(out_ << line_of(line) << std::flush)) throw_errno("write", path_);
}

EventStream::EventStream(const std::string& path) : path_(path), origin_ns_(monotonic_ns()) {
  if (path.empty()) return;
  file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file_) throw_errno("open", path);
}

double EventStream::time_s() const { return static_cast<double>(monotonic_ns() - origin_ns_) * 1e-9; }

void EventStream::write_line(const std::string& line) {
  if (!file_) return;
  const Transferred moved = transfer_whole(line.size(), [&](std::uint64_t done) {
    ++write_calls_;
    return moved_or_error(::write(file_.get(), line.data() + done, line.size() - done));
  });
  written_bytes_ += moved.bytes;
  if (moved.bytes < line.size()) throw stopped_transfer({"write", path_, 0, line.size(), moved.error_number});
}

void EventStream::run(const RunInfo& info) {
  Json nodes = Json::array();
  for (const NodeInfo& node : info.nodes)
    nodes.push_back({{"name", node.name},
                     {"ranks", node.ranks},
                     {"clock_offset_s", node.clock_offset_s},
                     {"clock_error_s", node.clock_error_s}});
  write_line(line_of({{"event", "run"},
                      {"version", 1},
                      {"time_s", 0.0},
                      {"run", info.run},
                      {"engine", STRIDER_VERSION},
                      {"started", utc_now()},
                      {"mpi", info.mpi_library},
                      {"ranks", info.ranks},
                      {"nodes", nodes},
                      {"timer", info.timer},
                      {"timer_cost_ns", info.timer_cost_ns},
                      {"data_seed", std::to_string(info.data_seed)},
                      {"confinement", {{"state", info.confinement.state}, {"missing", info.confinement.missing}}}}));
}

void EventStream::case_begins(const PhaseName& name) {
  Json json = begin("case", time_s(), name);
  json.erase("operation");
  write_line(line_of(json));
}

void EventStream::progress(const PhaseName& name, const Progress& progress) {
  Json json = begin("progress", time_s(), name);
  json.update({{"bytes_done", progress.bytes_done},
               {"bytes_total", progress.bytes_total},
               {"requests_done", progress.requests_done},
               {"requests_total", progress.requests_total},
               {"elapsed_s", progress.elapsed_s},
               {"observed_ranks", progress.observed_ranks},
               {"done_phases", progress.done_phases},
               {"planned_phases", progress.planned_phases}});
  write_line(line_of(json));
}

void EventStream::sample(const PhaseName& name, const Sample& sample) {
  if (!file_) return;
  const bool data = sample.unit == Unit::bytes;
  Json json = begin("sample", time_s(), name);
  json.update({{"measured", sample.measured},
               {"valid", sample.valid},
               {"clients", sample.clients},
               {"nodes", sample.nodes},
               {"files", sample.files},
               {"bytes", sample.bytes},
               {"requests", sample.requests},
               {"start_s", sample.start_s},
               {"elapsed_s", sample.elapsed_s},
               {"rate_mib_s", rate_mib_s(static_cast<double>(sample.bytes), sample.elapsed_s)},
               {"start_skew_s", sample.start_skew_s},
               {"end_skew_s", sample.end_skew_s},
               {"clock_error_s", sample.clock_error_s ? Json(*sample.clock_error_s) : Json(nullptr)},
               {"flags", sample.flags},
               {"first_done_s", sample.first_done_s},
               {"rate_first_done_mib_s",
                data ? Json(rate_mib_s(sample.first_done_amount, sample.first_done_s)) : Json(nullptr)},
               {"rate_first_done_requests_s",
                data ? Json(nullptr) : Json(per_second(sample.first_done_amount, sample.first_done_s))},
               {"requests_s", per_second(static_cast<double>(sample.requests), sample.elapsed_s)},
               {"open_s", sample.open_s},
               {"transfer_s", sample.transfer_s},
               {"sync_s", sample.sync_s},
               {"close_s", sample.close_s},
               {"prepare_s", sample.prepare_s},
               {"compute_s", sample.compute_s},
               {"user_s", sample.user_s},
               {"system_s", sample.system_s},
               {"voluntary_switches", sample.voluntary_switches},
               {"involuntary_switches", sample.involuntary_switches},
               {"latency", latency_of(sample.latency)},
               {"histogram", histogram_of(sample.latency)},
               {"parts", parts_of(sample)},
               {"rank_rate_mib_s", data ? rank_rates_of(sample) : Json(nullptr)},
               {"rank_rate_requests_s", data ? Json(nullptr) : rank_rates_of(sample)},
               {"deadline", deadline_of(sample.deadline)},
               {"arrivals", arrivals_of(sample.arrivals)},
               {"verify", verification_of(sample.verification)},
               {"digest", sample.digest ? Json(hex16(*sample.digest)) : Json(nullptr)},
               {"served_by_storage", nullptr},
               {"served_bytes", nullptr},
               {"served_source", nullptr},
               {"cache", cache_of(sample.cache)},
               {"facts", sample.facts}});
  json.update(calls_of(sample.calls ? &*sample.calls : nullptr));
  if (sample.served) {
    json["served_by_storage"] = static_cast<double>(sample.served->bytes) / static_cast<double>(sample.bytes);
    json["served_bytes"] = sample.served->bytes;
    json["served_source"] = sample.served->source;
  }
  write_line(line_of(json));
  ++samples_;
}

void EventStream::rank(const PhaseName& name, std::uint32_t rank, const RankRow& row) {
  Json json = begin("rank", time_s(), name);
  json.update({{"rank", rank},
               {"node", row.node},
               {"bytes", row.bytes},
               {"requests", row.requests},
               {"start_s", row.start_s},
               {"end_s", row.end_s},
               {"transfer_s", row.transfer_s},
               {"io_s", row.io_s},
               {"user_s", row.user_s},
               {"system_s", row.system_s},
               {"digest", row.has_digest != 0 ? Json(hex16(row.digest)) : Json(nullptr)}});
  json.update(calls_of(row.has_calls != 0 ? &row.calls : nullptr));
  write_line(line_of(json));
}

void EventStream::counters(const PhaseName& name, const NodeCounters& counters) {
  Json json = begin("counters", time_s(), name);
  json.update({{"node", counters.node},
               {"elapsed_s", counters.elapsed_s},
               {"sampling_s", counters.sampling_s},
               {"counters", counters_of(counters.groups)}});
  write_line(line_of(json));
}

void EventStream::ceilings(const CeilingReport& report) {
  Json ceilings = Json::array();
  for (const Ceiling& ceiling : report.ceilings)
    ceilings.push_back({{"name", ceiling.name},
                        {"unit", ceiling.unit},
                        {"value", ceiling.value ? Json(*ceiling.value) : Json(nullptr)},
                        {"spread", ceiling.spread ? Json(*ceiling.spread) : Json(nullptr)},
                        {"about", ceiling.about}});
  write_line(line_of({{"event", "ceilings"},
                      {"time_s", time_s()},
                      {"moment", report.moment == CeilingMoment::start ? "start" : "end"},
                      {"node", report.node ? Json(*report.node) : Json(nullptr)},
                      {"clients", report.clients ? Json(*report.clients) : Json(nullptr)},
                      {"elapsed_s", report.elapsed_s},
                      {"ceilings", ceilings}}));
}

void EventStream::clock(const PhaseName& name, const ClockRow& row) {
  Json json = begin("clock", time_s(), name);
  json.update({{"node", row.node},
               {"offset_start_s", row.offset_start_s},
               {"offset_end_s", row.offset_end_s},
               {"error_s", row.error_s},
               {"drift_ppm", row.drift_ppm},
               {"drift_error_ppm", row.drift_error_ppm}});
  write_line(line_of(json));
}

void EventStream::timeline(const PhaseName& name, const TimelineRow& row) {
  // Divided, so that a number has no more digits than nanoseconds have.
  const auto list = [&](const auto& value) {
    Json values = Json::array();
    for (const Timeline::Interval& interval : row.intervals) values.push_back(value(interval));
    return values;
  };
  const auto seconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e9; };
  Json json = begin("timeline", time_s(), name);
  json.update({{"rank", row.rank ? Json(*row.rank) : Json(nullptr)},
               {"node", row.node},
               {"start_s", row.start_s},
               {"interval_s", row.interval_s},
               {"bytes", list([](const auto& interval) { return interval.bytes; })},
               {"requests", list([](const auto& interval) { return interval.requests; })},
               {"busy_s", list([&](const auto& interval) { return seconds(interval.busy_ns); })},
               {"latency_max_s", list([&](const auto& interval) { return seconds(interval.longest_ns); })}});
  write_line(line_of(json));
}

void EventStream::error(const PhaseName& name, const ErrorInfo& error) {
  Json json = begin("error", time_s(), name);
  json.update({{"kind", error.kind},
               {"rank", error.rank},
               {"host", error.host},
               {"file", error.file},
               {"offset", error.offset},
               {"length", error.length},
               {"call", error.call},
               {"errno", error.error_number},
               {"message", error.message},
               {"expected", text_or_null(error.expected_hex)},
               {"found", text_or_null(error.found_hex)},
               {"class", text_or_null(error.blame)},
               {"causes", causes_of(error.causes)},
               {"server", text_or_null(error.server)},
               {"count", error.count},
               {"remedy", error.remedy}});
  write_line(line_of(json));
  ++errors_;
}

void EventStream::end(const std::string& status) {
  write_line(line_of(
      {{"event", "end"}, {"time_s", time_s()}, {"status", status}, {"samples", samples_}, {"errors", errors_}}));
}

}  // namespace strider
