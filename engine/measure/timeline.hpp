#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace strider {

/// What a rank did in each interval of a phase. A request counts in the interval in which it ended. When all intervals
/// are used, neighbours are merged and their length doubles, so that any phase fits. Costs a request two comparisons:
/// all else happens when an interval ends. Times are ticks of the timer of requests.
class Timeline {
 public:
  static constexpr std::size_t capacity = 600;
  /// Trivially copyable: travels between ranks as bytes.
  struct Interval {
    std::uint64_t bytes, requests;
    std::uint64_t busy_ns;     ///< sum of the latencies
    std::uint64_t longest_ns;  ///< latency

    /// What another rank did in the same interval, or this one in the next.
    void take_in(const Interval& other) {
      bytes += other.bytes;
      requests += other.requests;
      busy_ns += other.busy_ns;
      longest_ns = std::max(longest_ns, other.longest_ns);
    }
  };
  /// What the rank has done in the phase so far.
  struct Totals {
    std::uint64_t bytes, requests, busy_ns;
  };

  /// Until then nothing is noted. `interval_ticks`: at least 1.
  void begin(std::uint64_t start_ticks, std::uint64_t interval_ticks) {
    start_ticks_ = start_ticks;
    interval_ticks_ = interval_ticks;
    end_ticks_ = start_ticks + interval_ticks;
  }
  /// Before a request that ended at `now_ticks` is counted; `before`: the totals without it.
  void reach(std::uint64_t now_ticks, const Totals& before) {
    if (now_ticks >= end_ticks_) [[unlikely]]
      advance(now_ticks, before);
  }
  /// The latency of the request that is counted.
  void note(std::uint64_t latency_ns) { longest_ns_ = std::max(longest_ns_, latency_ns); }
  /// At the phase's end.
  void finish(const Totals& all) {
    if (interval_ticks_ != 0) close(all);
  }

  /// Number of the last interval, as it would be had none been merged; where some were, that of the first part of it.
  std::uint64_t last_unmerged() const { return last_unmerged_; }
  /// How often lengths double until that interval fits.
  static unsigned doublings_for(std::uint64_t last_unmerged) {
    return static_cast<unsigned>(std::bit_width(last_unmerged / capacity));
  }
  /// The first `count` intervals after as many doublings as `doublings_for` the longest of all timelines.
  std::span<const Interval> intervals(unsigned doublings, std::size_t count) {
    while (doublings_ < doublings) merge();
    return std::span(intervals_).first(count);
  }

 private:
  void advance(std::uint64_t now_ticks, const Totals& before) {
    close(before);
    std::uint64_t number = (now_ticks - start_ticks_) / interval_ticks_;
    for (; number >= capacity; number /= 2) merge();
    current_ = number;
    last_unmerged_ = (now_ticks - start_ticks_) / (interval_ticks_ >> doublings_);
    end_ticks_ = start_ticks_ + (number + 1) * interval_ticks_;
  }
  /// Adds what came since the last time to the current interval.
  void close(const Totals& totals) {
    Interval& interval = intervals_[current_];
    interval.bytes += totals.bytes - closed_.bytes;
    interval.requests += totals.requests - closed_.requests;
    interval.busy_ns += totals.busy_ns - closed_.busy_ns;
    interval.longest_ns = std::max(interval.longest_ns, longest_ns_);
    closed_ = totals;
    longest_ns_ = 0;
  }
  void merge() {
    for (std::size_t i = 0; i < capacity; i += 2) {
      intervals_[i].take_in(intervals_[i + 1]);
      intervals_[i / 2] = intervals_[i];
    }
    std::fill(intervals_.begin() + capacity / 2, intervals_.end(), Interval{});
    interval_ticks_ *= 2;
    current_ /= 2;
    ++doublings_;
  }

  std::uint64_t end_ticks_ = ~std::uint64_t{0};  ///< of the current interval
  std::uint64_t longest_ns_ = 0;                 ///< in the current interval
  std::uint64_t start_ticks_ = 0, interval_ticks_ = 0;
  std::size_t current_ = 0;
  unsigned doublings_ = 0;
  std::uint64_t last_unmerged_ = 0;
  Totals closed_{};
  std::array<Interval, capacity> intervals_{};
};

}  // namespace strider
