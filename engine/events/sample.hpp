#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/rank_distribution.hpp"
#include "foundation/field.hpp"
#include "foundation/units.hpp"
#include "interfaces/interface.hpp"
#include "measure/call_counter.hpp"
#include "measure/histogram.hpp"
#include "measure/usage.hpp"

namespace strider {

/// What rates count: MiB of data, requests of metadata.
enum class Unit { bytes, requests };
constexpr double amount_of(Unit unit, std::uint64_t bytes, std::uint64_t requests) {
  return unit == Unit::bytes ? static_cast<double>(bytes) / mib : static_cast<double>(requests);
}
constexpr double per_second(double amount, double elapsed_s) { return elapsed_s > 0 ? amount / elapsed_s : 0; }
constexpr double mib_per_second(double bytes, double elapsed_s) { return per_second(bytes / mib, elapsed_s); }

/// Percentiles of a histogram.
struct LatencySummary {
  std::uint64_t count = 0;
  double min_s = 0, mean_s = 0, p50_s = 0, p90_s = 0, p99_s = 0, p999_s = 0, max_s = 0;

  static constexpr std::string_view record_name = "Latency";
  static constexpr std::string_view record_about =
      "Latencies of the requests of all ranks. A percentile is the middle of its bucket, within min and max.";
  static constexpr auto fields() {
    return std::tuple{field({"count", "Requests."}, &LatencySummary::count),
                      field({"min_s", "Shortest latency."}, &LatencySummary::min_s),
                      field({"mean_s", "Mean latency."}, &LatencySummary::mean_s),
                      field({"p50_s", "Median."}, &LatencySummary::p50_s),
                      field({"p90_s", "90th percentile."}, &LatencySummary::p90_s),
                      field({"p99_s", "99th percentile."}, &LatencySummary::p99_s),
                      field({"p999_s", "99.9th percentile."}, &LatencySummary::p999_s),
                      field({"max_s", "Longest latency."}, &LatencySummary::max_s)};
  }
};

/// The buckets of a histogram that are not empty.
struct HistogramBuckets {
  std::string_view scheme = "loglinear-7", unit = "ns";
  std::vector<std::array<std::uint64_t, 2>> buckets;  ///< index and count

  static constexpr std::string_view record_name = "Histogram";
  static constexpr std::string_view record_about = "Counts of latencies by bucket.";
  static constexpr auto fields() {
    return std::tuple{
        field({"scheme", "Which values a bucket stands for."}, &HistogramBuckets::scheme),
        field({"unit", "Unit of these values."}, &HistogramBuckets::unit),
        field({"buckets", "Index and count of each bucket that is not empty."}, &HistogramBuckets::buckets)};
  }
};

/// Latencies of ranks together. Minimum and maximum are below 2^53 ns, and exact as real numbers.
struct LatencyCounts {
  std::array<std::uint64_t, Histogram::size> counts{};
  std::uint64_t sum_ns = 0;
  double minimum_ns = std::numeric_limits<double>::infinity(), maximum_ns = 0;

  static LatencyCounts of(const Histogram& histogram);
  /// Nothing without requests.
  std::optional<LatencySummary> summary() const;
  HistogramBuckets buckets() const;
};

/// One operation of a mix.
struct SamplePart {
  std::string_view operation;
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  LatencyCounts latency;

  static constexpr std::string_view record_name = "Part";
  static constexpr std::string_view record_about = "One operation of a mix in a phase.";
  static constexpr auto fields() {
    return std::tuple{field({"operation", "Name of the operation."}, &SamplePart::operation),
                      field({"requests", "Requests of the operation.", Over::sum}, &SamplePart::requests),
                      field({"bytes", "Bytes that they moved; 0 for metadata.", Over::sum, "0"}, &SamplePart::bytes),
                      field({"latency", "Their latencies; null without requests.", Over::none, "null"},
                            [](const SamplePart& part) { return part.latency.summary(); }),
                      field({"histogram", "Histogram of their latencies.", Over::none, "null"},
                            [](const SamplePart& part) { return part.latency.buckets(); })};
  }
};

/// What a phase gave, over all its ranks.
struct Sample {
  Unit unit = Unit::bytes;
  bool measured = true;
  bool valid = true;
  std::uint32_t clients = 0;
  std::uint32_t nodes = 0;
  std::uint32_t ranks_per_node_min = 0, ranks_per_node_max = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requests = 0;
  double start_s = 0;
  double elapsed_s = 0;
  double start_skew_s = 0, end_skew_s = 0;
  std::optional<double> clock_error_s;
  std::vector<std::string_view> flags;
  double first_done_s = 0;
  double first_done_amount = 0;  ///< bytes or requests
  double open_s = 0, transfer_s = 0, sync_s = 0, close_s = 0, prepare_s = 0, compute_s = 0;
  Usage usage;
  std::optional<CallCount> calls;  ///< nothing unless all ranks could count
  LatencyCounts latency;
  std::vector<SamplePart> parts;
  Facts facts;
  std::optional<Digest> digest;

  /// Rates of single ranks, in the unit of the sample.
  struct RankRates {
    RankExtreme lowest{std::numeric_limits<double>::infinity(), 0};
    double mean = 0;
    RankExtreme highest{-1, 0};

    static constexpr std::string_view record_name = "RankRates";
    static constexpr std::string_view record_about =
        "Rates of ranks with work, in the unit of the field that holds them.";
    static constexpr auto fields() {
      return std::tuple{
          field({"min", "Lowest rate of a rank.", Over::least}, &RankRates::lowest),
          field({"min_rank", "The rank with the lowest rate."}, [](const RankRates& of) { return of.lowest.rank; }),
          field({"mean", "Mean rate of the ranks.", Over::mean}, &RankRates::mean),
          field({"max", "Highest rate of a rank.", Over::most}, &RankRates::highest),
          field({"max_rank", "The rank with the highest rate."}, [](const RankRates& of) { return of.highest.rank; })};
    }
  };
  RankRates rank_rates;
  std::vector<RankDistribution> rank_distributions;

  /// How much of what was read came from storage.
  struct Served {
    double share = 0;
    std::uint64_t bytes = 0;
    std::string_view source;

    static constexpr std::string_view record_name = "Served";
    static constexpr std::string_view record_about = "Share of the data read in a phase that came from storage.";
    static constexpr auto fields() {
      return std::tuple{
          field({"served_by_storage", "Bytes that came from storage ÷ bytes read; null where no counter shows it.",
                 Over::none, "null"},
                &Served::share),
          field({"served_bytes", "Bytes that came from storage.", Over::none, "null"}, &Served::bytes),
          field({"served_source", "Counters that show it: `process`, `lustre`, `nfs`, `ceph`, `network` or `block`.",
                 Over::none, "null"},
                &Served::source)};
    }
  };
  std::optional<Served> served;

  /// What a cache policy did before the phase.
  struct CachePreparation {
    std::string policy;
    std::string action;
    std::optional<double> cached_share;
    std::string examined_by;

    static constexpr std::string_view record_name = "CachePreparation";
    static constexpr std::string_view record_about = "Cache preparation before a phase that reads.";
    static constexpr auto fields() {
      return std::tuple{
          field({"policy", "`cold` or `warm`."}, &CachePreparation::policy),
          field({"action", "Actions of the preparation, such as `fsync, posix_fadvise`.", Over::none, "\"\""},
                &CachePreparation::action),
          field(
              {"cached_share", "Share of the files that the nodes' memory held afterwards, 0 to 1; null where unknown.",
               Over::none, "null"},
              &CachePreparation::cached_share),
          field({"examined_by", "System call that determined this share.", Over::none, "null"},
                [](const CachePreparation& cache) {
                  return cache.examined_by.empty() ? std::nullopt : std::optional(cache.examined_by);
                })};
    }
  };
  std::optional<CachePreparation> cache;

  struct Deadline {
    double deadline_s = 0;
    std::uint64_t requests = 0;
    std::uint64_t bytes = 0;
    double elapsed_s = 0;
    double wear_out_s = 0;
    std::uint64_t requests_per_rank_min = 0, requests_per_rank_max = 0;

    static constexpr std::string_view record_name = "Deadline";
    static constexpr std::string_view record_about =
        "State at the deadline (stonewall), before slower ranks caught up with the fastest one.";
    static constexpr auto fields() {
      return std::tuple{
          field({"deadline_s", "The deadline of the case."}, &Deadline::deadline_s),
          field({"requests", "Requests completed by the deadline.", Over::sum}, &Deadline::requests),
          field({"bytes", "Bytes of these requests.", Over::sum}, &Deadline::bytes),
          field({"elapsed_s", "From the start until the last rank stopped at the deadline.", Over::most},
                &Deadline::elapsed_s),
          field({"rate_mib_s", "`bytes` ÷ `elapsed_s`."},
                [](const Deadline& at) { return mib_per_second(static_cast<double>(at.bytes), at.elapsed_s); }),
          field({"wear_out_s", "Longest time that a rank took to catch up after the deadline; 0 if none did.",
                 Over::most},
                &Deadline::wear_out_s),
          field({"requests_per_rank_min", "Fewest requests that a rank with work had completed.", Over::least},
                &Deadline::requests_per_rank_min),
          field({"requests_per_rank_max", "Most requests that a rank had completed.", Over::most},
                &Deadline::requests_per_rank_max)};
    }
  };
  std::optional<Deadline> deadline;

  struct Runtime {
    double runtime_s = 0, ramp_s = 0;
    std::uint64_t ramp_requests = 0, ramp_bytes = 0;
    std::uint64_t requests_per_rank_min = 0, requests_per_rank_max = 0;
    double passes_min = 0, passes_max = 0;

    static constexpr std::string_view record_name = "Runtime";
    static constexpr std::string_view record_about = "Repetition of the requests of a phase until its time is over.";
    static constexpr auto fields() {
      return std::tuple{
          field({"runtime_s", "The runtime of the case."}, &Runtime::runtime_s),
          field({"ramp_s", "The ramp of the case; `elapsed_s` and `first_done_s` exclude it."}, &Runtime::ramp_s),
          field(
              {"ramp_requests", "Requests that began during the ramp; not among the requests of the phase.", Over::sum},
              &Runtime::ramp_requests),
          field({"ramp_bytes", "Bytes of these requests.", Over::sum}, &Runtime::ramp_bytes),
          field({"requests_per_rank_min", "Fewest requests of a rank with work, including the ramp.", Over::least},
                &Runtime::requests_per_rank_min),
          field({"requests_per_rank_max", "Most requests of a rank, including the ramp.", Over::most},
                &Runtime::requests_per_rank_max),
          field({"passes_min", "Fewest passes of a rank with work: its requests ÷ the requests of one pass.",
                 Over::least},
                &Runtime::passes_min),
          field({"passes_max", "Most passes of a rank.", Over::most}, &Runtime::passes_max)};
    }
  };
  std::optional<Runtime> runtime;

  /// Requests in open loop.
  struct OpenLoop {
    std::string_view kind;
    double rate_requests_s = 0, offered_requests_s = 0, achieved_requests_s = 0;
    std::uint64_t late_requests = 0;
    double latest_s = 0;

    static constexpr std::string_view record_name = "Arrivals";
    static constexpr std::string_view record_about = "Arrival and issue of requests in open loop.";
    static constexpr auto fields() {
      return std::tuple{
          field({"kind", "`fixed` or `poisson`."}, &OpenLoop::kind),
          field({"rate_requests_s", "Arrival rate that the case specifies, for all ranks together."},
                &OpenLoop::rate_requests_s),
          field({"offered_requests_s", "Rate at which requests arrived.", Over::sum}, &OpenLoop::offered_requests_s),
          field({"achieved_requests_s", "Rate at which requests were issued.", Over::sum},
                &OpenLoop::achieved_requests_s),
          field({"late_requests",
                 "Requests that were due while their rank was busy or already had its maximum of requests in flight.",
                 Over::sum},
                &OpenLoop::late_requests),
          field({"latest_s", "Longest delay between the due time of a request and its issue.", Over::most, "", true},
                &OpenLoop::latest_s)};
    }
  };
  std::optional<OpenLoop> arrivals;

  struct Verification {
    std::uint64_t checked_bytes = 0, wrong_bytes = 0, mismatches = 0;
    std::uint64_t outside_bytes = 0;
    std::uint64_t files = 0;

    static constexpr std::string_view record_name = "Verify";
    static constexpr std::string_view record_about = "Verification of data and of the results of metadata operations.";
    static constexpr auto fields() {
      return std::tuple{
          field({"checked_bytes", "Bytes that were compared with the written data.", Over::sum},
                &Verification::checked_bytes),
          field({"wrong_bytes", "Wrong bytes among `checked_bytes` and `outside_bytes`.", Over::sum},
                &Verification::wrong_bytes),
          field({"mismatches", "Wrong requests, sizes and results of metadata operations.", Over::sum},
                &Verification::mismatches),
          field({"outside_bytes", "Bytes outside the extents of all requests that were compared with zero.", Over::sum,
                 "0"},
                &Verification::outside_bytes),
          field({"files", "Files whose size was compared.", Over::sum, "0"}, &Verification::files)};
    }
  };
  std::optional<Verification> verification;

  bool of_data() const { return unit == Unit::bytes; }
  /// NaN for data.
  double rate_first_done_requests_s() const {
    return of_data() ? std::numeric_limits<double>::quiet_NaN() : per_second(first_done_amount, first_done_s);
  }

  static constexpr std::string_view record_name = "Sample";
  static constexpr std::string_view record_about =
      "One executed phase: one operation of one case in one repetition, over all ranks.";
  /// Of what the phase did, and when.
  static constexpr auto fields_of_work() {
    return std::tuple{
        field({"measured", "Whether the phase is measured; preparation is not."}, &Sample::measured),
        field({"valid", "Whether verification found no error."}, &Sample::valid),
        field({"clients", "Ranks of the case."}, &Sample::clients),
        field({"nodes", "Nodes of these ranks.", Over::none, "1"}, &Sample::nodes),
        field({"ranks_per_node_min", "Fewest of these ranks on a node.", Over::none, "null"},
              &Sample::ranks_per_node_min),
        field({"ranks_per_node_max", "Most of these ranks on a node.", Over::none, "null"},
              &Sample::ranks_per_node_max),
        field({"files", "Files of the case; of metadata, items of all ranks.", Over::none, "1"}, &Sample::files),
        field({"bytes", "Bytes that requests moved.", Over::sum}, &Sample::bytes),
        field({"requests", "Requests; of metadata, operations on items.", Over::sum}, &Sample::requests),
        field({"start_s", "Start of the first rank, relative to the start of the run.", Over::least, "", true},
              &Sample::start_s),
        field({"elapsed_s", "From the start of the first rank to the end of the last one."}, &Sample::elapsed_s),
        field({"rate_mib_s", "`bytes` ÷ `elapsed_s`."},
              [](const Sample& of) { return mib_per_second(static_cast<double>(of.bytes), of.elapsed_s); }),
        field({"start_skew_s", "Latest minus earliest start of the ranks.", Over::none, "null", true},
              &Sample::start_skew_s),
        field({"end_skew_s", "Latest minus earliest end of the ranks with work.", Over::none, "null", true},
              &Sample::end_skew_s),
        field({"clock_error_s",
               "Largest error of `elapsed_s` that the differences between clocks can cause; null with one clock.",
               Over::none, "null"},
              &Sample::clock_error_s),
        field({"flags", "Warnings: `clock` where `clock_error_s` exceeds 1 % of `elapsed_s`.", Over::none, "[]"},
              &Sample::flags),
        field({"first_done_s", "From `start_s` until the first rank with work was done.", Over::none, "null", true},
              &Sample::first_done_s),
        field(
            {"rate_first_done_mib_s", "Rate of all ranks until `first_done_s`; null for metadata.", Over::none, "null"},
            [](const Sample& of) {
              return of.of_data() ? mib_per_second(of.first_done_amount, of.first_done_s)
                                  : std::numeric_limits<double>::quiet_NaN();
            }),
        field({"rate_first_done_requests_s", "The same for metadata; null for data.", Over::none, "null"},
              &Sample::rate_first_done_requests_s),
        field({"requests_s", "`requests` ÷ `elapsed_s`.", Over::none, "null"},
              [](const Sample& of) { return per_second(static_cast<double>(of.requests), of.elapsed_s); })};
  }
  /// Of what its ranks spent and found.
  static constexpr auto fields_of_ranks() {
    return std::tuple{
        field({"open_s", "Longest time that a rank took to open its file.", Over::most, "null"}, &Sample::open_s),
        field({"transfer_s", "Longest time that a rank spent in transfers.", Over::most, "null"}, &Sample::transfer_s),
        field({"sync_s", "Longest time that a rank spent in sync calls.", Over::most, "null"}, &Sample::sync_s),
        field({"close_s", "Longest time that a rank took to close its file.", Over::most, "null"}, &Sample::close_s),
        field({"prepare_s", "Longest time that a rank spent generating and verifying data.", Over::most, "null"},
              &Sample::prepare_s),
        field({"compute_s", "Longest time that a rank computed (`think`).", Over::most, "null"}, &Sample::compute_s),
        inlined(&Sample::usage),
        field({"latency", "Latencies of the requests; null without requests.", Over::none, "null"},
              [](const Sample& of) { return of.latency.summary(); }),
        field({"histogram", "Histogram of these latencies.", Over::none, "null"},
              [](const Sample& of) { return of.latency.buckets(); }),
        field({"parts", "Operations of a mix; empty for other phases.", Over::none, "[]"}, &Sample::parts),
        field({"rank_rate_mib_s", "Rates of ranks; null for metadata.", Over::none, "null"},
              [](const Sample& of) { return of.of_data() ? std::optional(of.rank_rates) : std::nullopt; }),
        field({"rank_rate_requests_s", "The same for metadata; null for data.", Over::none, "null"},
              [](const Sample& of) { return of.of_data() ? std::nullopt : std::optional(of.rank_rates); }),
        field({"rank_distributions", "Distributions over the ranks with work; empty where no rank has work.",
               Over::none, "[]"},
              &Sample::rank_distributions),
        field({"deadline", "State at the deadline; null without one.", Over::none, "null"}, &Sample::deadline),
        field({"runtime", "Passes of a phase with a runtime; null without one.", Over::none, "null"}, &Sample::runtime),
        field({"arrivals", "Arrivals of requests; null in closed loop.", Over::none, "null"}, &Sample::arrivals),
        field({"verify", "Verification; null where nothing was verified.", Over::none, "null"}, &Sample::verification),
        field({"digest", "Checksum of all bytes that were read; null where none were verified.", Over::sum, "null"},
              &Sample::digest),
        inlined(&Sample::served),
        field({"cache", "Cache preparation; null for `as-is` and in phases that read nothing.", Over::none, "null"},
              &Sample::cache),
        field({"facts", "Properties of the open file of rank 0 that the interface reports, in the first repetition.",
               Over::none, "{}"},
              &Sample::facts),
        inlined(&Sample::calls)};
  }
  static constexpr auto fields() { return std::tuple_cat(fields_of_work(), fields_of_ranks()); }
  static constexpr auto figures() {
    return std::tuple{summed(&Sample::first_done_amount), within(&Sample::rank_rates)};
  }
};

}  // namespace strider
