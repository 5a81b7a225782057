#include "listio/client/transfers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "foundation/error.hpp"
#include "listio/layout/pieces.hpp"

namespace strider::listio {
namespace {

/// How many bytes of the runs lie before `end`.
std::uint64_t bytes_before(std::uint64_t end, std::span<const ByteRun> runs) {
  std::uint64_t bytes = 0;
  for (const ByteRun& run : runs)
    if (run.offset < end) bytes += std::min(run.length, end - run.offset);
  return bytes;
}

/// `length` bytes of `before` from `offset` on, which is the place in the pieces too.
void put_back(std::span<const iovec> pieces, std::span<const std::byte> before, std::uint64_t offset,
              std::uint64_t length) {
  std::uint64_t begin = 0;  // of the piece
  for (const iovec& piece : pieces) {
    const std::uint64_t from = std::max(offset, begin), to = std::min(offset + length, begin + piece.iov_len);
    if (from < to) std::memcpy(static_cast<std::byte*>(piece.iov_base) + (from - begin), &before[from], to - from);
    begin += piece.iov_len;
  }
}

}  // namespace

Transfers::Ticket Transfers::start(Direction direction, const File& file, std::span<const iovec> memory,
                                   std::span<const ByteRun> runs) {
  Transfer transfer{{}, direction, file, {}, direction == Direction::write};
  if (!copies_.repeats()) {
    transfer.operation = driver_.prepare(direction, file, memory, runs, driver_.patience());
    if (direction == Direction::read) transfer.runs.assign(runs.begin(), runs.end());
    return start(std::move(transfer));
  }
  transfer.runs.assign(runs.begin(), runs.end());
  transfer.memory.assign(memory.begin(), memory.end());
  begin(transfer, copies_.begin(), false);
  transfers_.emplace(next_, std::move(transfer));
  return next_++;
}

Transfers::Ticket Transfers::start(const File& file, Locks::Asked asked) {
  Transfer transfer{std::move(asked.operation), Direction::write, file};
  transfer.done = std::move(asked.granted);
  return start(std::move(transfer));
}

Transfers::Ticket Transfers::start(Transfer transfer) {
  driver_.start(*transfer.operation);
  transfers_.emplace(next_, std::move(transfer));
  return next_++;
}

/// Of two copies: in a view that holds now. `is_repeated`: for another time, see `complete`.
void Transfers::begin(Transfer& transfer, const Deadline& deadline, bool is_repeated) {
  const char* const what = transfer.direction == Direction::write ? "write_list" : "read_list";
  const Places places = [&](std::uint32_t server) {
    return transfer.direction == Direction::write ? copies_.to_change(server)
                                                  : copies_.to_read(server, transfer.damaged);
  };
  for (;; is_repeated = true) {
    copies_.renew(what, transfer.file.path, deadline);
    transfer.view = copies_.view().number;
    try {
      transfer.operation = driver_.prepare(transfer.direction, transfer.file, transfer.memory, transfer.runs,
                                           copies_.patience_of_attempt(deadline), places);
      transfer.operation->last = std::max(deadline, transfer.operation->deadline);
      if (is_repeated) locks_.require(what, transfer.file);  // after `prepare`, which connects again
      return driver_.start(*transfer.operation);
    } catch (const IoError& error) {
      if (!copies_.is_for_another_attempt(error.details().error_number)) throw;
      copies_.report_lost(error, what, transfer.file.path, deadline);
    }
  }
}

/// Does it again until it was done in a view that held, or cannot be done.
void Transfers::complete(Transfer& transfer) {
  if (!copies_.repeats() || transfer.memory.empty()) return driver_.finish(*transfer.operation);
  Deadline deadline = copies_.begin();
  bool is_first = true;
  const std::string what = transfer.operation->what;
  for (;; transfer.changes_file = transfer.direction == Direction::write, begin(transfer, deadline, true)) try {
      driver_.finish(*transfer.operation);
      copies_.settle();
      deadline = copies_.begin();
      if (copies_.still_holds(transfer.view, what.c_str(), transfer.file.path, deadline)) return;
    } catch (const IoError& error) {
      const int number = error.details().error_number;
      if (!may_repeat(transfer, number)) throw;
      // From the first loss on: it may have moved data for longer than that.
      if (std::exchange(is_first, false))
        deadline = std::max(deadline, transfer.operation->progressed + driver_.patience());
      if (number != EIO) copies_.report_lost(error, what.c_str(), transfer.file.path, deadline);
    }
}

/// Damaged data are read from the other copy.
bool Transfers::may_repeat(Transfer& transfer, int error_number) const {
  if (transfer.direction == Direction::read && transfer.damaged.add(*transfer.operation)) return true;
  return copies_.is_for_another_attempt(error_number);
}

/// What servers have done counts for the next sync, once.
void Transfers::remember(Transfer& transfer) {
  if (std::exchange(transfer.changes_file, false)) unsynced_.changed(transfer.file.id, *transfer.operation);
}

bool Transfers::is_done(Ticket ticket) {
  Transfer& transfer = transfer_of(ticket);
  const bool is_done = driver_.poll(*transfer.operation);
  if (is_done && !transfer.operation->error) remember(transfer);
  return is_done;
}

std::uint64_t Transfers::finish(Ticket ticket, const std::function<std::uint64_t(const File&)>& size_of) {
  Transfer& transfer = transfer_of(ticket);
  try {
    complete(transfer);
    remember(transfer);
    transfer.done();
    std::uint64_t bytes = 0;
    bool is_beyond_end = false;
    for (const Call& call : transfer.operation->calls) {
      const bool is_other_copy = call.target.copy == DataCopy::second && !call.target.alone;
      if (transfer.direction == Direction::read || !is_other_copy) bytes += call.bytes;
      is_beyond_end |= transfer.direction == Direction::read && !call.reply.empty();
    }
    if (is_beyond_end) {
      const std::uint64_t end = size_of(transfer.file);
      bytes = bytes_before(end, transfer.runs);
      restore_beyond(end, transfer);
    }
    transfers_.erase(ticket);
    return bytes;
  } catch (...) {
    driver_.abandon(*transfer.operation);
    transfers_.erase(ticket);
    throw;
  }
}

/// Leaves memory as it was where the file has no bytes for it.
void Transfers::restore_beyond(std::uint64_t end, const Transfer& transfer) const {
  for (const Call& call : transfer.operation->calls) {
    if (call.before.empty()) continue;
    std::vector<Extent> parts;
    std::uint64_t done = 0;
    for (const ByteRun& run : std::get<ReadRequest>(call.request).runs) {
      parts.push_back({run.offset, done, run.length});
      done += run.length;
    }
    const bool is_second = call.target.copy == DataCopy::second;
    const std::uint32_t server = is_second ? previous_server(call.server, driver_.servers()) : call.server;
    const auto pieces = std::span(transfer.operation->pieces).subspan(call.first_piece, call.pieces);
    for (const Extent& part : collect(transfer.file.striping, server, parts)) {
      const std::uint64_t there = std::min(part.length, end - std::min(end, part.file_offset));
      put_back(pieces, call.before, part.memory_offset + there, part.length - there);
    }
  }
}

Transfers::Found Transfers::find(Ticket ticket) {
  const Transfer& transfer = transfer_of(ticket);
  return {*transfer.operation, transfer.file};
}

void Transfers::abandon_all() noexcept {
  for (auto& [ticket, transfer] : transfers_) driver_.abandon(*transfer.operation);
}

Transfers::Transfer& Transfers::transfer_of(Ticket ticket) {
  const auto found = transfers_.find(ticket);
  if (found == transfers_.end())
    throw InputError("ticket", "there is no transfer " + std::to_string(ticket), "wait for each transfer once");
  return found->second;
}

}  // namespace strider::listio
