#include "patterns/formulas.hpp"

#include <algorithm>

#include "core/random.hpp"

namespace strider {
namespace {

std::uint64_t rounded_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

// segmented: offset = (k·t div b)·N·b + r·b + (k·t mod b) where t divides b; the last transfer of a block may be
// shorter.
std::uint64_t segmented_requests(const Settings& s, Place, Direction) {
  const std::uint64_t t = s.number("transfer"), b = s.number_or("block", t);
  return s.number("segments") * rounded_up(b, t);
}
Extent segmented_extent(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t t = s.number("transfer"), b = s.number_or("block", t);
  std::uint64_t segment = 0, in_block = 0;
  for (; k > 0; --k) {  // walk, as a rank does
    in_block += t;
    if (in_block >= b) ++segment, in_block = 0;
  }
  return {segment * place.ranks * b + place.rank * b + in_block, 0, std::min(t, b - in_block)};
}

// strided: offset = k·stride + r·t with stride = N·t.
std::uint64_t strided_requests(const Settings& s, Place, Direction) { return s.number("count"); }
Extent strided_extent(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t t = s.number("transfer"), stride = place.ranks * t;
  return {k * stride + place.rank * t, 0, t};
}

// random: slot π(k·N + r) of the size/t slots; with replacement a uniform offset rounded down to align.
std::uint64_t random_requests(const Settings& s, Place place, Direction) {
  if (s.has("count")) return s.number("count");
  std::uint64_t requests = 0;
  for (std::uint64_t slot = place.rank; slot < s.number("size") / s.number("transfer"); slot += place.ranks) ++requests;
  return requests;
}
Extent random_extent(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t t = s.number("transfer"), size = s.number("size"), seed = s.number("seed");
  if (!s.flag("replacement")) return {Permutation(size / t, seed)(k * place.ranks + place.rank) * t, 0, t};
  const std::uint64_t offset = below(hash_numbers(mix64(seed + place.rank), k), size - t + 1);
  const std::uint64_t align = s.number_or("align", t);
  return {offset / align * align, 0, t};
}

// sequential: every rank walks 0, t, 2t, …; rank 0 writes alone unless overlap is set.
std::uint64_t sequential_requests(const Settings& s, Place place, Direction direction) {
  const bool writes_nothing = direction == Direction::write && place.rank != 0 && !s.flag("overlap");
  return writes_nothing ? 0 : rounded_up(s.number("size"), s.number("transfer"));
}
Extent sequential_extent(const Settings& s, Place, std::uint64_t k) {
  const std::uint64_t t = s.number("transfer");
  return {k * t, 0, std::min(t, s.number("size") - k * t)};
}

struct Named {
  std::string_view name;
  Formula formula;
};
constexpr Named formulas[] = {
    {"segmented", {segmented_requests, segmented_extent}},
    {"strided", {strided_requests, strided_extent}},
    {"random", {random_requests, random_extent}},
    {"sequential", {sequential_requests, sequential_extent}},
};

}  // namespace

const Formula* find_formula(std::string_view pattern) {
  for (const Named& named : formulas)
    if (named.name == pattern) return &named.formula;
  return nullptr;
}

}  // namespace strider
