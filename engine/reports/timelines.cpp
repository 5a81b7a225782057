#include "reports/timelines.hpp"

#include <algorithm>
#include <vector>

#include "ranks/exchange.hpp"

namespace strider {
namespace {

constexpr int timeline_tag = 918;
constexpr std::uint32_t most_ranks_one_by_one = 64;

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
  void write(std::optional<std::uint32_t> rank, std::uint32_t node, std::vector<Interval> intervals) {
    row_.rank = rank;
    row_.node = node;
    row_.intervals = std::move(intervals);
    context_.events->timeline(task_.name, row_);
  }

  void collect_ranks() {
    if (rank_ != 0) return bring_to(0);
    const std::vector<std::uint32_t>& nodes = context_.nodes.of_rank;
    write(0, nodes[0], intervals_);
    for (std::uint32_t rank = 1; rank < task_.test->clients; ++rank)
      write(rank, nodes[rank], take_from(static_cast<int>(rank)));
  }

  /// The lowest rank of each node adds up what its neighbours bring, and brings the sum to rank 0.
  void collect_nodes() {
    const std::vector<std::uint32_t>& nodes = context_.nodes.of_rank;
    const auto lowest_of = [&](std::uint32_t node) {
      return static_cast<int>(std::ranges::find(nodes, node) - nodes.begin());
    };
    const int lowest = lowest_of(context_.nodes.mine);
    if (rank_ != lowest) return bring_to(lowest);
    for (std::size_t rank = static_cast<std::size_t>(rank_) + 1; rank < nodes.size(); ++rank)
      if (nodes[rank] == context_.nodes.mine) add(take_from(static_cast<int>(rank)));
    if (rank_ != 0) return bring_to(0);
    write({}, nodes[0], intervals_);
    for (std::uint32_t node = 1; node < context_.nodes.count; ++node)
      if (const int sender = lowest_of(node); sender < static_cast<int>(nodes.size()))
        write({}, node, take_from(sender));
  }

  void add(const std::vector<Interval>& theirs) {
    for (std::size_t i = 0; i < count_; ++i) {
      Interval& sum = intervals_[i];
      sum.bytes += theirs[i].bytes;
      sum.requests += theirs[i].requests;
      sum.busy_ns += theirs[i].busy_ns;
      sum.longest_ns = std::max(sum.longest_ns, theirs[i].longest_ns);
    }
  }

  RunContext& context_;
  const PhaseTask& task_;
  WaitOptions waiting_;
  int rank_ = 0;
  std::size_t count_ = 0;
  std::vector<Interval> intervals_;  ///< this rank's, or its node's
  TimelineRow row_;
};

}  // namespace

void report_timelines(RunContext& context, const PhaseTask& task, double start_s, Timeline& mine,
                      const WaitOptions& waiting) {
  Collection(context, task, waiting).report(start_s, mine);
}

}  // namespace strider
