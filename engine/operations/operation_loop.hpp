#pragma once
#include <cstdint>

#include "foundation/clock.hpp"
#include "foundation/pace.hpp"
#include "operations/transfer.hpp"

namespace strider {

/// Executes operations one after the other until they are done, the deadline has come or the watch ends them.
class OperationLoop {
 public:
  OperationLoop(const Timer& timer, Tally& tally, Watch& watch) : timer_(timer), tally_(tally), watch_(watch) {}
  std::uint64_t next() const { return next_; }

  /// Up to operation `last` - 1. `execute(n, waited)` returns its ticks, those included that it has waited since it was
  /// due. `deadline_ticks`: 0 for none.
  template <typename Execute>
  Stop run(std::uint64_t last, std::uint64_t deadline_ticks, Pace& pace, const Execute& execute) {
    const std::uint64_t interval = timer_.from_ns(watch_interval_ns);
    std::uint64_t next_look = timer_.now() + interval;
    while (next_ < last) {
      std::uint64_t now = 0;
      if (!pace.limited() || pace.wait(watch_interval_ns)) [[likely]] {
        const std::uint64_t waited = pace.limited() ? pace.issue() : 0;
        // The operation adds its bytes itself.
        const std::uint64_t bytes_before = tally_.bytes;
        const std::uint64_t latency = timer_.to_ns(execute(next_, waited));
        now = timer_.now();
        const std::uint64_t moved_bytes = tally_.bytes - bytes_before;
        tally_.bytes = bytes_before;
        tally_.record(now, latency, moved_bytes);
        ++next_;
        if (now < next_look && (deadline_ticks == 0 || now < deadline_ticks)) [[likely]]
          continue;
      } else {
        now = timer_.now();
      }
      if (!watch_.go_on(tally_)) return Stop::ended;
      // One request at least, so that there is a rate, also where a rank's first turn comes after the deadline.
      if (deadline_ticks != 0 && now >= deadline_ticks && next_ > 0)
        return next_ < last ? Stop::deadline : Stop::finished;
      next_look = now + interval;
    }
    return pay(deadline_ticks, pace);
  }

 private:
  /// What was done last takes its time of a limit as well.
  Stop pay(std::uint64_t deadline_ticks, Pace& pace) {
    if (!pace.limited() || pace.open() || pace.issued() == 0) return Stop::finished;
    while (!pace.wait(watch_interval_ns)) {
      if (!watch_.go_on(tally_)) return Stop::ended;
      if (deadline_ticks != 0 && timer_.now() >= deadline_ticks) break;
    }
    return Stop::finished;
  }

  static constexpr std::uint64_t watch_interval_ns = 2'000'000;
  const Timer& timer_;
  Tally& tally_;
  Watch& watch_;
  std::uint64_t next_ = 0;
};

}  // namespace strider
