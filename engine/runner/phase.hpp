#pragma once
#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "events/events.hpp"
#include "measure/call_counter.hpp"
#include "operations/transfer.hpp"
#include "plan/case.hpp"
#include "plan/seating.hpp"
#include "runner/nodes.hpp"
#include "runner/waiting.hpp"

namespace strider {

/// What every phase of a run needs to know.
struct RunContext {
  std::string directory;
  std::uint64_t data_seed = 1;
  double stall_timeout_s = 600;
  std::uint64_t origin_ns = 0;  ///< start of the run on rank 0's clock
  Nodes nodes;
  Timer timer;
  CallCounter calls;
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
  const Pattern* pattern = nullptr;
  Interface* interface = nullptr;
  const Seating* seating = nullptr;
  OrderKind order = OrderKind::forward;
  std::span<std::byte> memory;
  std::uint64_t request_limit = ~std::uint64_t{0};  ///< what earlier phases have written
  std::uint64_t expected_generation = 0;
  std::uint64_t written_generation = 0;
  std::uint32_t nodes = 1;        ///< on which the ranks run
  std::uint64_t total_bytes = 0;  ///< of all ranks
  std::uint64_t done_phases = 0, planned_phases = 0;
};

struct PhaseOutcome {
  bool failed = false;       ///< of any rank
  bool interrupted = false;  ///< of any rank
  bool valid = true;         ///< on rank 0: no check failed
  double rate_mib_s = 0;     ///< on rank 0
  /// Requests that every rank which had as many has completed.
  std::uint64_t completed_requests = ~std::uint64_t{0};
};

/// Executes a phase together with the other ranks of the communicator and, on its rank 0, reports it. Failures of
/// storage end the phase on all ranks and are reported, not thrown. A stall ends the run.
PhaseOutcome run_phase(RunContext& context, const PhaseTask& task);

}  // namespace strider
