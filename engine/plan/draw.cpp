#include "plan/draw.hpp"

#include "foundation/random.hpp"

namespace strider {

Draw::Draw(double read_share, std::uint64_t seed)
    : limit_(static_cast<std::uint64_t>(read_share * 0x1p63)), seed_(hash_numbers(seed)) {}

bool Draw::reads(std::uint64_t visit) const { return hash_numbers(seed_, visit) >> 1 < limit_; }

Draw draw_of(const Case& test) { return {test.read_share, test.seed}; }

}  // namespace strider
