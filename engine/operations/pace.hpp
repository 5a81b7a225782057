#pragma once
#include <cstdint>

namespace strider {

/// Holds a rank to a number of requests per second: request k is not issued before k intervals have passed.
class Pace {
 public:
  /// `requests_per_s` of all `ranks` together (0: no limit); ranks take turns.
  Pace(std::uint64_t requests_per_s, std::uint32_t rank, std::uint32_t ranks, std::uint64_t begin_ns)
      : interval_ns_(requests_per_s == 0 ? 0 : 1e9 * ranks / static_cast<double>(requests_per_s)),
        begin_ns_(static_cast<double>(begin_ns) + interval_ns_ * rank / ranks) {}

  bool limited() const { return interval_ns_ > 0; }
  /// When the next request may be issued, on the monotonic clock.
  std::uint64_t next_ns() const {
    return static_cast<std::uint64_t>(begin_ns_ + interval_ns_ * static_cast<double>(issued_));
  }
  void issued() { ++issued_; }

 private:
  double interval_ns_;
  double begin_ns_;
  std::uint64_t issued_ = 0;
};

/// Sleeps until shortly before a time of the monotonic clock, at most `most_ns`, and spins through the rest. Whether
/// the time has come.
bool wait_until(std::uint64_t time_ns, std::uint64_t most_ns);

}  // namespace strider
