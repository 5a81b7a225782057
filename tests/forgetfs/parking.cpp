#include "parking.hpp"

#include <cerrno>

namespace forgetfs {

Parking::Parking() : thread_([this] { run(); }) {}

void Parking::stop() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Parking::hold(fuse_req_t request, std::optional<std::chrono::milliseconds> time, std::function<void()> carry_out) {
  {
    const std::scoped_lock lock(mutex_);
    const auto due = time ? std::optional(Clock::now() + *time) : std::nullopt;
    held_.push_back({request, due, std::move(carry_out)});
  }
  fuse_req_interrupt_func(request, interrupted, this);  // calls it at once where that has happened already
  {
    const std::scoped_lock lock(mutex_);
    for (Held& each : held_)
      if (each.request == request) each.settled = true;
  }
  changed_.notify_all();
}

std::size_t Parking::let_go(int error) {
  const std::scoped_lock lock(mutex_);
  for (Held& each : held_) each.error = error;
  changed_.notify_all();
  return held_.size();
}

void Parking::interrupted(fuse_req_t request, void* self) {
  auto& parking = *static_cast<Parking*>(self);
  const std::scoped_lock lock(parking.mutex_);
  for (Held& each : parking.held_)
    if (each.request == request) each.error = EINTR;
  parking.changed_.notify_all();
}

std::list<Parking::Held> Parking::take_ready() {
  std::list<Held> ready;
  for (auto each = held_.begin(); each != held_.end();) {
    const auto next = std::next(each);
    if (each->settled && (each->error || (each->due && *each->due <= Clock::now())))
      ready.splice(ready.end(), held_, each);
    each = next;
  }
  return ready;
}

void Parking::run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    std::list<Held> ready = take_ready();
    if (ready.empty()) {
      std::optional<Clock::time_point> next;
      for (const Held& each : held_)
        if (each.due && (!next || *each.due < *next)) next = each.due;
      next ? (void)changed_.wait_until(lock, *next) : changed_.wait(lock);
      continue;
    }
    lock.unlock();
    for (const Held& each : ready) each.error ? (void)fuse_reply_err(each.request, *each.error) : each.carry_out();
    lock.lock();
  }
}

}  // namespace forgetfs
