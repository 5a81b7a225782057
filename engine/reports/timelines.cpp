#include "reports/timelines.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ranks/exchange.hpp"
#include "reports/row_codecs.hpp"

namespace strider {
namespace {

constexpr int timeline_tag = 918;

using Interval = Timeline::Interval;

class Collection {
 public:
  Collection(RunContext& context, const PhaseTask& task, const WaitOptions& waiting)
      : context_(context), task_(task), waiting_(waiting) {
    MPI_Comm_rank(task.communicator, &rank_);
  }

  void report(double start_s, Timeline& timeline) {
    std::uint64_t last = timeline.last_unmerged();
    all_reduce(std::span(&last, 1), MPI_MAX, task_.communicator, waiting_);
    const unsigned doublings = Timeline::doublings_for(last);
    count_ = (last >> doublings) + 1;
    const std::span<const Interval> mine = timeline.intervals(doublings, count_);
    intervals_.assign(mine.begin(), mine.end());
    row_.start_s = start_s;
    row_.interval_s = context_.timelines.interval_s * static_cast<double>(std::uint64_t{1} << doublings);
    by_node() ? collect_nodes() : collect_ranks();
  }

 private:
  bool by_node() const {
    const TimelineScope scope = context_.timelines.scope;
    return scope == TimelineScope::node ||
           (scope == TimelineScope::automatic && task_.test->clients > most_ranks_one_by_one);
  }

  void bring_to(int receiver) const {
    send(std::span(intervals_), receiver, timeline_tag, task_.communicator, waiting_);
  }
  std::vector<Interval> take_from(int sender) const {
    std::vector<Interval> theirs(count_);
    receive(std::span(theirs), sender, timeline_tag, task_.communicator, waiting_);
    return theirs;
  }
  TimelineRow row_of(std::optional<std::uint32_t> rank, std::uint32_t node, std::vector<Interval> intervals) const {
    TimelineRow row = row_;
    row.rank = rank;
    row.node = node;
    row.intervals = std::move(intervals);
    return row;
  }
  void write(const TimelineRow& row) { context_.events->timeline(task_.name, row); }

  void collect_ranks() {
    if (rank_ != 0) return bring_to(0);
    const NumberRuns& nodes = context_.nodes.of_rank;
    write(row_of(0, nodes[0], std::move(intervals_)));
    for (std::uint32_t rank = 1; rank < task_.test->clients; ++rank)
      write(row_of(rank, nodes[rank], take_from(static_cast<int>(rank))));
  }

  /// The lowest rank of each node adds up what its neighbours bring; the others have no row.
  NodeRows<TimelineRow> rows_of_node() {
    NodeRows<TimelineRow> rows;
    const NumberRuns here = context_.nodes.of_rank.places_of(context_.nodes.mine);
    const auto lowest = static_cast<int>(here.front());
    if (rank_ != lowest) return bring_to(lowest), rows;
    TimelineRow row = row_of({}, context_.nodes.mine, std::move(intervals_));
    for (const std::uint32_t rank : here)
      if (static_cast<int>(rank) != rank_) row.add_intervals(take_from(static_cast<int>(rank)));
    const double weight = row.mean_latency_ns();
    rows.add(std::move(row), weight);
    return rows;
  }

  void collect_nodes() {
    NodeRows<TimelineRow> rows = gather_node_rows<TimelineCodec>(rows_of_node(), task_.communicator, waiting_);
    for (const TimelineRow& each : rows.take()) write(each);
  }

  RunContext& context_;
  const PhaseTask& task_;
  WaitOptions waiting_;
  int rank_ = 0;
  std::size_t count_ = 0;
  std::vector<Interval> intervals_;  ///< this rank's
  TimelineRow row_;                  ///< what all have in common
};

}  // namespace

void report_timelines(RunContext& context, const PhaseTask& task, double start_s, Timeline& mine,
                      const WaitOptions& waiting) {
  Collection(context, task, waiting).report(start_s, mine);
}

}  // namespace strider
