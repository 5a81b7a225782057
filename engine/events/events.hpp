#pragma once
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/rows.hpp"
#include "events/sample.hpp"
#include "foundation/descriptor.hpp"
#include "measure/ceiling.hpp"
#include "plan/case_ranks.hpp"

namespace strider {

struct NodeInfo {
  std::string name;
  std::uint32_t ranks = 0;
  double clock_offset_s = 0;
  double clock_error_s = 0;
  double time_of_day_offset_s = 0;  ///< how far its time of day is ahead of the first node's
  std::uint32_t cpus = 0;           ///< online; 0: unknown, as below
  std::uint32_t numa_nodes = 0;
  std::uint32_t affinity_cpus_min = 0;  ///< fewest CPUs on which one of its ranks may run
  std::uint32_t affinity_cpus_max = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> processes = {};  ///< rank and process id; empty: too many
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

/// How a repetition ended, whose files are removed.
struct RepetitionEnd {
  double elapsed_s = 0;
  bool failed = false;                  ///< no further repetition of its case begins
  std::map<std::string, double> rates;  ///< of the valid measured phases: MiB/s or requests/s by operation
};

/// Where an event stream goes on that an earlier start of the run has begun.
struct Continuation {
  double elapsed_s = 0;  ///< since the start of the run
  std::uint64_t samples = 0;
  std::uint64_t errors = 0;
};

enum class CeilingMoment { start, end };  ///< of the run

/// What was measured beside the cases: of some clients together, or of one node.
struct CeilingReport {
  CeilingMoment moment = CeilingMoment::start;
  std::optional<std::uint32_t> node = {};
  std::optional<std::uint32_t> clients = {};
  NodeShares shares = {};  ///< of these clients
  double elapsed_s = 0;
  std::vector<Ceiling> ceilings;
};

/// What each rank has in the trees of a data set.
struct TreeReport {
  std::vector<std::string> present;  ///< names of things
  std::uint64_t files = 0, directories = 0, hard_links = 0, symbolic_links = 0;
  std::uint64_t file_bytes = 0, written_bytes = 0, generation = 0, order_hash = 0;
  bool renamed_files = false, renamed_directories = false, renamed_when_linked = false;
};

/// What a data set holds after a phase that wrote it; or that such a phase begins.
struct DataSetReport {
  std::string name;
  enum class State { writing, written } state = State::written;
  std::uint64_t generation = 0;
  std::uint64_t geometry = 0;
  std::string format;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> files;  ///< number and bytes of consecutive equal files
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;  ///< requests and end of each rank; empty: dense
  std::optional<TreeReport> tree = {};
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

  /// From here on events are kept in memory, except those of progress, which are given to `relay`, if there is
  /// one. `origin_ns`: start of the run on this clock.
  void keep(std::int64_t origin_ns, std::function<void(std::string line)> relay);
  bool keeps() const { return keeps_; }
  /// What was kept, to be added to another stream.
  struct Kept {
    std::string lines;
    std::uint64_t samples = 0, errors = 0;
  };
  Kept take_kept();
  void add(const Kept& kept);

  /// Before the first event.
  void resume(const Continuation& continuation);
  void run(const RunInfo& info);
  void case_begins(const PhaseName& name);
  void repetition_ends(const PhaseName& name, const RepetitionEnd& end);
  void progress(const PhaseName& name, const Progress& progress);
  void sample(const PhaseName& name, const Sample& sample);
  void rank(const PhaseName& name, const RankRow& row);
  void counters(const PhaseName& name, const NodeCounters& counters);
  void ceilings(const CeilingReport& report);
  void clock(const PhaseName& name, const ClockRow& row);
  void timeline(const PhaseName& name, const TimelineRow& row);
  void values(const PhaseName& name, const ValuesRow& row);
  void data_set(const PhaseName& name, const DataSetReport& report);
  void error(const PhaseName& name, const ErrorInfo& error);
  void end(const std::string& status);

  /// Whether the run is over for its starter: another program wrote to the file, or the file is no longer at its path.
  /// From then on nothing is written. May be called by any thread.
  bool is_over();
  std::uint64_t errors() const { return errors_; }
  /// System calls made to write events.
  std::uint64_t write_calls() const { return write_calls_; }
  std::uint64_t written_bytes() const { return written_bytes_; }
  /// Start of the run on this clock; negative if the clock began later.
  std::int64_t origin_ns() const { return origin_ns_; }

 private:
  double time_s() const;
  void write_line(const std::string& line);
  void note_others(int file);

  Descriptor file_;
  std::string path_;
  bool keeps_ = false;
  std::function<void(std::string)> relay_;  ///< while events are kept
  std::string kept_;
  std::int64_t origin_ns_;
  double start_s_ = 0;  ///< of these ranks, since the start of the run
  std::uint64_t samples_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t write_calls_ = 0, written_bytes_ = 0;

  std::mutex mutex_;  ///< of what follows, and of writing
  bool over_ = false;
  int misses_ = 0;                      ///< looks in a row that did not find the file
  std::uint64_t size_ = 0, inode_ = 0;  ///< as this stream left a regular file; inode 0: another kind of file
};

}  // namespace strider
