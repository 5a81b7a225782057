#pragma once
#include <mpi.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "events/events.hpp"
#include "foundation/clock.hpp"
#include "foundation/run_folder.hpp"
#include "measure/call_counter.hpp"
#include "measure/counter_sources.hpp"
#include "measure/storage_path.hpp"
#include "plan/case.hpp"
#include "plan/case_ranks.hpp"
#include "plan/file_assignments.hpp"
#include "ranks/nodes.hpp"
#include "ranks/start_signal.hpp"
#include "ranks/waiting.hpp"
#include "reports/served_by.hpp"
#include "reports/timeline_options.hpp"
#include "verify/data.hpp"

namespace strider {

class PerRankFile;

/// Up to so many clients each rank has a row and a timeline in the events of a phase; for more, distributions and nodes
/// stand for them, so that the events do not grow with the number of ranks.
constexpr std::uint32_t most_ranks_one_by_one = 64;

/// What every phase of a run needs to know.
struct RunContext {
  std::string directory;
  RunFolder* folder = nullptr;  ///< the same, open
  bool confined = false;        ///< this rank
  std::string errands;          ///< socket of the process that does what a confined rank may not
  std::uint64_t data_seed = 1;
  double stall_timeout_s = 600;
  std::int64_t origin_ns = 0;              ///< start of the run on the case's first clock; negative if that began later
  Nodes nodes;                             ///< of the run; while a case has its turn, of the ranks that take part in it
  std::vector<ClockReading> first_clocks;  ///< as found at the start of the run, with the case's first clock
  StartSignal starts{1};
  Timer timer;
  CallCounter calls;
  CounterScope counters = CounterScope::none;
  std::map<std::string, DataSetState> data_sets;  ///< of this run, as far as this rank knows; rank 0 knows all
  std::vector<WatchedProcess> processes;          ///< beside the node's counters
  TimelineOptions timelines;
  std::vector<std::string> remount_command;  ///< empty: none
  StoragePath storage;
  ServedBy served_by;
  EventStream* events = nullptr;
  std::uint64_t next_phase = 0;  ///< numbers phases alike on all ranks that take part
  PhaseName current;             ///< what this rank is doing
  /// Ends the run where it stands: nothing may be unwound, since closing a file can be collective.
  std::function<void(const StallError&)> stalled;
  PerRankFile* per_rank = nullptr;  ///< for the rows of all ranks; null: not wanted
};

/// What is in a file of a case. `file`: its number within the case.
inline FileData::Identity identity_of(const RunContext& context, const Case& test, std::uint64_t file,
                                      std::uint64_t generation, std::uint64_t pass = 0) {
  const DataSet& set = test.data_set;
  if (set.used())
    return {set.seed, set.workload, set.first_file + file, generation, pass, packet_of(test, set.first_file + file)};
  return {context.data_seed, test.workload, file, generation, pass, std::nullopt};
}

/// One operation of one repetition of a case, for the ranks of `communicator`.
struct PhaseTask {
  const Case* test = nullptr;
  MPI_Comm communicator = MPI_COMM_NULL;
  Operation operation = Operation::write;
  PhaseName name;
  enum class Purpose { measurement, preparation } purpose = Purpose::measurement;
  Unit unit = Unit::bytes;  ///< of progress and rates
  const FileAssignments* assignments = nullptr;
  std::span<std::byte> memory;
  NodeShares shares;                 ///< of the ranks
  std::uint64_t files = 0;           ///< of all ranks
  std::uint64_t total_bytes = 0;     ///< of all ranks
  std::uint64_t total_requests = 0;  ///< of all ranks
  std::uint64_t done_phases = 0, planned_phases = 0;
  std::optional<Sample::CachePreparation> cache;  ///< done before the phase
};

/// Whether a phase repeats its requests until its time is over.
inline bool is_by_time(const PhaseTask& task) {
  return task.test->runtime_s > 0 && task.purpose == PhaseTask::Purpose::measurement;
}

/// Whether the ranks of a phase record values of what they read.
inline bool records_values(const PhaseTask& task) {
  const bool reads = task.operation == Operation::read || task.operation == Operation::reread;
  return reads && task.test->recorded_requests > 0 && task.purpose == PhaseTask::Purpose::measurement;
}

struct PhaseOutcome {
  bool failed = false;       ///< of any rank
  bool interrupted = false;  ///< of any rank
  bool valid = true;         ///< on rank 0: no check failed
  double rate = 0;           ///< on rank 0: MiB or requests per second, after the task's unit
  /// Requests that every rank which had as many has completed; `all` where no rank had to leave one out.
  static constexpr std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t completed_requests = all;
  std::uint64_t my_requests = 0;  ///< that this rank has completed
  std::uint64_t written_end = 0;  ///< of this rank's file, behind the last byte that it wrote
  /// This rank's files after a mix: the number of the oldest, and how many there are.
  std::uint64_t oldest_file = 0, existing_files = 0;
};

}  // namespace strider
