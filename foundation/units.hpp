#pragma once
#include <cstdint>

namespace strider {

/// Bytes of a MiB.
constexpr std::uint64_t mib = std::uint64_t{1} << 20;

}  // namespace strider
