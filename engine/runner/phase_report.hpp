#pragma once
#include <cstdint>
#include <vector>

#include "measure/milestones.hpp"
#include "measure/usage.hpp"
#include "runner/phase.hpp"
#include "runner/waiting.hpp"

namespace strider {

/// An error on its way to rank 0; fixed size, so that it travels as bytes.
struct ErrorRecord {
  char kind[8], call[32], host[64], file[512], message[256], remedy[256];
  char expected_hex[40], found_hex[40], blame[16];
  std::uint64_t offset, length, count;
  std::int32_t rank, error_number;
};

/// What one rank brings to the report of a phase.
struct RankPart {
  std::uint64_t begin_ns = 0, end_ns = 0;  ///< on this node's monotonic clock
  double open_s = 0, transfer_s = 0, sync_s = 0, close_s = 0, prepare_s = 0;
  Usage usage;
  bool interrupted = false;
  struct AtDeadline {
    std::uint64_t requests = 0, bytes = 0;
    double elapsed_s = 0, wear_out_s = 0;
  } deadline;
  std::vector<ErrorRecord> errors;
  Facts facts;
};

ErrorRecord describe_error(const IoError& error, int rank, const std::string& host);

/// Brings the ranks' parts together by reductions and, on rank 0, writes the sample, rank and error events.
PhaseOutcome report_phase(RunContext& context, const PhaseTask& task, int rank, const Seat& seat, RankPart& part,
                          const Tally& tally, const Milestones& milestones, const Examiner* examiner,
                          const WaitOptions& waiting);

}  // namespace strider
