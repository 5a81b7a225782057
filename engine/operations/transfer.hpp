#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "foundation/clock.hpp"
#include "foundation/pace.hpp"
#include "interfaces/interface.hpp"
#include "measure/histogram.hpp"
#include "measure/timeline.hpp"
#include "patterns/order.hpp"
#include "patterns/pattern.hpp"
#include "plan/draw.hpp"
#include "verify/examiner.hpp"
#include "verify/passes.hpp"
#include "verify/request_values.hpp"

namespace strider {

/// What one operation of a mix came to.
struct MixTally {
  explicit MixTally(Operation of) : operation(of) {}
  Operation operation;
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;  ///< of data; 0 for metadata
  Histogram latency_ns;
};

/// The two ways of read-write.
struct Mixed {
  explicit Mixed(const Draw& of) : draw(of) {}
  Draw draw;
  MixTally reads{Operation::read}, writes{Operation::write};

  void record(std::uint64_t index, std::uint64_t latency, std::uint64_t moved_bytes) {
    MixTally& tally = draw.reads(index) ? reads : writes;
    ++tally.requests;
    tally.bytes += moved_bytes;
    tally.latency_ns.record(latency);
  }
};

/// Data of requests that read-write has not written: of an older phase than the rest.
struct OlderData {
  Draw draw;
  std::uint64_t generation = 0;
  Passes left;  ///< by the phase that wrote it
};

/// What a rank does in a phase: its share of the pattern, in order, through an open file. No field has a default, so
/// that the compiler reports one that is left out.
struct Work {
  Operation operation;
  const Pattern* pattern;
  const Order* order;
  Place place;
  SyncPolicy sync;
  std::span<std::byte> memory;  ///< at least the pattern's request_bytes() for each request in flight
  std::uint32_t depth;          ///< requests in flight; each has an equal part of the memory
  const FileData* written;      ///< generate this data for each write; null: write what is in memory
  ValueRecorder* values;        ///< records values of each request that reads; null: none
  Mixed* mixed;                 ///< of read-write
  /// Data that reads must find.
  struct Expected {
    Examiner* examiner;        ///< check each read, into spoilt memory; null: do not look at what was read
    std::uint64_t generation;  ///< of the phase that wrote it
    Passes left;               ///< by this phase, in the same order
    const OlderData* older;    ///< data of its requests that read-write did not write; null: none
  } expected;
  struct Timing {
    Pace* pace;                ///< says when each request is due; null: as soon as it can be issued
    std::uint64_t think_ns;    ///< computing after each request is issued
    std::uint64_t ramp_ticks;  ///< requests that begin earlier are not counted
    bool repeats;              ///< after its last request the first one follows, until the time is over
  } timing;

  std::uint64_t slot_bytes() const { return memory.size() / depth; }
};

/// What a rank has done so far in a phase.
struct Tally {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  struct Uncounted {
    std::uint64_t requests = 0, bytes = 0;
  } ramp;
  std::uint64_t prepare_ticks = 0;  ///< generating and checking data
  std::uint64_t compute_ticks = 0;  ///< thinking between requests
  std::uint64_t written_end = 0;    ///< of the file's bytes for which data was generated
  Histogram latency_ns;
  Timeline timeline;

  std::uint64_t all_requests() const { return requests + ramp.requests; }
  Timeline::Totals totals() const { return {bytes + ramp.bytes, all_requests(), latency_ns.sum()}; }
  /// Counts a request that ended at `end_ticks`.
  void record(std::uint64_t end_ticks, std::uint64_t latency, std::uint64_t moved_bytes) {
    timeline.reach(end_ticks, totals());
    timeline.note(latency);
    latency_ns.record(latency);
    bytes += moved_bytes;
    ++requests;
  }
  /// The same for a request of the ramp.
  void record_ramp(std::uint64_t end_ticks, std::uint64_t moved_bytes) {
    timeline.reach(end_ticks, totals());
    ramp.bytes += moved_bytes;
    ++ramp.requests;
  }
};

/// The data of requests in memory: made before a write, checked after a read. `memory`: that of the request.
class Contents {
 public:
  Contents(const Work& work, const Timer& timer, Tally& tally) : work_(work), timer_(timer), tally_(tally) {}
  void generate(std::span<const Extent> extents, std::span<std::byte> memory) const;
  /// Makes what is in memory wrong, so that a read that transfers no data cannot pass for one that did.
  enum class Memory : std::uint8_t { spoilt, used };
  void prepare(std::uint64_t index, std::span<const Extent> extents, std::span<std::byte> memory,
               Memory state = Memory::spoilt) const;
  void examine(std::uint64_t index, std::span<const Extent> extents, std::span<std::byte> memory,
               FileData::Then then = FileData::Then::spoil) const;
  /// Computes for `work.timing.think_ns`.
  void think() const;

 private:
  void expect(std::uint64_t index) const;
  const Work& work_;
  const Timer& timer_;
  Tally& tally_;
};

enum class Stop { finished, deadline, ended };

/// Called every few milliseconds with the progress of a transfer.
class Watch {
 public:
  virtual ~Watch() = default;
  /// False ends the phase here.
  virtual bool go_on(const Tally& tally) = 0;
};

/// What the ranks of a collective transfer agree on at intervals: no rank may leave a collective early.
class Agreement {
 public:
  virtual ~Agreement() = default;
  enum class Vote { go_on, deadline, end };
  /// The most severe vote of any rank of the file.
  virtual Vote agree(Vote mine) = 0;
};

/// Calls of a collective transfer from one agreement to the next: about once in 16 MiB, so that ranks stop together
/// within seconds on slow storage, and never in more than 64 calls or, with requests in flight, less than four times as
/// many.
std::uint64_t calls_between_agreements(const Work& work);

/// Moves the bytes of one phase. No allocation, no lock, no formatting in its loops.
class Transfer {
 public:
  Transfer(const Work& work, File& file, const Timer& timer, Tally& tally, Watch& watch)
      : work_(work),
        contents_(work, timer, tally),
        file_(file),
        timer_(timer),
        tally_(tally),
        watch_(watch),
        list_(std::max<std::uint64_t>(batch, work.pattern->most_extents(work.place))),
        contiguous_(work.pattern->contiguous()) {}

  /// Issues requests up to number `last`, from where the last call left off. `deadline_ticks`: 0 for none. Throws
  /// IoError.
  Stop run(std::uint64_t last, std::uint64_t deadline_ticks);
  /// The same for collective transfers: `rounds` calls on every rank, those beyond this rank's `mine` requests empty.
  /// An error of this rank is thrown only after the others have agreed to end as well; where requests repeat, that may
  /// be in the next pass.
  Stop run_collective(std::uint64_t mine, std::uint64_t rounds, std::uint64_t deadline_ticks, Agreement& agreement);
  /// The next request is the first one again.
  void rewind() { next_ = 0, rewound_ = true; }

 private:
  /// A request to be executed.
  struct Item {
    std::uint64_t number;
    std::uint64_t index;
    std::span<const Extent> extents;
  };

  std::size_t fetch(std::uint64_t first, std::uint64_t last);
  Item item(std::size_t i) const {
    const Extent* begin = list_.data() + (contiguous_ ? i : 0);
    return {numbers_[i], next_, {begin, list_size_}};
  }
  template <typename Step>
  Stop run_steps(std::uint64_t last, std::uint64_t deadline_ticks, const Step& step);
  Stop run_paced(std::uint64_t last, std::uint64_t deadline_ticks);
  /// Until the next request is due; `finished`: it is.
  Stop wait_for_turn(std::uint64_t deadline_ticks);
  /// Executes a request; returns the time at which it was done.
  std::uint64_t write_one(const Item& item);
  std::uint64_t read_one(const Item& item);
  std::uint64_t change_one(const Item& item);
  std::uint64_t one(const Item& item);
  bool is_read(std::uint64_t index) const { return work_.mixed->draw.reads(index); }
  /// Calls to the file, counted: a collective round that an error cuts short has to be completed.
  void call_read(const Request& request) { ++calls_, file_.read(request); }
  void call_write(const Request& request) { ++calls_, file_.write(request); }
  void call_sync() { ++calls_, file_.sync(); }
  struct Calls {
    bool reads = false, writes = false, syncs = false;
    unsigned count() const { return unsigned{reads} + unsigned{writes} + unsigned{syncs}; }
  };
  Calls calls_in_round() const;
  /// Takes part in the next call of a collective round, without data.
  void call_empty(const Calls& calls);
  /// `ticks`: how long the request took.
  void record(std::uint64_t end, std::uint64_t ticks, const Item& item);

  static constexpr std::size_t batch = 64;
  const Work& work_;
  Contents contents_;
  File& file_;
  const Timer& timer_;
  Tally& tally_;
  Watch& watch_;
  std::uint64_t next_ = 0;
  bool rewound_ = false;
  std::uint64_t due_ = 0;       ///< when the current request came, in open loop
  unsigned calls_ = 0;          ///< made in this round
  std::exception_ptr failure_;  ///< of a collective transfer
  std::array<std::uint64_t, batch> numbers_{};
  std::vector<Extent> list_;   ///< of contiguous requests one each, otherwise those of one request
  std::size_t list_size_ = 1;  ///< extents of a request
  bool contiguous_;
};

}  // namespace strider
