#include "runner/observer.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "events/events.hpp"
#include "ranks/interrupt.hpp"
#include "ranks/nodes.hpp"

namespace strider {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

bool input_has_closed() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char byte = 0;
  return ::poll(&input, 1, 0) > 0 && ::read(STDIN_FILENO, &byte, 1) <= 0;
}

/// False where the end came first. Looks for it often enough to end at once.
bool sleep_until(Clock::time_point begin, double until_s, ObserveEnd end) {
  constexpr double look_s = 0.05;
  while (true) {
    const double left_s = until_s - seconds_since(begin);
    if (left_s <= 0) return !interrupted();
    if (interrupted() || (end == ObserveEnd::input_closes && input_has_closed())) return false;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left_s, look_s)));
  }
}

}  // namespace

void observe_node(const ObserveOptions& options) {
  note_interrupts();
  ObservationStream stream(options.out, host_name(), options.interval_s);
  const CounterSources sources(options.counters, options.root);
  CounterGroups before = sources.read();
  // The time of a reading is its end, here as below: so the intervals add up to the whole.
  const Clock::time_point begin = Clock::now();
  double before_s = 0;
  bool goes_on = true;
  for (std::uint64_t line = 1; goes_on && before_s < options.duration_s; ++line) {
    // From the beginning, so that the time that readings take does not add up.
    const double next_s = std::max(static_cast<double>(line) * options.interval_s, before_s);
    goes_on = sleep_until(begin, std::min(next_s, options.duration_s), options.end);
    CounterGroups now = sources.read();
    const double now_s = seconds_since(begin);
    stream.observed(now_s - before_s, difference(before, now));
    before = std::move(now);
    before_s = now_s;
  }
}

}  // namespace strider
