#include "foundation/clock.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace strider {
namespace {

constexpr std::uint64_t first_calibration_ns = 2'000'000;

bool kernel_keeps_time_by_tsc() {
#if defined(__x86_64__)
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return static_cast<bool>(file >> source) && source == "tsc";
#else
  return false;
#endif
}

}  // namespace

Timer::Timer() : uses_tsc_(kernel_keeps_time_by_tsc()) {
  if (!uses_tsc_) return;
  origin_ = read_both();
  while (monotonic_ns() - origin_.ns < first_calibration_ns) {
  }
  recalibrate();
}

Timer::Reading Timer::read_both() const {
  // The pair read closest together of a few: an interrupt between the two readings would spoil the calibration.
  Reading best{};
  std::uint64_t best_gap = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::uint64_t before = now();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t after = now();
    if (after - before < best_gap) {
      best_gap = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  return best;
}

void Timer::recalibrate() {
  if (!uses_tsc_) return;
  const Reading current = read_both();
  const double ratio =
      static_cast<double>(current.ns - origin_.ns) / static_cast<double>(current.ticks - origin_.ticks);
  ns_per_tick_q32_ = static_cast<std::uint64_t>(std::llround(ratio * 4294967296.0));
}

double Timer::cost_ns() const {
  constexpr int readings = 1000;
  double best = 1e9;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::uint64_t start = now();
    std::uint64_t last = start;
    for (int i = 0; i < readings; ++i) last = now();
    best = std::min(best, static_cast<double>(to_ns(last - start)) / readings);
  }
  return best;
}

}  // namespace strider
