#include "plan/draw.hpp"

#include "foundation/random.hpp"

namespace strider {

Draw::Draw(double read_share, std::uint64_t seed)
    : limit_(static_cast<std::uint64_t>(read_share * 0x1p64)), first_(hash_numbers(seed)) {}

bool Draw::reads(std::uint64_t index) const {
  // Steps of the golden section fill the range evenly, however many there are (Weyl 1916).
  constexpr std::uint64_t golden_section = 0x9e3779b97f4a7c15;
  return first_ + index * golden_section < limit_;
}

Draw draw_of(const Case& test) { return {test.read_share, test.seed}; }

}  // namespace strider
