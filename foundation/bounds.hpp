#pragma once
#include <cstdint>

namespace strider {

/// Whether `length` units from `offset` on end at `most` or before: of any three numbers, since nothing is added up
/// that could overflow. To be asked before anything is sized by numbers from outside.
constexpr bool ends_within(std::uint64_t offset, std::uint64_t length, std::uint64_t most) {
  return offset <= most && length <= most - offset;
}

}  // namespace strider
