#pragma once
#include <time.h>

#include <cstdint>
#include <string_view>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace strider {

/// CLOCK_MONOTONIC in nanoseconds: the clock of phases.
inline std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL + static_cast<std::uint64_t>(now.tv_nsec);
}

/// The clock of requests: the processor's time stamp counter where the kernel itself keeps time by it (invariant,
/// synchronised over cores), which costs less than half of clock_gettime; CLOCK_MONOTONIC elsewhere.
class Timer {
 public:
  Timer();
  std::uint64_t now() const {
#if defined(__x86_64__)
    if (uses_tsc_) [[likely]]
      return __rdtsc();
#endif
    return monotonic_ns();
  }
  std::uint64_t to_ns(std::uint64_t ticks) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(ticks) * ns_per_tick_q32_) >> 32);
  }
  std::uint64_t from_ns(std::uint64_t nanoseconds) const {
    return static_cast<std::uint64_t>(static_cast<double>(nanoseconds) / ns_per_tick());
  }
  double ns_per_tick() const { return static_cast<double>(ns_per_tick_q32_) / 4294967296.0; }
  /// Measures the tick's length again, over all the time since construction; the error falls with that time.
  void recalibrate();
  std::string_view name() const { return uses_tsc_ ? "tsc" : "clock_gettime"; }
  /// What one reading costs, in nanoseconds.
  double cost_ns() const;

 private:
  struct Reading {
    std::uint64_t ticks;
    std::uint64_t ns;
  };
  Reading read_both() const;

  bool uses_tsc_ = false;
  std::uint64_t ns_per_tick_q32_ = std::uint64_t{1} << 32;
  Reading origin_{};
};

}  // namespace strider
