#include "reports/clock_rows.hpp"

#include <algorithm>
#include <functional>

#include "reports/node_rows.hpp"

namespace strider {
namespace {

constexpr double tolerated_share = 0.01;  ///< of a phase
constexpr double ppm = 1e6;

}  // namespace

void note_clock_error(const ClockWatch& clocks, Sample& sample) {
  if (clocks.maps().size() == 1) return;
  double worst_s = 0;
  for (const ClockMap& map : clocks.maps()) worst_s = std::max(worst_s, map.error_s);
  sample.clock_error_s = 2 * worst_s;  // both ends of the phase may be wrong
  if (*sample.clock_error_s > tolerated_share * sample.elapsed_s) sample.flags.emplace_back("clock");
}

std::vector<ClockRow> clock_rows(const RunContext& context, const ClockWatch& clocks, const Sample& sample) {
  const double start_s = static_cast<double>(context.origin_ns) * 1e-9 + sample.start_s;
  std::vector<ClockRow> rows;
  for (std::size_t clock = 1; clock < clocks.maps().size(); ++clock) {
    const ClockMap& map = clocks.maps()[clock];
    const ClockReading &first = context.first_clocks[context.nodes.clock_in_run[clock]],
                       &last = clocks.readings()[clock];
    const auto rank = static_cast<std::size_t>(context.nodes.first_of_clock[clock]);
    const double passed_s = last.local_s - first.local_s;
    rows.push_back({.node = context.nodes.of_rank[rank],
                    .offset_start_s = map.offset_at(map.inverse(start_s)),
                    .offset_end_s = map.offset_at(map.inverse(start_s + sample.elapsed_s)),
                    .error_s = map.error_s,
                    .drift_ppm = (first.offset_s - last.offset_s) / passed_s * ppm,
                    .drift_error_ppm = (first.error_s + last.error_s) / passed_s * ppm});
  }
  if (rows.size() <= most_nodes_one_by_one) return rows;
  const auto end = rows.begin() + most_nodes_one_by_one;
  std::ranges::nth_element(rows, end, std::greater<>{}, &ClockRow::error_s);
  rows.erase(end, rows.end());
  std::ranges::sort(rows, {}, &ClockRow::node);
  return rows;
}

}  // namespace strider
