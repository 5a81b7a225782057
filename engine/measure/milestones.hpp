#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace strider {

/// How far a rank was at which time: at most `capacity` points; when they are used up every second one is dropped and
/// the spacing doubles. Serves the question how much was done when the first rank finished.
class Milestones {
 public:
  static constexpr std::size_t capacity = 256;

  void begin(std::uint64_t time_ns) {
    size_ = 0;
    spacing_ns_ = 1'000'000;
    push(time_ns, 0);
  }
  void add(std::uint64_t time_ns, std::uint64_t amount) {
    if (time_ns < points_[size_ - 1].time_ns + spacing_ns_) return;
    if (size_ == capacity) {
      for (std::size_t i = 0; i < capacity / 2; ++i) points_[i] = points_[2 * i];
      size_ = capacity / 2;
      spacing_ns_ *= 2;
    }
    push(time_ns, amount);
  }
  void finish(std::uint64_t time_ns, std::uint64_t amount) {
    if (size_ == capacity) --size_;
    push(time_ns, amount);
  }
  /// Bytes, or whatever is counted, done at a time, interpolated between the points around it.
  double amount_at(std::uint64_t time_ns) const {
    const auto end = points_.begin() + static_cast<std::ptrdiff_t>(size_);
    const auto after = std::upper_bound(points_.begin(), end, time_ns,
                                        [](std::uint64_t time, const Point& point) { return time < point.time_ns; });
    if (after == points_.begin()) return 0;
    const Point& low = *(after - 1);
    if (after == end) return static_cast<double>(low.amount);
    const double share = static_cast<double>(time_ns - low.time_ns) / static_cast<double>(after->time_ns - low.time_ns);
    return static_cast<double>(low.amount) + share * static_cast<double>(after->amount - low.amount);
  }

 private:
  struct Point {
    std::uint64_t time_ns;
    std::uint64_t amount;
  };
  void push(std::uint64_t time_ns, std::uint64_t amount) { points_[size_++] = {time_ns, amount}; }
  std::array<Point, capacity> points_{};
  std::size_t size_ = 0;
  std::uint64_t spacing_ns_ = 0;
};

}  // namespace strider
