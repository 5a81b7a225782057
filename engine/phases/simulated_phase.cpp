#include "phases/simulated_phase.hpp"

#include <cmath>
#include <cstdlib>
#include <memory>

#include "foundation/random.hpp"
#include "reports/contribution.hpp"
#include "reports/phase_report.hpp"

namespace strider {
namespace {

constexpr double ns_per_s = 1e9;
constexpr double longest_start_delay_s = 1e-3;

/// The ranks for which a process stands, and what each of them would have done.
class SimulatedRanks {
 public:
  SimulatedRanks(const RunContext& context, const PhaseTask& task, const SimulatedWork& work, const ClockWatch& clocks)
      : context_(context), task_(task), work_(work), clocks_(clocks), tally_(std::make_unique<Tally>()) {
    int process = 0, processes = 1;
    MPI_Comm_rank(task.communicator, &process);
    MPI_Comm_size(task.communicator, &processes);
    first_ = share(process, processes);
    end_ = share(process + 1, processes);
  }

  void each(const TakeContribution& take) {
    for (std::uint32_t rank = first_; rank < end_; ++rank) {
      draw(rank);
      take(Contribution(context_, task_, clocks_,
                        {.rank = static_cast<int>(rank), .part = part_, .tally = *tally_, .milestones = milestones_}));
    }
  }

 private:
  std::uint32_t share(int process, int processes) const {
    const std::uint64_t before = static_cast<std::uint64_t>(task_.test->clients) * static_cast<std::uint64_t>(process);
    return static_cast<std::uint32_t>(before / static_cast<std::uint64_t>(processes));
  }

  /// From 0 to 1; the same for the same rank of a phase.
  double uniform(std::uint64_t rank, std::uint64_t purpose) const {
    const std::uint64_t bits = hash_numbers(task_.test->seed, work_.number, rank, purpose);
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }
  double around_one(std::uint64_t rank, std::uint64_t purpose) const {
    return 1 + simulated_spread * (2 * uniform(rank, purpose) - 1);
  }
  std::uint64_t part_of(std::uint64_t total, std::uint32_t rank) const {
    return total / task_.test->clients + (rank < total % task_.test->clients ? 1 : 0);
  }

  double factor_of(std::uint32_t rank) const {
    if (work_.slow_node && context_.nodes.of_rank[rank] == *work_.slow_node) return slow_node_factor;
    return rank == work_.straggler ? straggler_factor : 1;
  }

  void draw(std::uint32_t rank) {
    const double took_s = work_.duration_s * factor_of(rank) * around_one(rank, 1);
    const double begin_s = work_.begin_s + longest_start_delay_s * uniform(rank, 2);
    const std::uint64_t requests = part_of(task_.total_requests, rank);
    part_.begin_ns = static_cast<std::uint64_t>(static_cast<double>(context_.origin_ns) + begin_s * ns_per_s);
    part_.end_ns = part_.begin_ns + static_cast<std::uint64_t>(took_s * ns_per_s);
    part_.open_s = 0.01 * took_s * uniform(rank, 3);
    part_.close_s = 0.01 * took_s * uniform(rank, 4);
    part_.transfer_s = took_s - part_.open_s - part_.close_s;
    part_.usage = {.user_s = 0.02 * took_s, .system_s = 0.1 * took_s};
    part_.had_requests = requests;
    tally_->requests = requests;
    tally_->bytes = part_of(task_.total_bytes, rank);
    draw_latencies(rank, requests);
    milestones_.begin(part_.begin_ns);
    milestones_.finish(part_.end_ns, task_.unit == Unit::bytes ? tally_->bytes : requests);
  }

  void draw_latencies(std::uint32_t rank, std::uint64_t requests) {
    tally_->latency_ns.clear();
    const double mean_ns = part_.transfer_s * ns_per_s / static_cast<double>(requests + 1);
    for (std::uint64_t request = 0; request < requests; ++request)
      tally_->latency_ns.record(static_cast<std::uint64_t>(mean_ns * around_one(rank, 5 + request)));
  }

  const RunContext& context_;
  const PhaseTask& task_;
  const SimulatedWork& work_;
  const ClockWatch& clocks_;
  std::uint32_t first_ = 0, end_ = 0;
  RankPart part_;
  std::unique_ptr<Tally> tally_;
  Milestones milestones_;
};

}  // namespace

PhaseOutcome run_simulated_phase(RunContext& context, const PhaseTask& task, const SimulatedWork& work) {
  const WaitOptions waiting{.stall_timeout_s = context.stall_timeout_s};
  int process = 0;
  MPI_Comm_rank(task.communicator, &process);
  context.current = task.name;
  try {
    ClockWatch clocks(context.nodes, task.communicator, waiting);
    SimulatedRanks ranks(context, task, work, clocks);
    CounterWatch counters(context, task.communicator);
    return report_simulated_phase(context, task, process, [&](const TakeContribution& take) { ranks.each(take); },
                                  {.counters = counters, .clocks = clocks, .waiting = waiting, .inspect = {}});
  } catch (const StallError& error) {
    context.stalled(error);  // does not return
    std::abort();
  }
}

}  // namespace strider
