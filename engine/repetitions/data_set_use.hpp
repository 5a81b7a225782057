#pragma once
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "patterns/pattern.hpp"
#include "plan/file_assignments.hpp"
#include "reports/phase.hpp"

namespace strider {

/// What a repetition knows of its case's data set, and what it leaves there. All calls but `state` are collective over
/// the ranks of the case, and throw StallError.
class DataSetUse {
 public:
  /// All ranks learn what rank 0 knows: some may not have taken part in the case that wrote last.
  DataSetUse(RunContext& context, const Case& test, MPI_Comm communicator);

  const DataSetState& state() const { return state_; }
  /// Requests that each rank which had as many has written.
  std::uint64_t available_requests(const Pattern& pattern, const FileAssignments& assignments) const;
  /// Bytes of each file of the case.
  std::vector<std::uint64_t> file_bytes(const FileAssignments& assignments) const;

  /// The generation of a phase that is about to write. Reported before anything is written, so that a killed run says
  /// so.
  std::uint64_t begin_writing(const PhaseName& name);
  /// Takes what the phase came to, and reports it. `size`: whether files have the pattern's size at once.
  enum class Size { of_pattern, of_written };
  void written(const PhaseName& name, const PhaseOutcome& result, const Pattern& pattern,
               const FileAssignments& assignments, Size size);
  /// Takes what a phase of metadata has left in the trees, and reports it.
  void populated(const PhaseName& name, const TreeState& tree);

 private:
  void share();
  void report(const PhaseName& name, DataSetReport::State state) const;
  WaitOptions waiting() const { return {.stall_timeout_s = context_.stall_timeout_s}; }

  RunContext& context_;
  const Case& test_;
  MPI_Comm communicator_;
  DataSetState& state_;
};

}  // namespace strider
