#include "ranks/clock_watch.hpp"

#include <algorithm>

#include "foundation/clock.hpp"
#include "ranks/exchange.hpp"

namespace strider {
namespace {

constexpr int clock_tag = 912;
constexpr int fewest_exchanges = 5;
constexpr int most_exchanges = 20;
/// No more than the fewest exchanges once a comparison has taken as long.
constexpr std::uint64_t longest_comparison_ns = 2'000'000;

/// Whether there will be another exchange.
enum Goes : std::uint64_t { on, not_on };

/// What the first rank with a clock sends to rank 0, by way of those above it.
struct Found {
  ClockMap way_up;  ///< to the clock above
  double local_s;   ///< of the last comparison
};

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Clocks form a binomial tree: each is compared with the one whose number lacks its lowest bit.
constexpr std::uint32_t above(std::uint32_t clock) { return clock & (clock - 1); }

/// On the first rank of each clock: passes on what it and those below it found. On rank 0 the result has all.
std::vector<Found> pass_up(const Found& own, std::uint32_t mine, const std::vector<int>& first, std::uint32_t clocks,
                           MPI_Comm communicator, const WaitOptions& waiting) {
  std::vector<Found> all{own};  // those below have the next numbers, the nearest first
  for (std::uint32_t step = 1; step < clocks; step *= 2) {
    if ((mine & step) != 0) {
      send(std::span(all), first[above(mine)], clock_tag, communicator, waiting);
      break;
    }
    if (mine + step >= clocks) continue;
    const std::size_t more = std::min(step, clocks - mine - step);
    all.resize(all.size() + more);
    receive(std::span(all).last(more), first[mine + step], clock_tag, communicator, waiting);
  }
  return all;
}

}  // namespace

ClockWatch::ClockWatch(const Nodes& nodes, MPI_Comm communicator, const WaitOptions& waiting)
    : nodes_(nodes), communicator_(communicator), waiting_(waiting) {
  int ranks = 1;
  MPI_Comm_rank(communicator, &rank_);
  MPI_Comm_size(communicator, &ranks);
  const auto& first = nodes.first_of_clock;
  clocks_ = static_cast<std::uint32_t>(std::ranges::lower_bound(first, ranks) - first.begin());
  leads_ = first[nodes.clock] == rank_;
  maps_.resize(clocks_);
  readings_.resize(clocks_);
}

/// On the side that asks.
ClockReading ClockWatch::measure(int parent) const {
  WaitOptions awake = waiting_;
  awake.patience = Patience::awake;
  ClockReading best{0, 0, 1e9};
  const std::uint64_t begin = monotonic_ns();
  for (int exchange = 1; exchange <= most_exchanges; ++exchange) {
    const std::uint64_t before = monotonic_ns();
    const bool last =
        exchange == most_exchanges || (exchange >= fewest_exchanges && before - begin > longest_comparison_ns);
    const Goes goes = last ? Goes::not_on : Goes::on;
    std::uint64_t theirs = 0;
    send(std::span(&goes, 1), parent, clock_tag, communicator_, awake);
    receive(std::span(&theirs, 1), parent, clock_tag, communicator_, awake);
    const std::uint64_t after = monotonic_ns();
    const double error_s = seconds(after - before) / 2, middle_s = seconds(before) + error_s;
    if (error_s < best.error_s) best = {middle_s, seconds(theirs) - middle_s, error_s};
    if (last) break;
  }
  return best;
}

void ClockWatch::answer(int child) const {
  WaitOptions awake = waiting_;
  awake.patience = Patience::awake;
  for (Goes goes = Goes::on; goes == Goes::on;) {
    receive(std::span(&goes, 1), child, clock_tag, communicator_, awake);
    const std::uint64_t now = monotonic_ns();
    send(std::span(&now, 1), child, clock_tag, communicator_, awake);
  }
}

/// On the first rank of each clock: pairs of clocks in parallel, the nearest numbers first.
ClockReading ClockWatch::compare_with_neighbours() const {
  const auto& first = nodes_.first_of_clock;
  const std::uint32_t mine = nodes_.clock;
  for (std::uint32_t step = 1; step < clocks_; step *= 2) {
    if ((mine & step) != 0) return measure(first[above(mine)]);
    if (mine + step < clocks_) answer(first[mine + step]);
  }
  return {};
}

/// Rank 0 follows the ways up to its own clock and broadcasts the result.
void ClockWatch::collect(const ClockMap& way_up) {
  std::vector<Found> found;
  if (leads_)
    found = pass_up({way_up, last_.local_s}, nodes_.clock, nodes_.first_of_clock, clocks_, communicator_, waiting_);
  for (std::uint32_t clock = 1; rank_ == 0 && clock < clocks_; ++clock) {
    maps_[clock] = found[clock].way_up.then(maps_[above(clock)]);
    readings_[clock] = {found[clock].local_s, maps_[clock].offset_at(found[clock].local_s), maps_[clock].error_s};
  }
  broadcast(std::span(maps_), communicator_, waiting_);
  mine_ = maps_[nodes_.clock];
}

void ClockWatch::compare() {
  barrier(communicator_, waiting_);
  if (clocks_ == 1) return;
  if (leads_) last_ = compare_with_neighbours();
  collect(ClockMap::of(last_));
}

void ClockWatch::compare_again() {
  if (clocks_ == 1) return;
  barrier(communicator_, waiting_);
  const ClockReading before = last_;
  if (leads_) last_ = compare_with_neighbours();
  collect(leads_ && rank_ != 0 ? ClockMap::between(before, last_) : ClockMap{});
}

}  // namespace strider
