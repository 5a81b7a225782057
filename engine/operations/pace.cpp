#include "operations/pace.hpp"

#include <time.h>

#include <algorithm>

#include "core/clock.hpp"

namespace strider {

bool wait_until(std::uint64_t time_ns, std::uint64_t most_ns) {
  constexpr std::uint64_t wake_up_ns = 80'000;  // a sleep ends late by about this much
  const std::uint64_t now = monotonic_ns();
  if (now >= time_ns) return true;
  const std::uint64_t left = time_ns - now;
  if (left > wake_up_ns) {
    const std::uint64_t nap = std::min(left - wake_up_ns, most_ns);
    const timespec span{static_cast<time_t>(nap / 1'000'000'000), static_cast<long>(nap % 1'000'000'000)};
    ::nanosleep(&span, nullptr);
    if (nap == most_ns) return monotonic_ns() >= time_ns;
  }
  while (monotonic_ns() < time_ns) {
  }
  return true;
}

}  // namespace strider
