#pragma once
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>

namespace strider::listio {

/// The time that messages give in nanoseconds since 1970; negative before.
inline timespec time_of(std::int64_t ns) {
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t rest = ns % second;
  return rest < 0 ? timespec{ns / second - 1, rest + second} : timespec{ns / second, rest};
}

/// The nanoseconds of a time, or the nearest ones that messages can give, in the years 1677 and 2262.
inline std::int64_t ns_of(const timespec& time) {
  constexpr std::int64_t second = 1'000'000'000, last = std::numeric_limits<std::int64_t>::max() / second - 1;
  return std::clamp<std::int64_t>(time.tv_sec, -last, last) * second + time.tv_nsec;
}

}  // namespace strider::listio
