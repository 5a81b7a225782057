#pragma once
#include <map>
#include <string>

#include "repetitions/meeting.hpp"
#include "repetitions/schedule.hpp"
#include "reports/phase.hpp"

namespace strider {

struct RepetitionOutcome {
  bool failed = false;
  bool wrong = false;  ///< on rank 0: some data or a size was not as it must be
  bool interrupted = false;
  std::map<std::string, double> rates;  ///< MiB/s or requests/s by operation, on rank 0
};

/// A repetition of a case on the ranks of a communicator.
struct RepetitionTask {
  const Case& test;
  std::uint64_t repetition;
  MPI_Comm communicator;
  Meeting* meeting;  ///< with other groups; null: there are none
};

/// Executes one repetition: prepares files if needed, runs the phases in order, removes the files. Collective over the
/// communicator. Throws InputError where the pattern does not fit the nodes it got.
RepetitionOutcome run_repetition(RunContext& context, const RepetitionTask& task, const Schedule& schedule);

/// The same for a case of metadata.
RepetitionOutcome run_metadata_repetition(RunContext& context, const RepetitionTask& task, const Schedule& schedule);

}  // namespace strider
