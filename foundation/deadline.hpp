#pragma once
#include <algorithm>
#include <chrono>

namespace strider {

/// The moment until which somebody waits; every wait has one.
using Deadline = std::chrono::steady_clock::time_point;

inline Deadline in(std::chrono::milliseconds patience) { return std::chrono::steady_clock::now() + patience; }

/// What is left, at least 0 and at most `most`, rounded up, so that a wait of it ends after the deadline.
inline std::chrono::milliseconds until(const Deadline& deadline,
                                       std::chrono::milliseconds most = std::chrono::minutes(1)) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return std::clamp(left, std::chrono::milliseconds(0), most);
}

inline bool has_passed(const Deadline& deadline) { return std::chrono::steady_clock::now() >= deadline; }

}  // namespace strider
