#include "repetitions/meeting.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>

#include "foundation/clock.hpp"
#include "ranks/exchange.hpp"
#include "ranks/interrupt.hpp"

namespace strider {
namespace {

void sleep_until(std::uint64_t end_ns) {
  constexpr std::uint64_t longest_nap_ns = 50'000'000;  // so that an interruption is soon seen
  for (std::uint64_t now = monotonic_ns(); now < end_ns && !interrupted(); now = monotonic_ns())
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(end_ns - now, longest_nap_ns)));
}

}  // namespace

Meeting::State Meeting::begin(State mine, double start_s) {
  begun_ = true;
  int worst = static_cast<int>(mine == State::ready && interrupted() ? State::interrupted : mine);
  all_reduce(std::span(&worst, 1), MPI_MAX, all_, waiting_);
  const auto all = static_cast<State>(worst);
  if (all == State::ready) sleep_until(monotonic_ns() + static_cast<std::uint64_t>(start_s * 1e9));
  return all;
}

void Meeting::end() {
  if (ended_) return;
  ended_ = true;
  barrier(all_, waiting_);
}

void Meeting::leave(State mine) {
  if (!begun_) begin(mine, 0);
  end();
}

}  // namespace strider
