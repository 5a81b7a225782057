#include "listio/client/locks.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <utility>

#include "foundation/bounds.hpp"
#include "foundation/error.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;

/// How long the server may let a lock wait, so that its answer, with the name of the holder, is here before `patience`
/// is over.
std::uint32_t wait_ms(milliseconds patience) {
  const milliseconds wait = patience - std::min(patience / 4, milliseconds(2000));
  return static_cast<std::uint32_t>(
      std::clamp<milliseconds::rep>(wait.count(), 0, std::numeric_limits<std::uint32_t>::max()));
}

void check(std::span<const ByteRun> ranges, LockKind kind) {
  if (kind != LockKind::shared && kind != LockKind::exclusive)
    throw InputError("kind", "a lock is shared or exclusive", "choose one of them; to give up a lock, unlock it");
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (!ends_within(ranges[i].offset, ranges[i].length, most_file_bytes))
      throw InputError("ranges",
                       "range " + std::to_string(i) + " of the lock (offset " + std::to_string(ranges[i].offset) +
                           ", length " + std::to_string(ranges[i].length) + ") ends beyond the largest file size",
                       "to lock to the end of the file, choose the length so that the range ends at 2^63 - 1");
}

}  // namespace

/// Adds to an error which bytes of which file it is about.
void Locks::ask(const char* what, const Held& lock, LockRequest request) {
  try {
    const auto operation = driver_.prepare(what, lock.file.path);
    driver_.add(*operation, lock.server, std::move(request));
    driver_.run(*operation);
  } catch (const IoError& error) {
    const int number = error.details().error_number;
    const std::string bytes = std::to_string(lock.hull.offset) + " … " + std::to_string(lock.hull.end() - 1);
    throw IoError(
        {what, lock.file.path, lock.hull.offset, lock.hull.length, number},
        std::string(what) + " bytes " + bytes + " of '" + lock.file.path + "': " + error.what(),
        number == ETIMEDOUT ? "wait longer (patience), or end the process that holds the lock" : error.remedy());
  }
}

LockId Locks::lock(const File& file, std::span<const ByteRun> ranges, LockKind kind) {
  check(ranges, kind);
  RangeSet set(ranges);
  set.coarsen(most_lock_ranges);
  const LockId id = next_++;
  Held held{file, {}, file.striping.locate(0).server, 0};
  if (!set.empty()) {
    held.hull = set.hull();
    ask("lock", held, {file.id, id, kind, wait_ms(driver_.patience()), {set.runs().begin(), set.runs().end()}});
    held.connection = driver_.connection(held.server);
  }
  held_.emplace(id, std::move(held));
  return id;
}

Locks::Asked Locks::prepare(const File& file, std::uint64_t owner, LockKind kind, const ByteRun& range,
                            milliseconds longest) {
  const auto wait = std::clamp<milliseconds::rep>(longest.count(), 0, std::numeric_limits<std::uint32_t>::max());
  if (kind == LockKind::none) give_up(file, owner, range);  // lost, if the server cannot be reached
  auto operation = driver_.prepare("lock", file.path);
  operation->patience += milliseconds(wait);
  operation->deadline = operation->last = in(operation->patience);
  driver_.add(*operation, Client::lock_server(file),
              LockRequest{file.id, owner, kind, static_cast<std::uint32_t>(wait), {range}});
  if (kind == LockKind::none) return {std::move(operation), [] {}};
  const std::uint64_t connection = driver_.connection(Client::lock_server(file));
  return {std::move(operation), [=, this] { grant(file, owner, range, connection); }};
}

void Locks::grant(const File& file, std::uint64_t owner, const ByteRun& range, std::uint64_t connection) {
  const std::uint32_t server = Client::lock_server(file);
  owned_.try_emplace({file.id, owner}, Owned{{}, server, connection}).first->second.ranges.add(RangeSet({&range, 1}));
}

void Locks::give_up(const File& file, std::uint64_t owner, const ByteRun& range) {
  const auto owned = owned_.find({file.id, owner});
  if (owned == owned_.end()) return;
  owned->second.ranges.remove(RangeSet({&range, 1}));
  if (owned->second.ranges.empty()) owned_.erase(owned);
}

bool Locks::is_held(LockId lock) const {
  const auto found = held_.find(lock);
  return found != held_.end() && !is_lost(found->second);
}

std::optional<std::uint32_t> Locks::lost_at(FileId file) const {
  for (const FileId id : {file, apart(file)})
    for (auto owned = owned_.lower_bound({id, 0}); owned != owned_.end() && owned->first.first == id; ++owned)
      if (has_ended(owned->second.server, owned->second.connection)) return owned->second.server;
  for (const auto& [id, lock] : held_)
    if (lock.file.id == file && is_lost(lock)) return lock.server;
  return {};
}

void Locks::require(const char* what, const File& file) const {
  if (const auto server = lost_at(file.id))
    throw IoError({what, file.path, 0, 0, ENOLCK},
                  "a lock on the file was lost with the connection to " + driver_.name(*server) +
                      "; what failed meanwhile is not repeated, as others may have the lock",
                  "lock the file again, and repeat what was done under the lock");
}

void Locks::unlock(LockId lock) {
  const auto found = held_.find(lock);
  if (found == held_.end())
    throw InputError("lock", "there is no lock " + std::to_string(lock), "unlock each lock once");
  const bool held = is_held(lock);
  const Held was = std::move(held_.extract(found).mapped());
  if (was.hull.length == 0) return;
  if (!held)
    throw IoError({"unlock", was.file.path, was.hull.offset, was.hull.length, ENOLCK},
                  "the lock on bytes " + std::to_string(was.hull.offset) + " … " + std::to_string(was.hull.end() - 1) +
                      " of '" + was.file.path + "' was lost with the connection to " + driver_.name(was.server) +
                      "; others may have changed these bytes meanwhile",
                  "repeat what was done under the lock");
  ask("unlock", was, {was.file.id, lock, LockKind::none, 0, {{0, most_file_bytes}}});
}

}  // namespace strider::listio
