#pragma once
#include <cstdint>
#include <vector>

#include "interfaces/directory.hpp"
#include "operations/population.hpp"
#include "reports/phase.hpp"

namespace strider {

class WriteRecord;

/// A phase that moves the bytes of a pattern.
struct TransferTask : PhaseTask {
  const Pattern* pattern = nullptr;
  Interface* interface = nullptr;
  OrderKind order = OrderKind::forward;
  std::uint64_t request_limit = ~std::uint64_t{0};  ///< what earlier phases have written
  std::uint64_t expected_generation = 0;
  std::uint64_t written_generation = 0;
  std::uint32_t depth = 1;  ///< requests in flight; each has an equal part of the memory
  /// Where data may have come from that is found in the wrong place.
  struct Known {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;  ///< of the largest of them
  } known;
  WriteRecord* record = nullptr;  ///< of what the repetition has written; null: nothing is verified
};

/// A phase of metadata.
struct MetadataTask : PhaseTask {
  const Tree* tree = nullptr;
  Directory* directory = nullptr;
  Population* population = nullptr;
  std::vector<Directory::Handle>* open_files = nullptr;
  std::uint64_t generation = 0;  ///< of the contents that are written or read
};

/// Executes a phase together with the other ranks of the communicator and, on its rank 0, reports it. Failures of
/// storage end the phase on all ranks and are reported, not thrown. A stall ends the run.
PhaseOutcome run_phase(RunContext& context, const TransferTask& task);
PhaseOutcome run_phase(RunContext& context, const MetadataTask& task);
/// Reads the files of a repetition again, as a whole, and compares their sizes and each of their bytes with what was
/// written.
PhaseOutcome run_check_phase(RunContext& context, const TransferTask& task);

}  // namespace strider
