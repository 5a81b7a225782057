#include "listio/transfer/method.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "core/clock.hpp"
#include "core/error.hpp"

namespace strider::listio {
namespace {

constexpr std::array<std::string_view, 4> method_names{"multiple", "pack", "gather", "hybrid"};

/// Gathering has to be this much better: less cannot be told from none, and packing needs no registered memory.
constexpr double indifference = 1.02;

/// One kind of list, and the least that it has taken so far, in µs.
struct Trial {
  static constexpr double never = std::numeric_limits<double>::infinity();

  MethodSample best;
  int rounds = 0;

  double measure_us(const MoveOnce& move, Method method) {
    const std::uint64_t start = monotonic_ns();
    move(best.direction, best.total_bytes / best.piece_bytes, best.piece_bytes, method);
    const double us = static_cast<double>(monotonic_ns() - start) * 1e-3;
    double& least = method == Method::pack ? best.pack_us : best.gather_us;
    least = std::min(least, us);
    return us;
  }
  /// What it took. Who goes first finds other caches than who goes second: they take turns.
  double run(const MoveOnce& move) {
    const bool packs_first = rounds++ % 2 == 0;
    const double first_us = measure_us(move, packs_first ? Method::pack : Method::gather);
    return first_us + measure_us(move, packs_first ? Method::gather : Method::pack);
  }
  /// Whether more rounds would only show again that packing is better.
  bool is_clear() const { return rounds >= 3 && best.gather_us > 2 * best.pack_us; }
};

}  // namespace

std::string_view name_of(Method method) { return method_names[static_cast<std::size_t>(method)]; }

Method method_of(std::string_view name) {
  const auto found = std::find(method_names.begin(), method_names.end(), name);
  if (found == method_names.end())
    throw InputError("method", "there is no transfer method '" + std::string(name) + "'",
                     "choose multiple, pack, gather or hybrid");
  return static_cast<Method>(found - method_names.begin());
}

MethodCosts::MethodCosts(std::vector<MethodSample> samples) : samples_(std::move(samples)) {
  std::sort(samples_.begin(), samples_.end(), [](const MethodSample& a, const MethodSample& b) {
    return std::tie(a.direction, a.total_bytes, a.piece_bytes) < std::tie(b.direction, b.total_bytes, b.piece_bytes);
  });
}

MethodSample MethodCosts::at(Direction direction, double piece_bytes, double bytes) const {
  // The total that is next, on a logarithmic scale.
  const auto distance = [&](const MethodSample& each) {
    if (each.direction != direction) return std::numeric_limits<double>::infinity();
    const double total = static_cast<double>(each.total_bytes);
    return std::max(total / bytes, bytes / total);
  };
  const auto nearest = std::min_element(samples_.begin(), samples_.end(),
                                        [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  const std::uint64_t total = nearest->total_bytes;
  const auto of_total = [&](const MethodSample& each) {
    return each.direction == direction && each.total_bytes == total;
  };
  const auto begin = std::find_if(samples_.begin(), samples_.end(), of_total);
  const auto end = std::find_if_not(begin, samples_.end(), of_total);
  const auto above = std::find_if(
      begin, end, [&](const MethodSample& each) { return static_cast<double>(each.piece_bytes) >= piece_bytes; });
  const MethodSample& high = above == end ? *(end - 1) : *above;
  const MethodSample& low = above == begin || above == end ? high : *(above - 1);
  double share = 0;
  if (low.piece_bytes != high.piece_bytes)
    share = (std::log(piece_bytes) - std::log(static_cast<double>(low.piece_bytes))) /
            (std::log(static_cast<double>(high.piece_bytes)) - std::log(static_cast<double>(low.piece_bytes)));
  const double scale = bytes / static_cast<double>(total);
  return {direction, static_cast<std::uint64_t>(piece_bytes), static_cast<std::uint64_t>(bytes),
          scale * std::lerp(low.gather_us, high.gather_us, share), scale * std::lerp(low.pack_us, high.pack_us, share)};
}

bool MethodCosts::prefers_gather(Direction direction, std::size_t pieces, std::uint64_t bytes,
                                 double registration_us) const {
  if (samples_.empty() || pieces == 0 || bytes == 0) return false;
  const MethodSample costs =
      at(direction, static_cast<double>(bytes) / static_cast<double>(pieces), static_cast<double>(bytes));
  return indifference * costs.gather_us + registration_us < costs.pack_us;
}

std::uint64_t MethodCosts::crossover_bytes(Direction direction, std::uint64_t total_bytes) const {
  for (std::uint64_t length = 1; length <= 65536; length *= 2)
    if (prefers_gather(direction, static_cast<std::size_t>(std::max<std::uint64_t>(total_bytes / length, 1)),
                       total_bytes, 0))
      return length;
  return 0;
}

MethodCosts measure_methods(const MoveOnce& move, std::uint64_t most_bytes) {
  // Of a server that is slow, or busy with many clients, no more is asked than that each method went first once.
  constexpr int most_rounds = 20, least_rounds = 2;
  constexpr double enough_us = 300'000;
  std::vector<Trial> trials;
  for (const Direction direction : {Direction::write, Direction::read})
    for (std::uint64_t total : {std::uint64_t{32768}, std::uint64_t{524288}}) {
      total = std::min(total, most_bytes);
      for (std::uint64_t length = 128; length <= 65536 && 2 * length <= total; length *= 2)
        trials.push_back({{direction, length, total, Trial::never, Trial::never}});
    }
  double spent_us = 0;
  const auto goes_on = [&](int round) { return round < least_rounds || spent_us < enough_us; };
  for (int round = 0; round < most_rounds && goes_on(round); ++round)
    for (Trial& trial : trials)
      if (goes_on(round) && !trial.is_clear()) spent_us += trial.run(move);
  std::vector<MethodSample> samples;
  for (const Trial& trial : trials) samples.push_back(trial.best);
  return MethodCosts(std::move(samples));
}

}  // namespace strider::listio
