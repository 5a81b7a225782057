#include "listio/mpi/collective.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "listio/mpi/parcels.hpp"

namespace strider::listio::mpi {
namespace {

/// Which ranks aggregate, and which strips of the file each of them serves in which round.
class Deal {
 public:
  Deal(const OpenFile& file, const std::vector<Part>& parts)
      : ranks_(file.ranks->count()),
        aggregators_(aggregators_of(file.hints, file.file.striping, ranks_)),
        strip_bytes_(static_cast<std::int64_t>(file.file.striping.strip_bytes())) {
    std::int64_t low = 0;
    bool found = false;
    for (const Part& part : parts) {
      if (part.bytes == 0) continue;
      low = found ? std::min(low, part.low) : part.low;
      end_ = std::max(end_, part.high);
      found = true;
    }
    const std::int64_t turn = strip_bytes_ * aggregators_;
    round_bytes_ = std::max(turn, file.hints.buffer_bytes * aggregators_ / turn * turn);
    begin_ = low / turn * turn;
  }

  std::int64_t rounds() const { return end_ <= begin_ ? 0 : (end_ - begin_ + round_bytes_ - 1) / round_bytes_; }
  /// The byte behind a round's last one.
  std::int64_t end_of(std::int64_t round) const { return begin_ + (round + 1) * round_bytes_; }
  int aggregators() const { return aggregators_; }
  int rank_of(int aggregator) const {
    return static_cast<int>(static_cast<std::int64_t>(aggregator) * ranks_ / aggregators_);
  }
  /// With as many aggregators as servers, the strips of one are contiguous in the data file of a server.
  int aggregator_of(std::int64_t offset) const { return static_cast<int>(offset / strip_bytes_ % aggregators_); }
  /// Bytes from `offset` on that one aggregator serves.
  std::int64_t rest_at(std::int64_t offset) const {
    return aggregators_ == 1 ? end_ - offset : strip_bytes_ - offset % strip_bytes_;
  }

 private:
  int ranks_, aggregators_;
  std::int64_t strip_bytes_, round_bytes_ = 0, begin_ = 0, end_ = 0;
};

struct Segment {
  std::byte* memory = nullptr;
  ByteRun run;
};

/// The bytes of a task, in order, in segments that are contiguous on both sides.
class Segments {
 public:
  explicit Segments(const Task& task)
      : walk_(*task.view, task.position, task.memory, *task.memory_type, task.count, most_pieces) {}

  /// The next one below `end` of the file, cut where the aggregator changes.
  bool next(const Deal& deal, std::int64_t end, Segment& segment) {
    if (left_ == 0 && !refill()) return false;
    const ByteRun& run = batch_.runs[run_];
    const iovec& piece = batch_.memory[piece_];
    const auto offset = static_cast<std::int64_t>(run.offset + in_run_);
    if (offset >= end) return false;
    const auto length = static_cast<std::uint64_t>(
        std::min({static_cast<std::int64_t>(std::min(run.length - in_run_, piece.iov_len - in_piece_)), end - offset,
                  deal.rest_at(offset)}));
    segment = {static_cast<std::byte*>(piece.iov_base) + in_piece_, {static_cast<std::uint64_t>(offset), length}};
    advance(length);
    return true;
  }

 private:
  static constexpr std::size_t most_pieces = 4096;

  bool refill() {
    if (!walk_.next(batch_)) return false;
    run_ = piece_ = 0;
    in_run_ = in_piece_ = 0;
    left_ = batch_.bytes;
    return true;
  }
  void advance(std::uint64_t length) {
    left_ -= static_cast<std::int64_t>(length);
    in_run_ += length;
    in_piece_ += length;
    if (in_run_ == batch_.runs[run_].length) ++run_, in_run_ = 0;
    if (in_piece_ == batch_.memory[piece_].iov_len) ++piece_, in_piece_ = 0;
  }

  Walk walk_;
  Batch batch_;
  std::size_t run_ = 0, piece_ = 0;
  std::uint64_t in_run_ = 0, in_piece_ = 0;
  std::int64_t left_ = 0;
};

std::vector<std::vector<ByteRun>> runs_of(const std::vector<Parcel>& parcels) {
  std::vector<std::vector<ByteRun>> lists;
  lists.reserve(parcels.size());
  for (const Parcel& parcel : parcels) lists.push_back(RunParcel::unpack(parcel.bytes));
  return lists;
}

/// A collective call on one rank.
class TwoPhase {
 public:
  TwoPhase(OpenFile& file, const Meeting& meeting)
      : file_(file), task_(meeting.task), deal_(file, meeting.parts), segments_(task_) {}

  Outcome run(std::int64_t& moved) {
    const Outcome together = outcome_of([&] {
      for (std::int64_t round = 0; round < deal_.rounds(); ++round) {
        if (task_.direction == Direction::write) write_round(deal_.end_of(round));
        else read_round(deal_.end_of(round));
      }
    });
    finish_writing();
    outcome_.add(together);
    if (!outcome_.failed() && !meets_end_) moved = task_.bytes;
    if (!outcome_.failed() && meets_end_) outcome_ = outcome_of([&] { moved = task_.bytes_before(file_.size()); });
    return outcome_;
  }

 private:
  struct Written {
    Client::Ticket ticket;
    Bytes bytes;
  };

  /// The data of this rank for each aggregator below `end`. With `segments`: its place in memory.
  std::vector<Parcel> parcels_below(std::int64_t end, std::vector<std::vector<Segment>>* segments) {
    std::vector<RunParcel> parcels(static_cast<std::size_t>(deal_.aggregators()));
    Segment segment;
    while (segments_.next(deal_, end, segment)) {
      const auto aggregator =
          static_cast<std::size_t>(deal_.aggregator_of(static_cast<std::int64_t>(segment.run.offset)));
      parcels[aggregator].add(segment.run);
      if (segments != nullptr) (*segments)[aggregator].push_back(segment);
      else parcels[aggregator].add_data(segment.memory, segment.run.length);
    }
    std::vector<Parcel> packed;
    for (std::size_t i = 0; i < parcels.size(); ++i)
      if (!parcels[i].empty()) packed.push_back({deal_.rank_of(static_cast<int>(i)), parcels[i].pack()});
    return packed;
  }

  void write_round(std::int64_t end) {
    const std::vector<Parcel> received = file_.ranks->exchange(parcels_below(end, nullptr));
    // The list before has moved meanwhile.
    finish_writing();
    if (received.empty() || outcome_.failed()) return;
    const auto lists = runs_of(received);
    const RunUnion all(lists);
    Bytes bytes(all.bytes());
    for (std::size_t i = 0; i < received.size(); ++i) {
      const std::byte* from = received[i].bytes.data();
      all.for_each_place(lists[i], [&](std::uint64_t place, std::uint64_t length) {
        std::memcpy(bytes.data() + place, from, length);
        from += length;
      });
    }
    const iovec piece{bytes.data(), bytes.size()};
    outcome_.add(outcome_of([&] {
      const auto ticket = file_.connection->use([&](Client& client) {
        client.choose(task_.method, task_.threshold_bytes);
        return client.start_write_list(file_.file, {&piece, 1}, all.runs());
      });
      written_.emplace(Written{ticket, std::move(bytes)});
    }));
  }

  void finish_writing() {
    if (!written_) return;
    outcome_.add(outcome_of([&] { file_.connection->use([&](Client& client) { client.wait(written_->ticket); }); }));
    written_.reset();
  }

  /// The bytes of all runs; whether all of them lie before the end of the file.
  bool read(const RunUnion& all, Bytes& bytes) {
    const iovec piece{bytes.data(), bytes.size()};
    return file_.connection->use([&](Client& client) {
      client.choose(task_.method, task_.threshold_bytes);
      return client.read_list(file_.file, {&piece, 1}, all.runs()) == all.bytes();
    });
  }

  /// To each rank its bytes, where the file ends if that is before the last of them, and whether all are there, or
  /// the failure.
  std::vector<Parcel> answers(const std::vector<Parcel>& requests) {
    if (requests.empty()) return {};
    const auto lists = runs_of(requests);
    const RunUnion all(lists);
    Bytes bytes(all.bytes());
    auto state = std::byte{whole};
    std::int64_t file_bytes = std::numeric_limits<std::int64_t>::max();
    if (outcome_.failed()) state = std::byte{failed};
    const Outcome reading = outcome_of([&] {
      if (outcome_.failed() || read(all, bytes)) return;
      file_bytes = file_.size();
      state = std::byte{short_of_end};
    });
    if (reading.failed()) state = std::byte{failed};
    outcome_.add(reading);
    std::vector<Parcel> answers;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      Parcel& answer = answers.emplace_back(Parcel{requests[i].rank, {}});
      if (state != std::byte{failed})
        all.for_each_place(lists[i], [&](std::uint64_t place, std::uint64_t length) {
          answer.bytes.append(bytes.data() + place, length);
        });
      answer.bytes.append(reinterpret_cast<const std::byte*>(&file_bytes), sizeof file_bytes);
      answer.bytes.append(&state, 1);
    }
    return answers;
  }

  void read_round(std::int64_t end) {
    std::vector<std::vector<Segment>> segments(static_cast<std::size_t>(deal_.aggregators()));
    const std::vector<Parcel> requests = file_.ranks->exchange(parcels_below(end, &segments));
    const std::vector<Parcel> received = file_.ranks->exchange(answers(requests));
    for (const Parcel& parcel : received) {
      const std::byte state = parcel.bytes.data()[parcel.bytes.size() - 1];
      meets_end_ |= state == std::byte{short_of_end};
      if (state == std::byte{failed}) {
        outcome_.add({MPI_ERR_IO, "the rank that reads for this one failed"});
        continue;
      }
      const std::byte* from = parcel.bytes.data();
      std::int64_t file_bytes = 0;
      std::memcpy(&file_bytes, from + parcel.bytes.size() - 1 - sizeof file_bytes, sizeof file_bytes);
      for (int aggregator = 0; aggregator < deal_.aggregators(); ++aggregator) {
        if (deal_.rank_of(aggregator) != parcel.rank) continue;
        for (const Segment& segment : segments[static_cast<std::size_t>(aggregator)]) {
          // Memory for bytes beyond the end stays as it is.
          const std::int64_t there = file_bytes - static_cast<std::int64_t>(segment.run.offset);
          if (there > 0)
            std::memcpy(segment.memory, from, std::min(segment.run.length, static_cast<std::uint64_t>(there)));
          from += segment.run.length;
        }
      }
    }
  }

  enum State : unsigned char { whole, short_of_end, failed };

  OpenFile& file_;
  Task task_;
  Deal deal_;
  Segments segments_;
  std::optional<Written> written_;
  bool meets_end_ = false;
  Outcome outcome_;
};

}  // namespace

Outcome move_together(OpenFile& file, const Meeting& meeting, std::int64_t& moved) {
  return TwoPhase(file, meeting).run(moved);
}

bool aggregates(Aggregation hint, Direction direction, const std::vector<Part>& parts) {
  // In bytes, measured with 4 ranks on one host: lists of longer runs are as fast without the way over other ranks.
  const std::int64_t short_run = direction == Direction::write ? 4096 : 1024;
  constexpr std::int64_t sparse = 16;  // times the bytes that are moved
  std::int64_t bytes = 0, runs = 0, low = 0, high = 0, spans = 0;
  for (const Part& part : parts) {
    if (part.bytes == 0) continue;
    low = bytes == 0 ? part.low : std::min(low, part.low);
    high = std::max(high, part.high);
    spans += part.high - part.low;
    bytes += part.bytes;
    runs += part.runs;
  }
  // Rounds take time even where there is nothing to be done in them.
  if (bytes == 0 || (high - low) / bytes >= sparse) return false;
  const bool interleaved = spans > high - low;
  return hint == Aggregation::always || (interleaved && bytes / runs < short_run);
}

}  // namespace strider::listio::mpi
