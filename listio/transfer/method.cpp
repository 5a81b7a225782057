#include "listio/transfer/method.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <tuple>

#include "foundation/clock.hpp"
#include "foundation/error.hpp"
#include "foundation/median.hpp"

namespace strider::listio {
namespace {

constexpr std::array<std::string_view, 4> method_names{"multiple", "pack", "gather", "hybrid"};

/// Gathering has to be this much better: less cannot be distinguished from none, and packing needs no registered
/// memory.
constexpr double indifference = 1.01;

/// One kind of list, and what it has taken so far.
struct Trial {
  Direction direction;
  std::uint64_t piece_bytes, total_bytes;
  std::vector<double> pack_us{};
  std::vector<double> ratios{};  ///< of gathering to packing, within a round

  double measure_us(const MoveOnce& move, Method method) const {
    const std::uint64_t start = monotonic_ns();
    move(direction, total_bytes / piece_bytes, piece_bytes, method);
    return static_cast<double>(std::max<std::uint64_t>(monotonic_ns() - start, 1)) * 1e-3;
  }
  /// What it took. Who goes first finds other caches than who goes second: they take turns.
  double run(const MoveOnce& move) {
    const bool packs_first = ratios.size() % 2 == 0;
    const double first_us = measure_us(move, packs_first ? Method::pack : Method::gather);
    const double second_us = measure_us(move, packs_first ? Method::gather : Method::pack);
    pack_us.push_back(packs_first ? first_us : second_us);
    ratios.push_back((packs_first ? second_us : first_us) / pack_us.back());
    return first_us + second_us;
  }
  /// Whether more rounds would only show again that packing is better.
  bool is_clear() const { return ratios.size() >= 3 && median(ratios) > 2; }
  /// Whether some rounds more may still show another one to be better.
  bool is_close() const { return std::abs(std::log(median(ratios))) < 0.15; }

  bool is_beside(const Trial& other) const { return direction == other.direction && total_bytes == other.total_bytes; }
};

/// Trials of one direction and total, of growing length.
using Row = std::span<const Trial>;

/// Other work slows the machine down for longer than a round takes: both methods then, and not their ratio. Where even
/// that is far from those of the lengths beside it, it is not believed: it changes little from length to length.
MethodSample sample_of(Row row, std::size_t index) {
  const std::size_t count = std::min<std::size_t>(row.size(), 3);
  const std::size_t first = std::min(index - std::min<std::size_t>(index, 1), row.size() - count);
  std::vector<double> near;
  for (const Trial& each : row.subspan(first, count)) near.push_back(median(each.ratios));
  const Trial& trial = row[index];
  const double pack_us = median(trial.pack_us);
  return {trial.direction, trial.piece_bytes, trial.total_bytes, pack_us * median(near), pack_us};
}

std::vector<MethodSample> samples_of(std::span<const Trial> trials) {
  std::vector<MethodSample> samples;
  while (!trials.empty()) {
    const auto end = std::find_if_not(trials.begin(), trials.end(),
                                      [&](const Trial& each) { return each.is_beside(trials.front()); });
    const Row row = trials.first(static_cast<std::size_t>(end - trials.begin()));
    for (std::size_t i = 0; i < row.size(); ++i) samples.push_back(sample_of(row, i));
    trials = trials.subspan(row.size());
  }
  return samples;
}

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
  constexpr std::size_t most_rounds = 20, most_close_rounds = 100, least_rounds = 2;
  constexpr double enough_us = 300'000, enough_close_us = 900'000;
  std::vector<Trial> trials;
  for (const Direction direction : {Direction::write, Direction::read})
    for (const std::uint64_t total :
         {std::min<std::uint64_t>(most_bytes, 32768), std::min<std::uint64_t>(most_bytes, 524288)}) {
      if (!trials.empty() && trials.back().direction == direction && trials.back().total_bytes == total) continue;
      for (std::uint64_t length = 128; length <= 65536 && 2 * length <= total; length *= 2)
        trials.push_back({direction, length, total});
    }
  double spent_us = 0;
  const auto goes_on = [&](std::size_t round) { return round < least_rounds || spent_us < enough_us; };
  for (std::size_t round = 0; round < most_rounds && goes_on(round); ++round)
    for (Trial& trial : trials)
      if (goes_on(round) && !trial.is_clear()) spent_us += trial.run(move);
  for (std::size_t round = 0; round < most_close_rounds && spent_us < enough_close_us; ++round)
    for (Trial& trial : trials)
      if (spent_us < enough_close_us && trial.is_close()) spent_us += trial.run(move);
  return MethodCosts(samples_of(trials));
}

}  // namespace strider::listio
