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
      contiguous_(work.pattern->contiguous()),
      slot_bytes_(work.slot_bytes()),
      slots_(work.depth),
      done_(work.depth) {
  for (Slot& slot : slots_) slot.extents.resize(contiguous_ ? 1 : work.pattern->most_extents(work.place));
  free_all();
}

void QueuedTransfer::fetch(Slot& slot) {
  std::array<std::uint64_t, 1> number{};
  work_.order->fill(next_, number);
  slot.number = number[0];
  slot.index = next_;
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
  slot.empty = false;
  fetch(slot);
  const auto extents = extents_of(slot);
  const Direction direction = direction_of(next_);
  if (direction == Direction::write && work_.written != nullptr) contents_.generate(extents, memory_of(number));
  // What another request has written from the same memory may be what is read.
  const auto memory = work_.mixed != nullptr ? Contents::Memory::used : Contents::Memory::spoilt;
  if (direction == Direction::read && work_.expected.examiner != nullptr)
    contents_.prepare(slot.index, extents, memory_of(number), memory);
  if (direction == Direction::read && work_.values != nullptr)
    work_.values->prepare(slot.index, extents, memory_of(number));
  slot.begin = work_.timing.pace != nullptr && work_.timing.pace->open() ? work_.timing.pace->due() : timer_.now();
  if (work_.timing.pace != nullptr) work_.timing.pace->issue(bytes_of(extents));
  file_.submit(direction, {extents, memory_of(number).data(), slot.number}, number);
  free_.pop_back();
  ++next_;
  if (work_.timing.think_ns == 0) return;
  file_.send();
  contents_.think();
}

void QueuedTransfer::issue_empty() {
  const std::uint32_t number = free_.back();
  slots_[number].empty = true;
  file_.submit(direction_of(next_), {}, number);
  free_.pop_back();
  ++next_;
}

/// Waits for at least one request; the time at which those that are done were seen.
std::uint64_t QueuedTransfer::reap() { return take(file_.complete(done_)); }

void QueuedTransfer::record(const Slot& slot, std::uint64_t end) {
  const std::uint64_t bytes = bytes_of(extents_of(slot));
  if (slot.begin < work_.timing.ramp_ticks) return tally_.record_ramp(end, bytes);
  const std::uint64_t latency = timer_.to_ns(end - slot.begin);
  tally_.record(end, latency, bytes);
  if (work_.mixed != nullptr) work_.mixed->record(slot.index, latency, bytes);
}

/// Books the first `count` requests of those that are done.
std::uint64_t QueuedTransfer::take(std::size_t count) {
  const std::uint64_t end = timer_.now();
  for (const std::uint32_t number : std::span(done_).first(count)) {
    const Slot& slot = slots_[number];
    free_.push_back(number);
    if (slot.empty) continue;
    const auto extents = extents_of(slot);
    record(slot, end);
    if (work_.values != nullptr && direction_of(slot.index) == Direction::read)
      work_.values->record(slot.index, extents, memory_of(number));
    if (direction_of(slot.index) == Direction::read && work_.expected.examiner != nullptr)
      contents_.examine(slot.index, extents, memory_of(number));
  }
  return end;
}

std::uint64_t QueuedTransfer::await() {
  constexpr std::uint64_t wake_up_ns = 80'000;  // a wait ends late by about this much: what is left is spent looking
  if (free_.size() == slots_.size()) {
    work_.timing.pace->wait(watch_interval_ns);
    return timer_.now();
  }
  const std::uint64_t now = timer_.now(), due = work_.timing.pace->due();
  const std::uint64_t left_ns = due > now ? timer_.to_ns(due - now) : 0;
  return take(file_.complete_within(
      done_, left_ns > wake_up_ns ? std::min(left_ns - wake_up_ns, watch_interval_ns) : std::uint64_t{0}));
}

Stop QueuedTransfer::run_paced(std::uint64_t last, std::uint64_t deadline_ticks) {
  Pace& pace = *work_.timing.pace;
  const std::uint64_t interval = timer_.from_ns(watch_interval_ns);
  std::uint64_t next_look = timer_.now() + interval;
  Stop stop = Stop::finished;
  bool late = false;  // by the deadline
  while (true) {
    bool issued = false;
    for (; stop == Stop::finished && next_ < last && !free_.empty() && pace.is_due(); issued = true) issue();
    if (issued) file_.send();
    const bool idle = free_.size() == slots_.size(), ends = stop != Stop::finished || next_ == last;
    // What was moved last takes its time of the limit as well.
    if (idle && ends && (stop != Stop::finished || pace.open() || pace.is_due() || late)) return stop;
    const std::uint64_t now = !idle && (ends || free_.empty()) ? reap() : await();
    if (stop != Stop::finished) continue;
    late = deadline_ticks != 0 && now >= deadline_ticks;
    // One request at least, so that there is a rate, also where a rank's first turn comes after the deadline.
    if (late && next_ < last && pace.issued() > 0) stop = Stop::deadline;
    if (now < next_look) continue;
    if (!watch_.go_on(tally_)) stop = Stop::ended;
    next_look = timer_.now() + interval;
  }
}

Stop QueuedTransfer::run(std::uint64_t last, std::uint64_t deadline_ticks) {
  if (work_.timing.pace != nullptr) return run_paced(last, deadline_ticks);
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

/// Nothing is in flight any more.
void QueuedTransfer::free_all() {
  free_.clear();
  lost_ = 0;
  for (std::size_t slot = slots_.size(); slot > 0; --slot)
    free_.push_back(static_cast<std::uint32_t>(slot - 1));  // slot 0 goes first
}

/// Makes the slot the next one that is taken, if it is free.
bool QueuedTransfer::choose(std::uint32_t slot) {
  const auto found = std::ranges::find(free_, slot);
  if (found == free_.end()) return false;
  std::iter_swap(found, free_.end() - 1);
  return true;
}

/// Hands over the next request. One that is refused takes its slot nevertheless, so that all ranks wait equally often.
void QueuedTransfer::take_turn(bool has_data) {
  const std::uint64_t turn = next_;
  try {
    has_data ? issue() : issue_empty();
  } catch (const IoError&) {
    if (failure_ == nullptr) failure_ = std::current_exception();
    if (next_ != turn) return;
    free_.pop_back();
    ++lost_;
    ++next_;
  }
}

void QueuedTransfer::wait_once() {
  try {
    reap();
  } catch (const IoError&) {
    // The others are inside the same call or will be: join it without data until all agree to end.
    if (failure_ == nullptr) failure_ = std::current_exception();
    return free_all();
  }
  if (free_.size() + lost_ == slots_.size()) free_all();
}

Stop QueuedTransfer::run_collective(std::uint64_t mine, std::uint64_t rounds, std::uint64_t deadline_ticks,
                                    Agreement& agreement) {
  const std::uint64_t interval = calls_between_agreements(work_);
  bool ended = false;
  while (next_ < rounds) {
    if (next_ % interval == 0) {
      // What is in flight makes progress only while every rank is inside the file's calls.
      while (free_.size() < slots_.size()) wait_once();
      ended = ended || !watch_.go_on(tally_);
      auto vote = Agreement::Vote::go_on;
      // One round at least, so that there is a rate.
      const bool begun = rewound_ || next_ > 0;
      if (begun && deadline_ticks != 0 && timer_.now() >= deadline_ticks) vote = Agreement::Vote::deadline;
      if (failure_ != nullptr || ended) vote = Agreement::Vote::end;
      vote = agreement.agree(vote);
      if (vote == Agreement::Vote::deadline) return Stop::deadline;
      if (vote == Agreement::Vote::end) break;
    }
    while (!choose(static_cast<std::uint32_t>(next_ % slots_.size()))) wait_once();
    take_turn(failure_ == nullptr && next_ < mine);
  }
  while (free_.size() < slots_.size()) wait_once();
  if (failure_ != nullptr && (next_ < rounds || !work_.timing.repeats)) std::rethrow_exception(failure_);
  return next_ < rounds ? Stop::ended : Stop::finished;
}

}  // namespace strider
