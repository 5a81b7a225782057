#pragma once
#include <cstdint>

#include "foundation/clock.hpp"

namespace strider {

/// When requests come: after those before them (closed loop), or whether those are done or not.
enum class Arrivals { closed, fixed, poisson };

/// How fast a rank is to go.
struct Load {
  Arrivals arrivals = Arrivals::closed;
  /// This rank's part of the rate. Closed: upper limit of requests, or of bytes of data, per second (0: no limit).
  /// Otherwise requests that come.
  double per_s = 0;
  std::uint32_t rank = 0, ranks = 1;  ///< which take turns
  std::uint64_t key = 0;              ///< fixes the gaps of random arrivals
};

/// Says when the requests of a rank are due. Closed with a limit: when what went before is paid for. In open loop
/// (Schroeder, Wierman, Harchol-Balter 2006) whenever they come, whether those before are done or not; at equal
/// intervals with the ranks in turns, or as a Poisson process: each rank's is one of a part of the rate, so that all
/// together are one of the whole rate, however many they are. Times are ticks of the timer.
class Pace {
 public:
  /// No limit.
  explicit Pace(const Timer& timer) : timer_(&timer) {}
  Pace(const Load& load, const Timer& timer, std::uint64_t begin);

  bool limited() const { return interval_ > 0; }
  bool open() const { return arrivals_ != Arrivals::closed; }
  /// When the next request is due.
  std::uint64_t due() const { return begin_ + static_cast<std::uint64_t>(offset_); }
  /// Sleeps until shortly before the next request is due, at most `most_ns`, and spins through the rest. Whether it is.
  bool wait(std::uint64_t most_ns);
  /// The same without waiting.
  bool is_due();
  /// The next request is issued now, the one after it becomes the next; `amount`: bytes where these are limited.
  /// Returns how long ago it was due, in open loop; otherwise 0.
  std::uint64_t issue(std::uint64_t amount = 1);

  std::uint64_t issued() const { return issued_; }
  /// Requests that were due while the rank still had others in hand.
  std::uint64_t late_requests() const { return late_; }
  /// Ticks from when a request was due to when it was issued, the longest.
  std::uint64_t latest() const { return latest_; }
  /// Rate at which the requests so far came (that of the random gaps as they were drawn), and at which they were
  /// issued; per second, 0 before the first.
  double offered_per_s() const;
  double achieved_per_s() const;

 private:
  void advance(std::uint64_t amount);
  double per_s(double ticks) const;

  const Timer* timer_;
  Arrivals arrivals_ = Arrivals::closed;
  double interval_ = 0;  ///< ticks from one to the next, on average
  double first_ = 0;     ///< ticks from the beginning to the first
  double offset_ = 0;    ///< ticks from the beginning to the next
  std::uint64_t begin_ = 0;
  std::uint64_t key_ = 0;
  std::uint64_t issued_ = 0;
  std::uint64_t amount_ = 0;  ///< of those issued
  std::uint64_t late_ = 0, latest_ = 0;
  std::uint64_t last_lag_ = 0;  ///< of the request issued last
  bool looked_ = false;         ///< whether the next one is due
};

/// Sleeps until shortly before a time of the timer, at most `most_ns`, and spins through the rest. Whether the time has
/// come.
bool wait_until(const Timer& timer, std::uint64_t ticks, std::uint64_t most_ns);
/// The same for a time of the monotonic clock.
bool wait_until(std::uint64_t time_ns, std::uint64_t most_ns);

}  // namespace strider
