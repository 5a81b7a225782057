#include "operations/transfer.hpp"

#include <algorithm>
#include <array>
#include <exception>

namespace strider {
namespace {

constexpr std::uint64_t watch_interval_ns = 2'000'000;
constexpr std::uint64_t bytes_between_agreements = 16 << 20;
constexpr std::uint64_t most_calls_between_agreements = 64;

}  // namespace

std::uint64_t calls_between_agreements(const Work& work) {
  const std::uint64_t request_bytes = std::max<std::uint64_t>(1, work.pattern->request_bytes(work.place.ranks));
  const std::uint64_t calls =
      std::clamp<std::uint64_t>(bytes_between_agreements / request_bytes, 1, most_calls_between_agreements);
  // Nothing is in flight during an agreement; that is not to happen all the time.
  return work.depth == 1 ? calls : std::max<std::uint64_t>(calls, 4 * std::uint64_t{work.depth});
}

/// The next requests, up to number `last`; how many.
std::size_t Transfer::fetch(std::uint64_t first, std::uint64_t last) {
  const std::size_t count = contiguous_ ? std::min<std::uint64_t>(batch, last - first) : 1;
  const auto numbers = std::span(numbers_).first(count);
  work_.order->fill(first, numbers);
  if (contiguous_) {
    work_.pattern->fill(work_.place, numbers, std::span(list_).first(count));
  } else {
    list_size_ = work_.pattern->fill_request(work_.place, numbers[0], list_);
  }
  return count;
}

inline void Transfer::record(std::uint64_t end, std::uint64_t ticks, const Item& item) {
  if (end - ticks < work_.timing.ramp_ticks) [[unlikely]]
    return tally_.record_ramp(end, bytes_of(item.extents));
  const std::uint64_t latency = timer_.to_ns(due_ == 0 ? ticks : end - due_), bytes = bytes_of(item.extents);
  tally_.record(end, latency, bytes);
  if (work_.mixed != nullptr) [[unlikely]]
    work_.mixed->record(item.index, latency, bytes);
}

inline std::uint64_t Transfer::write_one(const Item& item) {
  if (work_.written != nullptr) contents_.generate(item.extents, work_.memory);
  const std::uint64_t begin = timer_.now();
  call_write({item.extents, work_.memory.data(), item.number});
  if (work_.sync == SyncPolicy::each) call_sync();
  const std::uint64_t end = timer_.now();
  record(end, end - begin, item);
  return end;
}

inline std::uint64_t Transfer::read_one(const Item& item) {
  // What another request has written from the same memory may be what is read.
  const auto memory = work_.mixed != nullptr ? Contents::Memory::used : Contents::Memory::spoilt;
  if (work_.expected.examiner != nullptr) contents_.prepare(item.index, item.extents, work_.memory, memory);
  if (work_.values != nullptr) work_.values->prepare(item.index, item.extents, work_.memory);
  const std::uint64_t begin = timer_.now();
  call_read({item.extents, work_.memory.data(), item.number});
  const std::uint64_t end = timer_.now();
  record(end, end - begin, item);
  if (work_.values != nullptr) work_.values->record(item.index, item.extents, work_.memory);
  if (work_.expected.examiner != nullptr) contents_.examine(item.index, item.extents, work_.memory);
  return end;
}

/// Read, change, write back: the latency is that of the read plus that of the write.
std::uint64_t Transfer::change_one(const Item& item) {
  if (work_.expected.examiner != nullptr)
    contents_.prepare(item.index, item.extents, work_.memory, Contents::Memory::used);
  const std::uint64_t read_begin = timer_.now();
  call_read({item.extents, work_.memory.data(), item.number});
  const std::uint64_t read_ticks = timer_.now() - read_begin;
  if (work_.expected.examiner != nullptr)
    contents_.examine(item.index, item.extents, work_.memory, FileData::Then::keep);
  if (work_.written != nullptr) contents_.generate(item.extents, work_.memory);
  else if (!item.extents.empty()) work_.memory[item.extents.front().memory_offset] ^= std::byte{0xff};
  const std::uint64_t begin = timer_.now();
  call_write({item.extents, work_.memory.data(), item.number});
  if (work_.sync == SyncPolicy::each) call_sync();
  const std::uint64_t end = timer_.now();
  record(end, end - begin + read_ticks, item);
  return end;
}

std::uint64_t Transfer::one(const Item& item) {
  const std::uint64_t end = work_.operation == Operation::read_modify_write ? change_one(item)
                            : work_.mixed != nullptr  ? (is_read(item.index) ? read_one(item) : write_one(item))
                            : writes(work_.operation) ? write_one(item)
                                                      : read_one(item);
  if (work_.timing.think_ns > 0) contents_.think();
  return end;
}

/// The calls to the file that each rank makes in a round of a collective transfer.
Transfer::Calls Transfer::calls_in_round() const {
  const bool mixed = work_.mixed != nullptr, is_read = mixed && this->is_read(next_);
  Calls calls;
  calls.reads = mixed ? is_read : reads(work_.operation);
  calls.writes = mixed ? !is_read : writes(work_.operation);
  calls.syncs = calls.writes && work_.sync == SyncPolicy::each;
  return calls;
}

void Transfer::call_empty(const Calls& calls) {
  const unsigned reading = calls.reads ? 1 : 0;
  if (calls_ < reading) call_read({});
  else if (calls_ == reading && calls.writes) call_write({});
  else call_sync();
}

template <typename Step>
Stop Transfer::run_steps(std::uint64_t last, std::uint64_t deadline_ticks, const Step& step) {
  const std::uint64_t interval = timer_.from_ns(watch_interval_ns);
  std::uint64_t next_look = timer_.now() + interval;
  if (deadline_ticks != 0) next_look = std::min(next_look, deadline_ticks);
  while (next_ < last) {
    const std::size_t count = fetch(next_, last);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t now = step(item(i));
      ++next_;
      if (now < next_look) [[likely]]
        continue;
      if (!watch_.go_on(tally_)) return Stop::ended;
      if (deadline_ticks != 0 && now >= deadline_ticks) return next_ < last ? Stop::deadline : Stop::finished;
      next_look = timer_.now() + interval;
      if (deadline_ticks != 0) next_look = std::min(next_look, deadline_ticks);
    }
  }
  return Stop::finished;
}

Stop Transfer::wait_for_turn(std::uint64_t deadline_ticks) {
  while (!work_.timing.pace->wait(watch_interval_ns)) {
    if (!watch_.go_on(tally_)) return Stop::ended;
    // One request at least, so that there is a rate, also where a rank's first turn comes after the deadline.
    if (deadline_ticks != 0 && timer_.now() >= deadline_ticks && work_.timing.pace->issued() > 0) return Stop::deadline;
  }
  return Stop::finished;
}

Stop Transfer::run_paced(std::uint64_t last, std::uint64_t deadline_ticks) {
  Pace& pace = *work_.timing.pace;
  const std::uint64_t interval = timer_.from_ns(watch_interval_ns);
  std::uint64_t next_look = timer_.now() + interval;
  while (next_ < last) {
    const std::size_t count = fetch(next_, last);
    for (std::size_t i = 0; i < count; ++i) {
      const Item request = item(i);
      if (const Stop stop = wait_for_turn(deadline_ticks); stop != Stop::finished) return stop;
      due_ = pace.open() ? pace.due() : 0;
      pace.issue(bytes_of(request.extents));
      const std::uint64_t now = one(request);
      ++next_;
      if (deadline_ticks != 0 && now >= deadline_ticks) return next_ < last ? Stop::deadline : Stop::finished;
      if (now < next_look) continue;
      if (!watch_.go_on(tally_)) return Stop::ended;
      next_look = timer_.now() + interval;
    }
  }
  // What was moved last takes its time of the limit as well.
  return pace.open() ? Stop::finished : wait_for_turn(deadline_ticks);
}

Stop Transfer::run(std::uint64_t last, std::uint64_t deadline_ticks) {
  if (work_.timing.pace != nullptr) return run_paced(last, deadline_ticks);
  if (work_.timing.think_ns > 0 || work_.mixed != nullptr)
    return run_steps(last, deadline_ticks, [this](const Item& item) { return one(item); });
  if (work_.operation == Operation::read_modify_write)
    return run_steps(last, deadline_ticks, [this](const Item& item) { return change_one(item); });
  if (reads(work_.operation))
    return run_steps(last, deadline_ticks, [this](const Item& item) { return read_one(item); });
  return run_steps(last, deadline_ticks, [this](const Item& item) { return write_one(item); });
}

Stop Transfer::run_collective(std::uint64_t mine, std::uint64_t rounds, std::uint64_t deadline_ticks,
                              Agreement& agreement) {
  const std::uint64_t interval = calls_between_agreements(work_);
  const auto attempt = [this](const auto& step) {
    try {
      step();
    } catch (const IoError&) {
      // The others are inside the same call or will be: join it without data until all agree to end.
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
  };
  bool ended = false;
  for (; next_ < rounds; ++next_) {
    if (next_ % interval == 0) {
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
    calls_ = 0;
    const Calls calls = calls_in_round();
    if (failure_ == nullptr && next_ < mine) {
      fetch(next_, next_ + 1);
      attempt([&] { one(item(0)); });
    }
    while (calls_ < calls.count()) attempt([&] { call_empty(calls); });
  }
  if (failure_ != nullptr && (next_ < rounds || !work_.timing.repeats)) std::rethrow_exception(failure_);
  return next_ < rounds ? Stop::ended : Stop::finished;
}

}  // namespace strider
