#include "ranks/waiting.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "foundation/clock.hpp"

namespace strider {
namespace {

using std::chrono::microseconds;

constexpr int polls_before_sleep = 20;
constexpr double longest_awake_s = 0.02;
constexpr microseconds first_sleep{20};
constexpr microseconds longest_short_sleep{1'000};
constexpr microseconds longest_long_sleep{10'000};

}  // namespace

void wait(MPI_Request& request, const WaitOptions& options) {
  const std::uint64_t begin = monotonic_ns();
  const microseconds longest = options.patience == Patience::long_sleeps ? longest_long_sleep : longest_short_sleep;
  microseconds pause = first_sleep;
  for (int poll = 0;; ++poll) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    if (options.attention != nullptr) options.attention->look();
    const double waited_s = static_cast<double>(monotonic_ns() - begin) * 1e-9;
    if (poll < polls_before_sleep || (options.patience == Patience::awake && waited_s < longest_awake_s)) {
      ::sched_yield();
      continue;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longest);
    if (options.stall_timeout_s > 0 && waited_s > options.stall_timeout_s)
      throw StallError("waited " + std::to_string(static_cast<int>(waited_s)) + " s for the other ranks");
  }
}

}  // namespace strider
