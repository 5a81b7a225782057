#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "measure/call_counter.hpp"
#include "measure/milestones.hpp"
#include "measure/usage.hpp"
#include "operations/mix.hpp"
#include "operations/transfer.hpp"
#include "ranks/waiting.hpp"
#include "reports/counter_watch.hpp"
#include "reports/error_record.hpp"
#include "reports/phase.hpp"

namespace strider {

/// What one rank brings to the report of a phase.
struct RankPart {
  double scheduled_s = 0;                  ///< when the phase was to start, on rank 0's clock
  std::uint64_t begin_ns = 0, end_ns = 0;  ///< on this node's monotonic clock
  double open_s = 0, transfer_s = 0, sync_s = 0, close_s = 0, prepare_s = 0, compute_s = 0;
  Usage usage;
  std::optional<CallCount> calls;  ///< of the transfer
  bool interrupted = false;
  bool limited = false;  ///< by a deadline
  struct AtDeadline {
    std::uint64_t requests = 0, bytes = 0;
    double elapsed_s = 0, wear_out_s = 0;
  } deadline;
  /// How requests came in open loop, and were issued.
  struct Arrivals {
    double offered_per_s = 0, achieved_per_s = 0;
    std::uint64_t late_requests = 0;
    double latest_s = 0;
  };
  std::optional<Arrivals> arrivals;
  std::uint64_t had_requests = 0;     ///< that there were for this rank; one with none says nothing about rates
  std::vector<ErrorRecord> errors;    ///< of storage: they fail the phase
  std::vector<ErrorRecord> findings;  ///< what was found wrong: they make the sample invalid
  std::optional<Sample::Verification> verification;
  std::optional<std::uint64_t> digest;
  std::vector<RequestValues> values;  ///< of requests, where they are recorded
  std::vector<MixTally> parts;        ///< of a mix, alike on all ranks
  Facts facts;
};

/// A rank at the end of a phase.
struct RankResult {
  int rank;
  RankPart& part;
  Tally& tally;
  const Milestones& milestones;
};

struct ReportOptions {
  CounterWatch& counters;
  ClockWatch& clocks;
  WaitOptions waiting;
  /// Called on all ranks once all have come to their end, unless the phase has failed: it may add findings.
  std::function<void()> inspect;
};

/// Brings the ranks' parts together by reductions and, on rank 0, writes the events of the phase.
PhaseOutcome report_phase(RunContext& context, const PhaseTask& task, const RankResult& mine,
                          const ReportOptions& options);

class Contribution;
using TakeContribution = std::function<void(const Contribution&)>;
/// Calls its argument with what each rank brings for which this process stands, in the order of the ranks; the same
/// each time.
using EachRank = std::function<void(const TakeContribution&)>;

/// The same for simulated ranks, for which the processes of the communicator stand: as evenly as can be, each for at
/// least one. `process`: this one's rank in the communicator. Nothing but events is written.
PhaseOutcome report_simulated_phase(RunContext& context, const PhaseTask& task, int process, const EachRank& each_rank,
                                    const ReportOptions& options);

}  // namespace strider
