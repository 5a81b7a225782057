#include "listio/mount/locks.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "foundation/error.hpp"

namespace strider::listio {
namespace {

/// Then it is asked for again. A server that is gone is noticed earlier.
constexpr std::chrono::minutes longest_wait{5};
constexpr ByteRun everything{0, most_file_bytes};

}  // namespace

std::optional<MountLocks::Found> MountLocks::find(const Lock& lock) {
  const auto holder = client_.find_lock(lock.file, lock.owner, lock.kind, lock.range);
  if (!holder) return {};
  const auto known = owners_.find({lock.file.id, holder->owner});
  return Found{holder->kind, holder->range, known == owners_.end() ? 0 : known->second.process};
}

void MountLocks::set(const Lock& lock) {
  // An owner without a lock has none to give up: most files are closed so.
  if (lock.kind == LockKind::none && !owners_.contains({lock.file.id, lock.owner})) return;
  try {
    client_.wait(client_.start_owner_lock(lock.file, lock.owner, lock.kind, lock.range, std::chrono::milliseconds(0)));
  } catch (const IoError& error) {
    if (error.details().error_number != ETIMEDOUT) throw;
    throw IoError({"lock", lock.file.path, lock.range.offset, lock.range.length, EAGAIN});
  }
  granted(lock);
}

void MountLocks::wait(const Lock& lock, Waiter waiter) {
  const auto ticket = client_.start_owner_lock(lock.file, lock.owner, lock.kind, lock.range, longest_wait);
  waiting_.push_back({lock, std::move(waiter), ticket, false});
  progress();
}

void MountLocks::release(const File& file, Owner owner) {
  if (owners_.erase({file.id, owner}) == 0) return;
  client_.wait(client_.start_owner_lock(file, owner, LockKind::none, everything, std::chrono::milliseconds(0)));
}

void MountLocks::release(std::uint64_t handle) {
  const auto is_by_it = [handle](const auto& each) { return each.second.handle == handle; };
  for (;;) {
    const auto found = std::ranges::find_if(owners_, is_by_it);
    if (found == owners_.end()) return;
    const File file = found->second.file;
    release(file, found->first.second);
  }
}

void MountLocks::granted(const Lock& lock) {
  if (lock.kind != LockKind::none) owners_[{lock.file.id, lock.owner}] = {lock.file, lock.handle, lock.process};
}

void MountLocks::progress() {
  for (auto each = waiting_.begin(); each != waiting_.end();) each = finish(*each) ? waiting_.erase(each) : ++each;
}

void MountLocks::cancel(Waiting& waiting) {
  waiting.is_cancelled = true;
  try {
    client_.cancel_lock(waiting.ticket);
  } catch (const IoError&) {
    return;  // waiting for the ticket ends with the same
  }
}

/// After the longest wait that a server is asked for. 0, or the error number.
int MountLocks::ask_again(Waiting& waiting) {
  const Lock& lock = waiting.lock;
  try {
    waiting.ticket = client_.start_owner_lock(lock.file, lock.owner, lock.kind, lock.range, longest_wait);
    return 0;
  } catch (const IoError& failure) {
    return failure.details().error_number == 0 ? EIO : failure.details().error_number;
  }
}

/// Whether the waiter has been answered.
bool MountLocks::finish(Waiting& waiting) {
  int error = 0;
  try {
    if (!waiting.is_cancelled && waiting.waiter.is_interrupted()) cancel(waiting);
    if (!client_.is_done(waiting.ticket)) return false;
    client_.wait(waiting.ticket);
    granted(waiting.lock);
  } catch (const IoError& failure) {
    error = failure.details().error_number == 0 ? EIO : failure.details().error_number;
    if (error == ETIMEDOUT && !waiting.is_cancelled) error = ask_again(waiting);
    if (error == 0) return false;
  }
  waiting.waiter.done(error);
  return true;
}

}  // namespace strider::listio
