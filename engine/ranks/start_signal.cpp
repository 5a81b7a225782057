#include "ranks/start_signal.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "foundation/clock.hpp"
#include "foundation/pace.hpp"
#include "ranks/exchange.hpp"

namespace strider {
namespace {

constexpr double shortest_lead_s = 0.0005;
constexpr double longest_lead_s = 0.5;
constexpr double first_guess_s = 0.001;  ///< for each level of a broadcast's tree: how long a waiting rank sleeps
constexpr double forgetting = 0.5;       ///< what counts of slow news in the next phase
constexpr double safety = 2;
constexpr std::uint64_t longest_wait_ns = 2'000'000'000;

}  // namespace

StartSignal::StartSignal(int ranks)
    : slowest_news_s_(first_guess_s * std::bit_width(static_cast<unsigned>(ranks)) / safety) {}

double StartSignal::announce(MPI_Comm communicator, const ClockWatch& clocks, const WaitOptions& waiting) {
  const double lead_s = std::clamp(safety * slowest_news_s_, shortest_lead_s, longest_lead_s);
  const double now_s = clocks.reference_s(monotonic_ns());
  std::array<double, 2> news{now_s, now_s + lead_s};
  broadcast(news, communicator, waiting);
  news_s_ = clocks.reference_s(monotonic_ns()) - news[0];
  return news[1];
}

void StartSignal::await(double start_s, const ClockWatch& clocks) {
  wait_until(clocks.local_ns(start_s), longest_wait_ns);
}

void StartSignal::learn(double slowest_news_s) {
  slowest_news_s_ = std::max(slowest_news_s, forgetting * slowest_news_s_);
}

}  // namespace strider
