#pragma once
#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "foundation/descriptor.hpp"
#include "foundation/units.hpp"
#include "interfaces/interface.hpp"
#include "measure/call_counter.hpp"
#include "measure/ceiling.hpp"
#include "measure/counters.hpp"
#include "measure/histogram.hpp"
#include "measure/timeline.hpp"
#include "verify/cause.hpp"

namespace strider {

struct NodeInfo {
  std::string name;
  std::uint32_t ranks = 0;
  double clock_offset_s = 0;
  double clock_error_s = 0;
};

/// Whether the ranks are kept from writing outside of what the run may touch.
struct Confinement {
  std::string state;    ///< full, partly or none
  std::string missing;  ///< what it lacks, or why there is none; empty where it is full
};

struct RunInfo {
  std::string run;
  std::string mpi_library;
  std::uint32_t ranks = 0;
  std::vector<NodeInfo> nodes;
  std::string timer;
  double timer_cost_ns = 0;
  std::uint64_t data_seed = 0;
  Confinement confinement;
};

/// Which phase an event is about.
struct PhaseName {
  std::uint64_t case_number = 0;
  std::uint64_t repetition = 0;
  bool warmup = false;
  std::string operation;
};

struct Progress {
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;
  std::uint64_t requests_done = 0;
  std::uint64_t requests_total = 0;
  double elapsed_s = 0;
  std::uint32_t observed_ranks = 0;
  std::uint64_t done_phases = 0;
  std::uint64_t planned_phases = 0;
};

struct RankExtreme {
  double value = 0;
  int rank = 0;
};

/// What rates count: MiB of data, requests of metadata.
enum class Unit { bytes, requests };
constexpr double amount_of(Unit unit, std::uint64_t bytes, std::uint64_t requests) {
  return unit == Unit::bytes ? static_cast<double>(bytes) / mib : static_cast<double>(requests);
}

struct LatencyCounts {
  std::array<std::uint64_t, Histogram::size> counts{};
  std::uint64_t sum_ns = 0, minimum_ns = 0, maximum_ns = 0;
};

/// One operation of a mix.
struct SamplePart {
  std::string_view operation;
  std::uint64_t requests = 0;
  LatencyCounts latency;
};

/// What a phase gave, over all its ranks; the fields are those of docs/formats.md, section 3.
struct Sample {
  Unit unit = Unit::bytes;
  bool measured = true;
  bool valid = true;
  std::uint32_t clients = 0;
  std::uint32_t nodes = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requests = 0;
  double start_s = 0;
  double elapsed_s = 0;
  double start_skew_s = 0, end_skew_s = 0;
  std::optional<double> clock_error_s;  ///< of `elapsed_s`, at most; nothing where all ranks have one clock
  std::vector<std::string_view> flags;  ///< what to know before the numbers are believed
  double first_done_s = 0;
  double first_done_amount = 0;  ///< bytes or requests
  double open_s = 0, transfer_s = 0, sync_s = 0, close_s = 0, prepare_s = 0, compute_s = 0;
  double user_s = 0, system_s = 0;
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
  std::optional<CallCount> calls;  ///< nothing unless all ranks could count
  /// How much of what was read came from storage, where one can tell.
  struct Served {
    std::uint64_t bytes = 0;
    std::string_view source;  ///< which counters say so
  };
  std::optional<Served> served;
  /// What a cache policy did before the phase.
  struct CachePreparation {
    std::string policy;
    std::string action;
    std::optional<double> cached_share;  ///< of the files, in the nodes' memory thereafter
    std::string examined_by;             ///< the call that told
  };
  std::optional<CachePreparation> cache;
  LatencyCounts latency;
  std::vector<SamplePart> parts;  ///< of a mix
  double rank_rate_mean = 0;      ///< MiB or requests per second
  RankExtreme rank_rate_lowest, rank_rate_highest;
  struct Deadline {
    double deadline_s = 0;
    std::uint64_t requests = 0;
    std::uint64_t bytes = 0;
    double elapsed_s = 0;
    double wear_out_s = 0;
    std::uint64_t requests_per_rank_min = 0, requests_per_rank_max = 0;
  };
  std::optional<Deadline> deadline;
  /// Requests that came in open loop, per second: as the case has it, as they came, as they were issued.
  struct OpenLoop {
    std::string_view kind;
    double rate = 0, offered = 0, achieved = 0;
    std::uint64_t late_requests = 0;
    double latest_s = 0;
  };
  std::optional<OpenLoop> arrivals;
  struct Verification {
    std::uint64_t checked_bytes = 0, wrong_bytes = 0, mismatches = 0;
    std::uint64_t outside_bytes = 0;  ///< checked too, where no request writes
    std::uint64_t files = 0;          ///< whose size was compared
  };
  std::optional<Verification> verification;
  std::optional<std::uint64_t> digest;
  Facts facts;
};

/// What a node's counters came to around a phase.
struct NodeCounters {
  std::uint32_t node = 0;
  double elapsed_s = 0;   ///< between the two readings
  double sampling_s = 0;  ///< that the two took
  CounterGroups groups;
};

enum class CeilingMoment { start, end };  ///< of the run

/// What was measured beside the cases: of some clients together, or of one node.
struct CeilingReport {
  CeilingMoment moment = CeilingMoment::start;
  std::optional<std::uint32_t> node;
  std::optional<std::uint32_t> clients;
  double elapsed_s = 0;
  std::vector<Ceiling> ceilings;
};

/// One rank's part in a sample. Trivially copyable: travels between ranks as bytes.
struct RankRow {
  std::uint64_t bytes, requests, digest;
  double start_s, end_s, transfer_s, io_s, user_s, system_s;
  CallCount calls;
  std::uint32_t node;
  std::uint32_t has_digest, has_calls;
};

/// A node's clock beside rank 0's.
struct ClockRow {
  std::uint32_t node = 0;
  double offset_start_s = 0, offset_end_s = 0;  ///< what to add to the node's clock to get rank 0's
  double error_s = 0;                           ///< of both, at most
  double drift_ppm = 0;                         ///< how much faster the node's clock has run since the run's start
  double drift_error_ppm = 0;                   ///< at most
};

/// What a rank, or all ranks of a node, did in each interval of a phase.
struct TimelineRow {
  std::optional<std::uint32_t> rank;  ///< nothing: all of the node
  std::uint32_t node = 0;
  double start_s = 0;     ///< of the first interval
  double interval_s = 0;  ///< length of each
  std::vector<Timeline::Interval> intervals;
};

struct ErrorInfo {
  std::string kind;  ///< io, verify, stall
  int rank = 0;
  std::string host;
  std::string file;
  std::uint64_t offset = 0, length = 0;
  std::string call;
  int error_number = 0;
  std::string message;
  std::string expected_hex, found_hex, blame;
  std::vector<Damage> causes;  ///< of wrong data
  std::uint64_t count = 1;
  std::string remedy;
  std::string server;  ///< that holds the place, where it is known
};

/// What `observe` writes: a line for each time that counters were read, each written at once.
class ObservationStream {
 public:
  /// Replaces the file at `path`, or takes standard output for "-", and writes the first line. Throws IoError.
  ObservationStream(const std::string& path, const std::string& host, double interval_s);
  /// What passed in the `elapsed_s` before now.
  void observed(double elapsed_s, const CounterGroups& groups);

 private:
  std::ofstream file_;
  std::ostream out_;  ///< to the file or to standard output
  std::string path_;
};

/// The event stream: one JSON object a line, each written at once, so that a killed run is readable up to its last
/// line.
class EventStream {
 public:
  /// Appends to `path`; an empty path writes nothing (ranks other than 0). Throws IoError.
  explicit EventStream(const std::string& path);

  void run(const RunInfo& info);
  void case_begins(const PhaseName& name);
  void progress(const PhaseName& name, const Progress& progress);
  void sample(const PhaseName& name, const Sample& sample);
  void rank(const PhaseName& name, std::uint32_t rank, const RankRow& row);
  void counters(const PhaseName& name, const NodeCounters& counters);
  void ceilings(const CeilingReport& report);
  void clock(const PhaseName& name, const ClockRow& row);
  void timeline(const PhaseName& name, const TimelineRow& row);
  void error(const PhaseName& name, const ErrorInfo& error);
  void end(const std::string& status);

  std::uint64_t errors() const { return errors_; }
  /// System calls made to write events.
  std::uint64_t write_calls() const { return write_calls_; }
  std::uint64_t written_bytes() const { return written_bytes_; }
  std::uint64_t origin_ns() const { return origin_ns_; }

 private:
  double time_s() const;
  void write_line(const std::string& line);

  Descriptor file_;
  std::string path_;
  std::uint64_t origin_ns_;
  std::uint64_t samples_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t write_calls_ = 0, written_bytes_ = 0;
};

}  // namespace strider
