#include "operations/transfer.hpp"

#include <algorithm>
#include <array>
#include <exception>

namespace strider {
namespace {

constexpr std::uint64_t watch_interval_ns = 2'000'000;
/// Collective ranks agree about once in this many bytes, so that they stop together within seconds on slow storage.
constexpr std::uint64_t bytes_between_agreements = 16 << 20;
constexpr std::uint64_t most_calls_between_agreements = 64;

}  // namespace

struct Transfer::Batch {
  std::array<std::uint64_t, batch> numbers;
  std::array<Extent, batch> extents;
};

void Transfer::fetch(std::uint64_t first, std::size_t count, Batch& requests) const {
  work_.order->fill(first, std::span(requests.numbers).first(count));
  work_.pattern->fill(work_.place, std::span(requests.numbers).first(count), std::span(requests.extents).first(count));
}

inline void Transfer::record(std::uint64_t begin, std::uint64_t end, const Extent& extent) {
  tally_.latency_ns.record(timer_.to_ns(end - begin));
  tally_.bytes += extent.length;
  ++tally_.requests;
}

void Transfer::generate(const Extent& extent) {
  const std::uint64_t begin = timer_.now();
  work_.written->fill(work_.memory.subspan(extent.memory_offset, extent.length), extent.file_offset);
  tally_.prepare_ticks += timer_.now() - begin;
}

void Transfer::examine(const Extent& extent) {
  const std::uint64_t begin = timer_.now();
  work_.examiner->examine(work_.memory, extent);
  tally_.prepare_ticks += timer_.now() - begin;
}

inline std::uint64_t Transfer::write_one(const Extent& extent) {
  if (work_.written != nullptr) generate(extent);
  const std::uint64_t begin = timer_.now();
  call_write({{&extent, 1}, work_.memory.data()});
  if (work_.sync == SyncPolicy::each) call_sync();
  const std::uint64_t end = timer_.now();
  record(begin, end, extent);
  return end;
}

inline std::uint64_t Transfer::read_one(const Extent& extent) {
  const std::uint64_t begin = timer_.now();
  call_read({{&extent, 1}, work_.memory.data()});
  const std::uint64_t end = timer_.now();
  record(begin, end, extent);
  if (work_.examiner != nullptr) examine(extent);
  return end;
}

/// Read, change, write back: the latency is that of the read plus that of the write.
std::uint64_t Transfer::change_one(const Extent& extent) {
  const std::uint64_t read_begin = timer_.now();
  call_read({{&extent, 1}, work_.memory.data()});
  const std::uint64_t read_ticks = timer_.now() - read_begin;
  if (work_.examiner != nullptr) examine(extent);
  if (work_.written != nullptr) generate(extent);
  else work_.memory[extent.memory_offset] ^= std::byte{0xff};
  const std::uint64_t begin = timer_.now();
  call_write({{&extent, 1}, work_.memory.data()});
  if (work_.sync == SyncPolicy::each) call_sync();
  const std::uint64_t end = timer_.now();
  record(begin, end + read_ticks, extent);
  return end;
}

std::uint64_t Transfer::one(const Extent& extent) {
  if (work_.operation == Operation::read_modify_write) return change_one(extent);
  return writes(work_.operation) ? write_one(extent) : read_one(extent);
}

void Transfer::call_empty() {
  const unsigned reading = reads(work_.operation) ? 1 : 0;
  if (calls_ < reading) call_read({});
  else if (calls_ == reading && writes(work_.operation)) call_write({});
  else call_sync();
}

template <typename Step>
Stop Transfer::run_steps(std::uint64_t last, std::uint64_t deadline_ticks, const Step& step) {
  const std::uint64_t interval = timer_.from_ns(watch_interval_ns);
  std::uint64_t next_look = timer_.now() + interval;
  if (deadline_ticks != 0) next_look = std::min(next_look, deadline_ticks);
  Batch requests;
  while (next_ < last) {
    const std::size_t count = std::min<std::uint64_t>(batch, last - next_);
    fetch(next_, count, requests);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t now = step(requests.extents[i]);
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

Stop Transfer::run(std::uint64_t last, std::uint64_t deadline_ticks) {
  switch (work_.operation) {
    case Operation::read:
    case Operation::reread:
      return run_steps(last, deadline_ticks, [this](const Extent& extent) { return read_one(extent); });
    case Operation::read_modify_write:
      return run_steps(last, deadline_ticks, [this](const Extent& extent) { return change_one(extent); });
    case Operation::write:
    case Operation::rewrite:
    case Operation::prefill: break;
  }
  return run_steps(last, deadline_ticks, [this](const Extent& extent) { return write_one(extent); });
}

Stop Transfer::run_collective(std::uint64_t mine, std::uint64_t rounds, std::uint64_t deadline_ticks,
                              Agreement& agreement) {
  const std::uint64_t interval =
      std::clamp<std::uint64_t>(bytes_between_agreements / std::max<std::uint64_t>(1, work_.pattern->request_bytes()),
                                1, most_calls_between_agreements);
  const unsigned calls_in_round = (reads(work_.operation) ? 1U : 0U) + (writes(work_.operation) ? 1U : 0U) +
                                  (writes(work_.operation) && work_.sync == SyncPolicy::each ? 1U : 0U);
  std::exception_ptr failure;
  const auto attempt = [&failure](const auto& step) {
    try {
      step();
    } catch (const IoError&) {
      // The others are inside the same call or will be: keep them company until all agree to end.
      if (failure == nullptr) failure = std::current_exception();
    }
  };
  bool ended = false;
  Batch requests;
  for (; next_ < rounds; ++next_) {
    if (next_ % interval == 0) {
      ended = ended || !watch_.go_on(tally_);
      auto wish = Agreement::Wish::go_on;
      if (deadline_ticks != 0 && timer_.now() >= deadline_ticks) wish = Agreement::Wish::deadline;
      if (failure != nullptr || ended) wish = Agreement::Wish::end;
      wish = agreement.agree(wish);
      if (wish == Agreement::Wish::deadline) return Stop::deadline;
      if (wish == Agreement::Wish::end) break;
    }
    calls_ = 0;
    if (failure == nullptr && next_ < mine) {
      fetch(next_, 1, requests);
      attempt([&] { one(requests.extents[0]); });
    }
    while (calls_ < calls_in_round) attempt([&] { call_empty(); });
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  return next_ < rounds ? Stop::ended : Stop::finished;
}

}  // namespace strider
