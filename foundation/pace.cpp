#include "foundation/pace.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "foundation/random.hpp"

namespace strider {
namespace {

/// Exponentially distributed with mean 1, by inversion of 53 bits of `bits`.
double exponential(std::uint64_t bits) {
  constexpr double two_to_53 = 9007199254740992.0;
  return -std::log((static_cast<double>(bits >> 11) + 1) / two_to_53);
}

/// While `left_ns()` is not 0.
template <typename Left>
bool wait_while(const Left& left_ns, std::uint64_t most_ns) {
  constexpr std::uint64_t wake_up_ns = 80'000;  // a sleep ends late by about this much
  const std::uint64_t left = left_ns();
  if (left > wake_up_ns) {
    const std::uint64_t nap = std::min(left - wake_up_ns, most_ns);
    const timespec span{static_cast<time_t>(nap / 1'000'000'000), static_cast<long>(nap % 1'000'000'000)};
    ::nanosleep(&span, nullptr);
    if (nap == most_ns) return left_ns() == 0;
  }
  while (left_ns() > 0) {
  }
  return true;
}

}  // namespace

Pace::Pace(const Load& load, const Timer& timer, std::uint64_t begin)
    : timer_(&timer),
      arrivals_(load.arrivals),
      interval_(load.per_s > 0 ? 1e9 / load.per_s / timer.ns_per_tick() : 0),
      begin_(begin),
      key_(load.key) {
  if (arrivals_ == Arrivals::poisson) first_ = interval_ * exponential(hash_numbers(key_, 0));
  else first_ = interval_ * load.rank / load.ranks;
  offset_ = first_;
}

void Pace::advance(std::uint64_t amount) {
  ++issued_;
  amount_ += amount;
  if (arrivals_ == Arrivals::poisson) offset_ += interval_ * exponential(hash_numbers(key_, issued_));
  else offset_ = first_ + interval_ * static_cast<double>(open() ? issued_ : amount_);
  looked_ = false;
}

bool Pace::is_due() {
  const bool come = timer_->now() >= due();
  if (!looked_ && come && issued_ > 0) ++late_;
  looked_ = true;
  return come;
}

bool Pace::wait(std::uint64_t most_ns) { return is_due() || wait_until(*timer_, due(), most_ns); }

std::uint64_t Pace::issue(std::uint64_t amount) {
  if (!open()) {
    if (limited()) advance(amount);
    return 0;
  }
  const std::uint64_t now = timer_->now(), time = due();
  last_lag_ = now > time ? now - time : 0;
  latest_ = std::max(latest_, last_lag_);
  advance(amount);
  return last_lag_;
}

double Pace::per_s(double ticks) const {
  return issued_ == 0 ? 0 : static_cast<double>(issued_) * 1e9 / (ticks * timer_->ns_per_tick());
}

// Until the next one is due: n requests over n + 1 gaps of a Poisson process, which is the rate on average.
double Pace::offered_per_s() const { return per_s(arrivals_ == Arrivals::poisson ? offset_ : offset_ - first_); }

double Pace::achieved_per_s() const {
  const double span = arrivals_ == Arrivals::poisson ? offset_ : offset_ - first_;
  return per_s(span + static_cast<double>(last_lag_));
}

bool wait_until(const Timer& timer, std::uint64_t ticks, std::uint64_t most_ns) {
  return wait_while(
      [&] {
        const std::uint64_t now = timer.now();
        return now >= ticks ? 0 : std::max<std::uint64_t>(1, timer.to_ns(ticks - now));
      },
      most_ns);
}

bool wait_until(std::uint64_t time_ns, std::uint64_t most_ns) {
  return wait_while(
      [&] {
        const std::uint64_t now = monotonic_ns();
        return now >= time_ns ? 0 : time_ns - now;
      },
      most_ns);
}

}  // namespace strider
