#pragma once
#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "events/events.hpp"
#include "foundation/clock.hpp"
#include "foundation/run_folder.hpp"
#include "interfaces/directory.hpp"
#include "measure/call_counter.hpp"
#include "measure/counter_sources.hpp"
#include "measure/storage_path.hpp"
#include "operations/population.hpp"
#include "operations/transfer.hpp"
#include "plan/case.hpp"
#include "plan/seating.hpp"
#include "runner/nodes.hpp"
#include "runner/served_by.hpp"
#include "runner/start_signal.hpp"
#include "runner/timeline_options.hpp"
#include "runner/waiting.hpp"

namespace strider {

/// What every phase of a run needs to know.
struct RunContext {
  std::string directory;
  RunFolder* folder = nullptr;  ///< the same, open
  bool confined = false;        ///< this rank
  std::string errands;          ///< socket of the process that does what a confined rank may not
  std::uint64_t data_seed = 1;
  double stall_timeout_s = 600;
  std::uint64_t origin_ns = 0;  ///< start of the run on rank 0's clock
  Nodes nodes;
  std::vector<ClockReading> first_clocks;  ///< on rank 0: as found at the start of the run
  StartSignal starts{1};
  Timer timer;
  CallCounter calls;
  CounterScope counters = CounterScope::none;
  TimelineOptions timelines;
  std::vector<std::string> remount_command;  ///< empty: none
  StoragePath storage;
  ServedBy served_by;
  EventStream* events = nullptr;
  std::uint64_t next_phase = 0;  ///< numbers phases alike on all ranks that take part
  PhaseName current;             ///< what this rank is doing
  /// Ends the run where it stands: nothing may be unwound, since closing a file can be collective.
  std::function<void(const StallError&)> stalled;
};

/// One operation of one repetition of a case, for the ranks of `communicator`.
struct PhaseTask {
  const Case* test = nullptr;
  MPI_Comm communicator = MPI_COMM_NULL;
  Operation operation = Operation::write;
  PhaseName name;
  enum class Purpose { measurement, preparation } purpose = Purpose::measurement;
  Unit unit = Unit::bytes;  ///< in which progress and rates are told
  const Seating* seating = nullptr;
  std::span<std::byte> memory;
  std::uint32_t nodes = 1;           ///< on which the ranks run
  std::uint64_t files = 0;           ///< of all ranks
  std::uint64_t total_bytes = 0;     ///< of all ranks
  std::uint64_t total_requests = 0;  ///< of all ranks
  std::uint64_t done_phases = 0, planned_phases = 0;
  std::optional<Sample::CachePreparation> cache;  ///< done before the phase
};

class WriteRecord;

/// A phase that moves the bytes of a pattern.
struct TransferTask : PhaseTask {
  const Pattern* pattern = nullptr;
  Interface* interface = nullptr;
  OrderKind order = OrderKind::forward;
  std::uint64_t request_limit = ~std::uint64_t{0};  ///< what earlier phases have written
  std::uint64_t expected_generation = 0;
  std::uint64_t written_generation = 0;
  std::uint32_t depth = 1;  ///< requests in flight; each has `slot_bytes` of the memory
  std::uint64_t slot_bytes = 0;
  WriteRecord* record = nullptr;  ///< of what the repetition has written; null: nothing is verified
};

/// A phase of metadata.
struct VisitTask : PhaseTask {
  const Tree* tree = nullptr;
  Directory* directory = nullptr;
  Population* population = nullptr;
  std::vector<Directory::Handle>* open_files = nullptr;
  std::uint64_t generation = 0;  ///< of the contents that are written or read
};

struct PhaseOutcome {
  bool failed = false;       ///< of any rank
  bool interrupted = false;  ///< of any rank
  bool valid = true;         ///< on rank 0: no check failed
  double rate = 0;           ///< on rank 0: MiB or requests per second, after the task's unit
  /// Requests that every rank which had as many has completed; `all` where no rank had to leave one out.
  static constexpr std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t completed_requests = all;
  std::uint64_t my_requests = 0;  ///< that this rank has completed
  /// This rank's files after a mix: the number of the oldest, and how many there are.
  std::uint64_t oldest_file = 0, living_files = 0;
};

/// Executes a phase together with the other ranks of the communicator and, on its rank 0, reports it. Failures of
/// storage end the phase on all ranks and are reported, not thrown. A stall ends the run.
PhaseOutcome run_phase(RunContext& context, const TransferTask& task);
PhaseOutcome run_phase(RunContext& context, const VisitTask& task);
/// Reads the files of a repetition again, as a whole, and compares their sizes and each of their bytes with what was
/// written.
PhaseOutcome run_check_phase(RunContext& context, const TransferTask& task);

}  // namespace strider
