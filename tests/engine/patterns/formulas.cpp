#include "patterns/formulas.hpp"

#include <algorithm>

#include "foundation/random.hpp"

namespace strider {
namespace {

std::uint64_t rounded_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

// segmented: offset = (k·t div b)·N·b + r·b + (k·t mod b) where t divides b; the last transfer of a block may be
// shorter.
std::uint64_t segmented_requests(const Settings& s, Place, Direction) {
  const std::uint64_t t = s.number("transfer"), b = s.number_or("block", t);
  return s.number("segments") * rounded_up(b, t);
}
std::vector<Extent> segmented_extents(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t t = s.number("transfer"), b = s.number_or("block", t);
  std::uint64_t segment = 0, in_block = 0;
  for (; k > 0; --k) {  // walk, as a rank does
    in_block += t;
    if (in_block >= b) ++segment, in_block = 0;
  }
  return {{segment * place.ranks * b + place.rank * b + in_block, 0, std::min(t, b - in_block)}};
}

// strided: offset = k·stride + r·t with stride = N·t.
std::uint64_t strided_requests(const Settings& s, Place, Direction) { return s.number("count"); }
std::vector<Extent> strided_extents(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t t = s.number("transfer"), stride = place.ranks * t;
  return {{k * stride + place.rank * t, 0, t}};
}

// random: slot π(k·N + r) of the size/t slots; with replacement a uniform offset rounded down to align.
std::uint64_t random_requests(const Settings& s, Place place, Direction) {
  if (s.has("count")) return s.number("count");
  std::uint64_t requests = 0;
  for (std::uint64_t slot = place.rank; slot < s.number("size") / s.number("transfer"); slot += place.ranks) ++requests;
  return requests;
}
std::vector<Extent> random_extents(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t t = s.number("transfer"), size = s.number("size"), seed = s.number("seed");
  if (!s.flag("replacement")) return {{Permutation(size / t, seed)(k * place.ranks + place.rank) * t, 0, t}};
  const std::uint64_t offset = below(hash_numbers(mix64(seed + place.rank), k), size - t + 1);
  const std::uint64_t align = s.number_or("align", t);
  return {{offset / align * align, 0, t}};
}

// sequential: every rank walks 0, t, 2t, …; rank 0 writes alone unless overlap is set.
std::uint64_t sequential_requests(const Settings& s, Place place, Direction direction) {
  const bool writes_nothing = direction == Direction::write && place.rank != 0 && !s.flag("overlap");
  return writes_nothing ? 0 : rounded_up(s.number("size"), s.number("transfer"));
}
std::vector<Extent> sequential_extents(const Settings& s, Place, std::uint64_t k) {
  const std::uint64_t t = s.number("transfer");
  return {{k * t, 0, std::min(t, s.number("size") - k * t)}};
}

// nested-strided: the digits of k, counted up as loops within loops do, each times its stride.
std::uint64_t nested_strided_requests(const Settings& s, Place, Direction) {
  std::uint64_t requests = 1;
  for (std::size_t i = 0; i < s.numbers("levels").size(); i += 2) requests *= s.numbers("levels")[i];
  return requests;
}
std::vector<Extent> nested_strided_extents(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t t = s.number("transfer");
  const Numbers& levels = s.numbers("levels");
  std::vector<std::uint64_t> digits(levels.size() / 2);
  for (; k > 0; --k)
    for (std::size_t level = digits.size(); level-- > 0 && ++digits[level] == levels[2 * level];) digits[level] = 0;
  std::uint64_t offset = place.rank * t, whole = place.ranks * t;
  for (std::size_t level = digits.size(); level-- > 0;) {
    const std::uint64_t stride = levels[2 * level + 1] != 0 ? levels[2 * level + 1] : whole;
    offset += digits[level] * stride;
    whole = levels[2 * level] * stride;
  }
  return {{offset, 0, t}};
}

// random-strided: in round π(k), slot π_round(r) of N; four rounds of the Feistel network.
std::uint64_t random_strided_requests(const Settings& s, Place, Direction) { return s.number("count"); }
std::vector<Extent> random_strided_extents(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t t = s.number("transfer"), seed = s.number("seed");
  const std::uint64_t round = Permutation(s.number("count"), seed).variant(k, 0);
  const std::uint64_t slot =
      Permutation(place.ranks, hash_numbers(seed, place.ranks)).variant(place.rank, mix64(round));
  return {{round * place.ranks * t + slot * t, 0, t}};
}

constexpr NamedFormula formulas[] = {
    {"segmented", {segmented_requests, segmented_extents}},
    {"strided", {strided_requests, strided_extents}},
    {"random", {random_requests, random_extents}},
    {"sequential", {sequential_requests, sequential_extents}},
    {"nested-strided", {nested_strided_requests, nested_strided_extents}},
    {"random-strided", {random_strided_requests, random_strided_extents}},
};

}  // namespace

const Formula* find_formula(std::string_view pattern) {
  for (const NamedFormula& named : formulas)
    if (named.name == pattern) return &named.formula;
  for (const NamedFormula& named : list_formulas())
    if (named.name == pattern) return &named.formula;
  return nullptr;
}

std::vector<Extent> joined(std::vector<Extent> extents) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.file_offset < b.file_offset; });
  std::vector<Extent> result;
  for (const Extent& extent : extents) {
    if (!result.empty() && result.back().file_offset + result.back().length == extent.file_offset &&
        result.back().memory_offset + result.back().length == extent.memory_offset)
      result.back().length += extent.length;
    else result.push_back(extent);
  }
  return result;
}

}  // namespace strider
