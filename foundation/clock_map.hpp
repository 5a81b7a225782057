#pragma once
#include <algorithm>

namespace strider {

/// One comparison of a clock with another one: when this one shows `local_s`, the other shows `local_s` + `offset_s`,
/// which is wrong by at most `error_s`.
struct ClockReading {
  double local_s = 0;
  double offset_s = 0;
  double error_s = 0;
};

/// From the times of one clock to those of another that may run faster or slower. Trivially copyable: travels between
/// ranks as bytes.
struct ClockMap {
  double from_s = 0;    ///< of the first clock
  double offset_s = 0;  ///< of the second one then
  double slope = 0;     ///< seconds by which the offset grows in each second of the first clock
  double error_s = 0;   ///< at most, between the comparisons that it was made of

  /// As long as nothing is known of the drift.
  static ClockMap of(const ClockReading& reading) { return {reading.local_s, reading.offset_s, 0, reading.error_s}; }
  /// Between two comparisons the offset is taken to change steadily.
  static ClockMap between(const ClockReading& before, const ClockReading& after) {
    const double slope = (after.offset_s - before.offset_s) / (after.local_s - before.local_s);
    return {before.local_s, before.offset_s, slope, std::max(before.error_s, after.error_s)};
  }
  double offset_at(double local_s) const { return offset_s + slope * (local_s - from_s); }
  double map(double local_s) const { return local_s + offset_at(local_s); }
  /// The first clock's time when the second one shows `other_s`.
  double inverse(double other_s) const { return from_s + (other_s - offset_s - from_s) / (1 + slope); }
  /// To a third clock, by the map from the second one to it.
  ClockMap then(const ClockMap& next) const {
    return {from_s, next.map(map(from_s)) - from_s, (1 + slope) * (1 + next.slope) - 1, error_s + next.error_s};
  }
};

}  // namespace strider
