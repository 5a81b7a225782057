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

double measure_us(const MoveOnce& move, std::size_t pieces, std::size_t piece_bytes, Method method) {
  const std::uint64_t start = monotonic_ns();
  move(pieces, piece_bytes, method);
  return static_cast<double>(monotonic_ns() - start) * 1e-3;
}

MethodSample sample(const MoveOnce& move, std::uint64_t total, std::uint64_t length) {
  constexpr int rounds = 8;
  constexpr double enough_us = 10000;
  constexpr double never = std::numeric_limits<double>::infinity();
  const std::size_t pieces = total / length;
  MethodSample best{length, total, never, never};
  double spent_us = 0;
  for (int round = 0; round < rounds && (round < 2 || spent_us < enough_us); ++round) {
    const double gather_us = measure_us(move, pieces, length, Method::gather);
    const double pack_us = measure_us(move, pieces, length, Method::pack);
    best.gather_us = std::min(best.gather_us, gather_us);
    best.pack_us = std::min(best.pack_us, pack_us);
    spent_us += gather_us + pack_us;
  }
  return best;
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
    return std::tie(a.total_bytes, a.piece_bytes) < std::tie(b.total_bytes, b.piece_bytes);
  });
}

MethodSample MethodCosts::at(double piece_bytes, double bytes) const {
  // The total that is next, on a logarithmic scale.
  const auto distance = [bytes](const MethodSample& each) {
    return std::abs(std::log(static_cast<double>(each.total_bytes)) - std::log(bytes));
  };
  const auto nearest = std::min_element(samples_.begin(), samples_.end(),
                                        [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  const std::uint64_t total = nearest->total_bytes;
  const auto of_total = [total](const MethodSample& each) { return each.total_bytes == total; };
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
  return {static_cast<std::uint64_t>(piece_bytes), static_cast<std::uint64_t>(bytes),
          scale * std::lerp(low.gather_us, high.gather_us, share), scale * std::lerp(low.pack_us, high.pack_us, share)};
}

bool MethodCosts::prefers_gather(std::size_t pieces, std::uint64_t bytes, double registration_us) const {
  if (samples_.empty() || pieces == 0 || bytes == 0) return false;
  const MethodSample costs = at(static_cast<double>(bytes) / static_cast<double>(pieces), static_cast<double>(bytes));
  return costs.gather_us + registration_us < costs.pack_us;
}

std::uint64_t MethodCosts::crossover_bytes(std::uint64_t total_bytes) const {
  for (std::uint64_t length = 1; length <= 65536; length *= 2)
    if (prefers_gather(static_cast<std::size_t>(std::max<std::uint64_t>(total_bytes / length, 1)), total_bytes, 0))
      return length;
  return 0;
}

MethodCosts measure_methods(const MoveOnce& move, std::uint64_t most_bytes) {
  std::vector<MethodSample> samples;
  for (std::uint64_t total : {std::uint64_t{32768}, std::uint64_t{524288}}) {
    total = std::min(total, most_bytes);
    for (std::uint64_t length = 128; length <= 65536 && 2 * length <= total; length *= 2)
      samples.push_back(sample(move, total, length));
  }
  return MethodCosts(std::move(samples));
}

}  // namespace strider::listio
