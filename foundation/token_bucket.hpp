#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

#include "foundation/deadline.hpp"

namespace strider {

/// Limits a rate: bytes that are asked for one after the other are done at `bytes_per_s`. What could have been moved
/// and was not asked for is made up for, but no more than `burst` of it.
class TokenBucket {
 public:
  static constexpr std::chrono::milliseconds burst{20};

  /// 0 bytes per second: no limit.
  explicit TokenBucket(std::uint64_t bytes_per_s) : bytes_per_s_(bytes_per_s) {}

  /// When `bytes` may be done that are ready `now`, all that was asked before being done first. `now` never decreases.
  Deadline take(std::uint64_t bytes, Deadline now) {
    if (bytes_per_s_ == 0) return now;
    const std::chrono::duration<double> time(static_cast<double>(bytes) / static_cast<double>(bytes_per_s_));
    done_ = std::max(done_, now - burst) + std::chrono::duration_cast<Deadline::duration>(time);
    return done_;
  }

 private:
  std::uint64_t bytes_per_s_;
  Deadline done_{};  ///< when everything so far is
};

}  // namespace strider
