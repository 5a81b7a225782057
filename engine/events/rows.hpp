#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foundation/field.hpp"
#include "measure/call_counter.hpp"
#include "measure/counters.hpp"
#include "measure/timeline.hpp"
#include "verify/cause.hpp"
#include "verify/request_values.hpp"

namespace strider {

/// Which phase an event is about.
struct PhaseName {
  std::uint64_t case_number = 0;  ///< 0: none
  std::uint64_t repetition = 0;
  bool warmup = false;
  std::string operation;

  static constexpr std::string_view record_name = "PhaseName";
  static constexpr std::string_view record_about = "Which phase an event is about.";
  static constexpr auto fields() {
    // 32 bits are enough for both numbers, and make tables smaller.
    const auto number = [](const PhaseName& of, std::uint64_t value) {
      return of.case_number != 0 ? std::optional(static_cast<std::uint32_t>(value)) : std::nullopt;
    };
    return std::tuple{
        field({"case", "Number of the case in the plan, from 1."},
              [number](const PhaseName& of) { return number(of, of.case_number); }),
        field({"repetition", "Number of the repetition, from 0; warm-up repetitions come first."},
              [number](const PhaseName& of) { return number(of, of.repetition); }),
        field({"warmup", "Whether the repetition is a warm-up.", Over::none, "false"}, &PhaseName::warmup),
        field({"operation", "Operation of the phase; of an error also `connect`, `open`, `remount` or `remove`."},
              [](const PhaseName& of) { return of.operation.empty() ? std::nullopt : std::optional(of.operation); })};
  }
};

/// One rank's part in a sample. Trivially copyable: travels between ranks as bytes.
struct RankRow {
  std::uint64_t bytes, requests, digest;
  double start_s, end_s, open_s, transfer_s, close_s, io_s, user_s, system_s;
  CallCount calls;
  std::uint32_t rank, node;
  std::uint32_t has_digest, has_calls;

  static constexpr std::string_view record_name = "RankRow";
  static constexpr std::string_view record_about = "Transfers, times and resource usage of one rank in a phase.";
  static constexpr auto fields() {
    return std::tuple{
        field({"rank", "Number of the rank."}, &RankRow::rank),
        field({"node", "Number of its node.", Over::none, "0"}, &RankRow::node),
        field({"bytes", "Bytes that its requests moved."}, &RankRow::bytes),
        field({"requests", "Its requests; of metadata, operations on items."}, &RankRow::requests),
        field({"start_s", "Its start, relative to the start of the run.", Over::none, "", true}, &RankRow::start_s),
        field({"end_s", "Its end, relative to the start of the run.", Over::none, "", true}, &RankRow::end_s),
        field({"open_s", "Time that it took to open its file.", Over::none, "null"}, &RankRow::open_s),
        field({"transfer_s", "Time that it spent in transfers.", Over::none, "null"}, &RankRow::transfer_s),
        field({"close_s", "Time that it took to close its file.", Over::none, "null"}, &RankRow::close_s),
        field({"io_s", "Sum of the latencies of its requests.", Over::none, "null"}, &RankRow::io_s),
        field({"user_s", "Processor time in user mode.", Over::none, "null"}, &RankRow::user_s),
        field({"system_s", "Processor time in the kernel.", Over::none, "null"}, &RankRow::system_s),
        field(
            {"digest", "Checksum of the bytes that it read; null where none were verified.", Over::none, "null"},
            [](const RankRow& row) { return row.has_digest != 0 ? std::optional(Digest{row.digest}) : std::nullopt; }),
        inlined([](const RankRow& row) { return row.has_calls != 0 ? std::optional(row.calls) : std::nullopt; })};
  }
};

/// A node's counters around a phase, or those of several nodes.
struct NodeCounters {
  std::optional<std::uint32_t> node;
  double elapsed_s = 0;
  double sampling_s = 0;
  CounterGroups groups;
  std::uint32_t nodes = 1;

  /// The first of several nodes.
  static NodeCounters of_no_node(const NodeCounters& first) {
    NodeCounters sum;
    sum.nodes = 0;
    sum.take_in(first);
    return sum;
  }
  void take_in(const NodeCounters& others) {
    elapsed_s = std::max(elapsed_s, others.elapsed_s);
    sampling_s = std::max(sampling_s, others.sampling_s);
    add_node(groups, others.groups);
    nodes += others.nodes;
  }

  static constexpr std::string_view record_name = "NodeCounters";
  static constexpr std::string_view record_about =
      "Counters of a node, or of several together, between two readings, around a phase.";
  static constexpr auto fields() {
    return std::tuple{
        field({"node", "Number of the node; null: several nodes.", Over::none, "0"}, &NodeCounters::node),
        field({"nodes", "How many nodes it counts.", Over::none, "1"}, &NodeCounters::nodes),
        field({"elapsed_s", "Time between the two readings, the longest of several nodes."}, &NodeCounters::elapsed_s),
        field({"sampling_s", "Duration of the two readings themselves.", Over::none, "null"},
              &NodeCounters::sampling_s),
        field({"counters", "Counters by source and instance, as formats.md lists them.", Over::none, "[]"},
              &NodeCounters::groups)};
  }
};

/// A node's clock beside rank 0's.
struct ClockRow {
  std::uint32_t node = 0;
  double offset_start_s = 0, offset_end_s = 0;
  double error_s = 0;
  double drift_ppm = 0;
  double drift_error_ppm = 0;

  static constexpr std::string_view record_name = "ClockRow";
  static constexpr std::string_view record_about = "The clock of a node compared with that of rank 0, in a phase.";
  static constexpr auto fields() {
    return std::tuple{
        field({"node", "Number of the node."}, &ClockRow::node),
        field({"offset_start_s", "Clock of rank 0 minus the node's clock, at the start.", Over::none, "", true},
              &ClockRow::offset_start_s),
        field({"offset_end_s", "Clock of rank 0 minus the node's clock, at the end.", Over::none, "", true},
              &ClockRow::offset_end_s),
        field({"error_s", "Largest error of both offsets.", Over::none, "", true}, &ClockRow::error_s),
        field({"drift_ppm",
               "Drift of the node's clock against that of rank 0, since the start of the run; positive: the node's "
               "clock runs faster.",
               Over::none, "", true},
              &ClockRow::drift_ppm),
        field({"drift_error_ppm", "Largest error of `drift_ppm`.", Over::none, "", true}, &ClockRow::drift_error_ppm)};
  }
};

/// What a rank, or all ranks of one or several nodes, did in each interval of a phase.
struct TimelineRow {
  std::optional<std::uint32_t> rank, node;
  std::uint32_t nodes = 1;
  double start_s = 0;
  double interval_s = 0;
  std::vector<Timeline::Interval> intervals;

  /// The first of several nodes.
  static TimelineRow of_no_node(TimelineRow first) {
    first.node.reset();
    return first;
  }
  void take_in(const TimelineRow& others) {
    add_intervals(others.intervals);
    nodes += others.nodes;
  }
  /// What further ranks did in the same intervals.
  void add_intervals(std::span<const Timeline::Interval> others) {
    for (std::size_t i = 0; i < others.size(); ++i) intervals[i].take_in(others[i]);
  }
  /// Mean latency of the requests, in ns.
  double mean_latency_ns() const {
    std::uint64_t requests = 0, busy_ns = 0;
    for (const Timeline::Interval& interval : intervals) requests += interval.requests, busy_ns += interval.busy_ns;
    return requests == 0 ? 0 : static_cast<double>(busy_ns) / static_cast<double>(requests);
  }

  /// A value of each interval.
  template <typename Value>
  auto list(const Value& value) const {
    std::vector<decltype(value(intervals[0]))> values;
    values.reserve(intervals.size());
    for (const Timeline::Interval& interval : intervals) values.push_back(value(interval));
    return values;
  }
  /// Divided, so that a number has no more digits than nanoseconds have.
  static constexpr double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

  static constexpr std::string_view record_name = "Timeline";
  static constexpr std::string_view record_about =
      "Requests of a rank, or of all ranks of a node or of several, in each interval of a phase.";
  static constexpr auto fields() {
    using Interval = Timeline::Interval;
    return std::tuple{
        field({"rank", "Number of the rank; null: all ranks of the node or nodes."}, &TimelineRow::rank),
        field({"node", "Number of the node; null: several nodes.", Over::none, "0"}, &TimelineRow::node),
        field({"nodes", "Of how many nodes these ranks are.", Over::none, "1"}, &TimelineRow::nodes),
        field({"start_s", "Start of the first interval, relative to the start of the run.", Over::none, "", true},
              &TimelineRow::start_s),
        field({"interval_s", "Length of each interval."}, &TimelineRow::interval_s),
        field({"bytes", "Bytes of the requests that ended in each interval."},
              [](const TimelineRow& row) { return row.list([](const Interval& each) { return each.bytes; }); }),
        field({"requests", "Requests that ended in each interval."},
              [](const TimelineRow& row) { return row.list([](const Interval& each) { return each.requests; }); }),
        field({"busy_s", "Sum of their latencies."},
              [](const TimelineRow& row) {
                return row.list([](const Interval& each) { return seconds(each.busy_ns); });
              }),
        field({"latency_max_s", "Longest of their latencies; 0 without requests."}, [](const TimelineRow& row) {
          return row.list([](const Interval& each) { return seconds(each.longest_ns); });
        })};
  }
};

/// Values of the requests of a rank that read.
struct ValuesRow {
  std::uint32_t rank = 0;
  std::vector<RequestValues> requests;

  template <typename Value>
  auto list(Value RequestValues::* value) const {
    std::vector<std::uint64_t> values;
    values.reserve(requests.size());
    for (const RequestValues& request : requests) values.push_back(request.*value);
    return values;
  }

  static constexpr std::string_view record_name = "RequestValues";
  static constexpr std::string_view record_about =
      "First, middle and last value (4 bytes, lowest byte first) that each request of a rank read, in order.";
  static constexpr auto fields() {
    return std::tuple{
        field({"rank", "Number of the rank."}, &ValuesRow::rank),
        field({"offset", "Offset of each request in the file."},
              [](const ValuesRow& row) { return row.list(&RequestValues::file_offset); }),
        field({"bytes", "Bytes of each request."},
              [](const ValuesRow& row) { return row.list(&RequestValues::bytes); }),
        field({"first", "Its first value."}, [](const ValuesRow& row) { return row.list(&RequestValues::first); }),
        field({"middle", "Its middle value: of n values, number n / 2 from 0."},
              [](const ValuesRow& row) { return row.list(&RequestValues::middle); }),
        field({"last", "Its last value."}, [](const ValuesRow& row) { return row.list(&RequestValues::last); })};
  }
};

/// Bytes that are wrong for one reason, in an error.
struct DamageRow {
  Damage damage;

  static constexpr std::string_view record_name = "Damage";
  static constexpr std::string_view record_about = "Wrong bytes with the same cause.";
  static constexpr auto fields() {
    return std::tuple{
        field({"class", "Name of the cause."}, [](const DamageRow& row) { return name_of(row.damage.cause); }),
        field({"offset", "Offset of the first wrong byte in the file."},
              [](const DamageRow& row) { return row.damage.file_offset; }),
        field({"bytes", "Number of wrong bytes."}, [](const DamageRow& row) { return row.damage.bytes; }),
        field({"value",
               "Number that belongs to the cause, such as the offset of misplaced data; null for causes without one.",
               Over::none, "null", true},
              [](const DamageRow& row) {
                return has_value(row.damage.cause) ? std::optional(row.damage.value) : std::nullopt;
              }),
        field({"text", "The damage in words."}, [](const DamageRow& row) { return text_of(row.damage); })};
  }
};

struct ErrorInfo {
  std::string kind;
  int rank = 0;
  std::string host;
  std::string file;
  std::uint64_t offset = 0, length = 0;
  std::string call;
  int error_number = 0;
  std::string message;
  std::string expected_hex, found_hex, blame;
  std::vector<Damage> causes;
  std::uint64_t count = 1;
  std::string remedy;
  std::string server;

  static std::optional<std::string> unless_empty(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  }
  std::optional<std::vector<DamageRow>> damage() const {
    if (causes.empty()) return std::nullopt;
    std::vector<DamageRow> rows;
    for (const Damage& damage : causes) rows.push_back({damage});
    return rows;
  }

  static constexpr std::string_view record_name = "ErrorRow";
  static constexpr std::string_view record_about = "An error, with its rank, place and cause.";
  static constexpr auto fields() {
    return std::tuple{
        field({"kind", "`io`, `verify`, `stall` or `plan`."}, &ErrorInfo::kind),
        field({"rank", "Rank that found the error.", Over::none, "null"}, &ErrorInfo::rank),
        field({"host", "Host of the rank.", Over::none, "null"}, &ErrorInfo::host),
        field({"file", "File or directory.", Over::none, "null"}, &ErrorInfo::file),
        field({"offset", "Offset in the file.", Over::none, "null"}, &ErrorInfo::offset),
        field({"length", "Bytes of the request; for wrong data: number of wrong bytes.", Over::none, "null"},
              &ErrorInfo::length),
        field({"call", "Function that failed.", Over::none, "null"}, &ErrorInfo::call),
        field({"errno", "Error number of the system (errno); 0 if there is none.", Over::none, "null"},
              &ErrorInfo::error_number),
        field({"message", "What happened."}, &ErrorInfo::message),
        field({"expected", "First expected bytes, hexadecimal.", Over::none, "null"},
              [](const ErrorInfo& error) { return unless_empty(error.expected_hex); }),
        field({"found", "First found bytes, hexadecimal.", Over::none, "null"},
              [](const ErrorInfo& error) { return unless_empty(error.found_hex); }),
        field({"class", "Cause of most of the wrong bytes.", Over::none, "null"},
              [](const ErrorInfo& error) { return unless_empty(error.blame); }),
        field({"causes", "Causes of the wrong bytes, at most 8.", Over::none, "null"},
              [](const ErrorInfo& error) { return error.damage(); }),
        field({"server", "Server that holds this offset; null where unknown.", Over::none, "null"},
              [](const ErrorInfo& error) { return unless_empty(error.server); }),
        field({"count", "Number of errors that this record stands for.", Over::none, "1"}, &ErrorInfo::count),
        field({"remedy", "What to do.", Over::none, "null"}, &ErrorInfo::remedy)};
  }
};

}  // namespace strider
