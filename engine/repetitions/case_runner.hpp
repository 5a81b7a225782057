#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "repetitions/meeting.hpp"
#include "reports/phase.hpp"

namespace strider {

struct RepetitionOutcome {
  bool failed = false;
  bool wrong = false;  ///< on rank 0: some data or a size was not as it must be
  bool interrupted = false;
  std::map<std::string, double> rates;  ///< MiB/s or requests/s by operation, on rank 0
};

/// Measured phases of the run: those done, and those still to come at most with them.
struct RunProgress {
  std::uint64_t done_phases = 0, planned_phases = 0;
};

/// A repetition of a case on the ranks of a communicator.
struct RepetitionTask {
  const Case& test;
  std::uint64_t repetition;
  MPI_Comm communicator;
  Meeting* meeting;      ///< with other groups; null: there are none
  RunProgress progress;  ///< before the repetition
};

/// Executes one repetition: prepares files if needed, runs the phases in order, removes the files. Collective over the
/// communicator. Throws InputError where the pattern does not fit the nodes it got.
RepetitionOutcome run_repetition(RunContext& context, const RepetitionTask& task);

/// The same for a case of metadata.
RepetitionOutcome run_metadata_repetition(RunContext& context, const RepetitionTask& task);

}  // namespace strider
