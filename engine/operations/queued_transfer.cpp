#include "operations/queued_transfer.hpp"

#include <algorithm>
#include <array>

namespace strider {

QueuedTransfer::QueuedTransfer(const Work& work, QueuedFile& file, const Timer& timer, Tally& tally, Watch& watch)
    : work_(work),
      contents_(work, timer, tally),
      file_(file),
      timer_(timer),
      tally_(tally),
      watch_(watch),
      direction_(writes(work.operation) ? Direction::write : Direction::read),
      contiguous_(work.pattern->contiguous()),
      slots_(work.depth),
      done_(work.depth) {
  for (std::uint32_t slot = 0; slot < work.depth; ++slot) {
    slots_[slot].extents.resize(contiguous_ ? 1 : work.pattern->most_extents(work.place));
    free_.push_back(work.depth - 1 - slot);  // slot 0 goes first
  }
}

void QueuedTransfer::fetch(Slot& slot) {
  std::array<std::uint64_t, 1> number{};
  work_.order->fill(next_, number);
  slot.number = number[0];
  if (contiguous_) {
    work_.pattern->fill(work_.place, number, slot.extents);
    slot.count = 1;
  } else {
    slot.count = work_.pattern->fill_request(work_.place, slot.number, slot.extents);
  }
}

void QueuedTransfer::issue() {
  const std::uint32_t number = free_.back();
  Slot& slot = slots_[number];
  fetch(slot);
  const auto extents = extents_of(slot);
  if (direction_ == Direction::write && work_.written != nullptr) contents_.generate(extents, memory_of(number));
  if (direction_ == Direction::read && work_.examiner != nullptr) contents_.spoil(extents, memory_of(number));
  slot.begin = timer_.now();
  file_.submit(direction_, {extents, memory_of(number).data(), slot.number}, number);
  free_.pop_back();
  ++next_;
  if (work_.think_ns == 0) return;
  file_.send();
  contents_.think();
}

/// Waits for at least one request; the time at which those that are done were seen.
std::uint64_t QueuedTransfer::reap() {
  const std::size_t count = file_.complete(done_);
  const std::uint64_t end = timer_.now();
  for (const std::uint32_t number : std::span(done_).first(count)) {
    const Slot& slot = slots_[number];
    const auto extents = extents_of(slot);
    tally_.latency_ns.record(timer_.to_ns(end - slot.begin));
    tally_.bytes += bytes_of(extents);
    ++tally_.requests;
    if (direction_ == Direction::read && work_.examiner != nullptr) contents_.examine(extents, memory_of(number));
    free_.push_back(number);
  }
  return end;
}

Stop QueuedTransfer::run(std::uint64_t last, std::uint64_t deadline_ticks) {
  const std::uint64_t interval = timer_.from_ns(watch_interval_ns);
  std::uint64_t next_look = timer_.now() + interval;
  Stop stop = Stop::finished;
  while (true) {
    while (stop == Stop::finished && next_ < last && !free_.empty()) issue();
    if (free_.size() == slots_.size()) return stop;
    const std::uint64_t now = reap();
    if (stop != Stop::finished) continue;
    if (deadline_ticks != 0 && now >= deadline_ticks && next_ < last) stop = Stop::deadline;
    if (now < next_look) continue;
    if (!watch_.go_on(tally_)) stop = Stop::ended;
    next_look = now + interval;
  }
}

}  // namespace strider
