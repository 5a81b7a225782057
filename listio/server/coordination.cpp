#include "listio/server/coordination.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

namespace strider::listio {
namespace {

std::string describe(const ByteRun& range) {
  return "bytes " + std::to_string(range.offset) + " … " + std::to_string(range.end() - 1);
}

std::string describe(const LockTable::Conflict& conflict) {
  const std::string who = conflict.owner.name.empty() ? "a client without a name" : conflict.owner.name;
  const std::string kind = conflict.kind == LockKind::shared ? "a shared lock" : "an exclusive lock";
  const std::string claim = conflict.claim == LockTable::Claim::held ? " holds " : " has waited longer for ";
  return who + claim + kind + " on " + describe(conflict.range);
}

const char* reason_of(Errno error) {
  switch (error) {
    case ENOENT: return "there is no such cell; the connection of the client that made it has ended, or it was freed";
    case EOVERFLOW: return "the value of the cell would leave the range of 64-bit numbers; it is unchanged";
    case ENOSPC: return "too many cells exist; free some, or end the clients that made them";
    default: return "";
  }
}

}  // namespace

void Coordination::hear(Peer session, const std::string& name, NumberedRequest& request) {
  if (auto* const lock = std::get_if<LockRequest>(&request.request)) return hear(session, name, request.number, *lock);
  if (const auto* const find = std::get_if<FindLockRequest>(&request.request))
    return hear(session, request.number, *find);
  if (const auto* const cancel = std::get_if<CancelLockRequest>(&request.request))
    return hear(session, request.number, *cancel);
  if (options_.server != 0) return refuse(session, request.number, EOPNOTSUPP, "cells are kept by server 0 alone");
  CellState state;
  Errno error = EOPNOTSUPP;
  if (std::holds_alternative<MakeCellRequest>(request.request)) error = cells_.make(session, state);
  if (const auto* const add = std::get_if<AddToCellRequest>(&request.request))
    error = cells_.add(add->cell, add->addend, state);
  if (const auto* const set = std::get_if<SetCellRequest>(&request.request))
    error = cells_.set(set->cell, set->value, state);
  if (const auto* const free = std::get_if<FreeCellRequest>(&request.request)) error = cells_.free(free->cell, state);
  if (error == 0) reply(session, request.number, 0, write_body(state));
  else refuse(session, request.number, error, reason_of(error));
  show();
}

void Coordination::hear(Peer session, const std::string& name, std::uint64_t number, LockRequest& request) {
  const auto wait = std::min(std::chrono::milliseconds(request.patience_ms), options_.most_wait);
  LockTable::Lock lock{{session, request.owner, name}, request.file, request.kind, RangeSet(request.ranges)};
  switch (locks_.ask(std::move(lock), number, in(wait))) {
    case LockTable::Answer::granted: reply(session, number, 0, {}); break;
    case LockTable::Answer::waits: break;
    case LockTable::Answer::full:
      refuse(session, number, ENOLCK, "too many ranges are locked; lock fewer or larger ranges");
      break;
  }
  show();
}

void Coordination::hear(Peer session, std::uint64_t number, const FindLockRequest& request) {
  const LockTable::Lock lock{
      {session, request.owner}, request.file, request.kind, RangeSet(std::span(&request.range, 1))};
  LockHolder holder;
  if (const auto conflict = locks_.find(lock))
    holder = {conflict->kind, conflict->owner.session == session ? conflict->owner.number : 0, conflict->range,
              conflict->owner.name};
  reply(session, number, 0, write_body(holder));
}

void Coordination::hear(Peer session, std::uint64_t number, const CancelLockRequest& request) {
  if (locks_.cancel(request.file, session, request.waiting))
    refuse(session, request.waiting, EINTR, "the client does not wait for the lock any more");
  reply(session, number, 0, {});
  show();
}

std::vector<Coordination::Answer> Coordination::take_answers() {
  if (const auto next = locks_.next()) {
    const Deadline now = std::chrono::steady_clock::now();
    if (*next <= now) locks_.advance(now);
  }
  for (const LockTable::Decision& decided : locks_.take_decisions()) {
    if (decided.conflict) refuse(decided.session, decided.request, ETIMEDOUT, describe(*decided.conflict));
    else reply(decided.session, decided.request, 0, {});
    show();
  }
  return std::exchange(answers_, {});
}

void Coordination::end(Peer session) {
  cells_.end(session);
  locks_.end(session, in(options_.grace));
  show();
}

void Coordination::reply(Peer session, std::uint64_t number, Errno error, std::vector<std::byte> body) {
  answers_.push_back({session, write_message(Reply{number, static_cast<std::uint32_t>(error), body})});
}

void Coordination::refuse(Peer session, std::uint64_t number, Errno error, const std::string& reason) {
  reply(session, number, error, write_body(Reason{reason}));
}

void Coordination::show() {
  cells_now_ = cells_.size();
  ranges_now_ = locks_.ranges();
  waiting_now_ = locks_.waiting();
}

}  // namespace strider::listio
