#pragma once
#include <cstdint>
#include <exception>
#include <vector>

#include "operations/transfer.hpp"

namespace strider {

/// Moves the bytes of one phase with several requests in flight. A request's latency is from when it is handed over to
/// when its completion is seen. No allocation, no lock, no formatting in its loop.
class QueuedTransfer {
 public:
  QueuedTransfer(const Work& work, QueuedFile& file, const Timer& timer, Tally& tally, Watch& watch);

  /// Issues requests up to number `last`, from where the last call left off, and waits for all of them.
  /// `deadline_ticks`: 0 for none. Throws IoError.
  Stop run(std::uint64_t last, std::uint64_t deadline_ticks);
  /// The same for collective transfers: every rank hands over `rounds` requests, those beyond this rank's `mine`
  /// without data, in the same slots in turn, and waits when a slot is still taken and before each agreement. An error
  /// of this rank is thrown only after the others have agreed to end as well.
  Stop run_collective(std::uint64_t mine, std::uint64_t rounds, std::uint64_t deadline_ticks, Agreement& agreement);
  /// The next request is the first one again. Nothing is in flight, so that no request overtakes the same one of the
  /// pass before.
  void rewind() { next_ = 0, rewound_ = true; }

 private:
  /// A request in flight.
  struct Slot {
    std::vector<Extent> extents;
    std::size_t count = 0;
    std::uint64_t number = 0;
    std::uint64_t index = 0;
    std::uint64_t begin = 0;  ///< in timer ticks
    bool empty = false;       ///< only joins a collective, without data
  };

  Direction direction_of(std::uint64_t index) const {
    const bool reading = work_.mixed != nullptr ? work_.mixed->draw.reads(index) : !writes(work_.operation);
    return reading ? Direction::read : Direction::write;
  }
  void fetch(Slot& slot);
  Stop run_paced(std::uint64_t last, std::uint64_t deadline_ticks);
  /// With requests in flight or none, and the next one not due yet: waits a little for what comes first.
  std::uint64_t await();
  void issue();
  void issue_empty();
  std::uint64_t reap();
  std::uint64_t take(std::size_t count);
  /// `end`: when the request was seen to be done, in timer ticks.
  void record(const Slot& slot, std::uint64_t end);
  bool choose(std::uint32_t slot);
  void take_turn(bool has_data);
  void wait_once();
  void free_all();
  std::span<std::byte> memory_of(std::uint32_t slot) const {
    return work_.memory.subspan(slot * slot_bytes_, slot_bytes_);
  }
  std::span<const Extent> extents_of(const Slot& slot) const { return {slot.extents.data(), slot.count}; }

  static constexpr std::uint64_t watch_interval_ns = 2'000'000;
  const Work& work_;
  Contents contents_;
  QueuedFile& file_;
  const Timer& timer_;
  Tally& tally_;
  Watch& watch_;
  bool contiguous_;
  std::uint64_t slot_bytes_;
  std::uint64_t next_ = 0;
  bool rewound_ = false;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_, done_;
  std::size_t lost_ = 0;        ///< slots of collective requests that were refused, until their turn to be waited for
  std::exception_ptr failure_;  ///< of a collective transfer
};

}  // namespace strider
