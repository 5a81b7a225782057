#include "listio/server/lock_table.hpp"

#include <algorithm>
#include <utility>

namespace strider::listio {
namespace {

void bring_forward(std::optional<Deadline>& next, const Deadline& deadline) {
  if (!next || deadline < *next) next = deadline;
}

}  // namespace

LockTable::Answer LockTable::ask(Lock lock, std::uint64_t request, const Deadline& deadline) {
  if (lock.kind != LockKind::none && !has_room(lock)) return Answer::full;
  FileLocks& file = files_[lock.file];
  const FileId id = lock.file;
  auto answer = Answer::granted;
  if (lock.kind != LockKind::none && conflict_of(file, lock, nullptr)) {
    count(lock.owner.session, 0, lock.ranges.size());
    file.waiting.push_back({std::move(lock), request, deadline});
    ++waiting_;
    bring_forward(next_, deadline);
    answer = Answer::waits;
  } else {
    grant(file, std::move(lock));
    grant_waiting(file);  // of a lock that became weaker
  }
  if (file.holdings.empty() && file.waiting.empty()) files_.erase(id);
  return answer;
}

std::optional<LockTable::Conflict> LockTable::find(const Lock& lock) const {
  const auto file = files_.find(lock.file);
  if (file == files_.end() || lock.kind == LockKind::none) return {};
  return conflict_with_holders(file->second, lock);
}

bool LockTable::cancel(FileId file, Peer session, std::uint64_t request) {
  const auto found = files_.find(file);
  if (found == files_.end()) return false;
  FileLocks& locks = found->second;
  const auto which = std::ranges::find_if(locks.waiting, [&](const Waiting& each) {
    return each.lock.owner.session == session && each.request == request;
  });
  if (which == locks.waiting.end()) return false;
  forget(locks, which);
  grant_waiting(locks);
  if (locks.holdings.empty() && locks.waiting.empty()) files_.erase(found);
  return true;
}

void LockTable::advance(const Deadline& now) {
  if (!next_ || now < *next_) return;
  for (; !ending_.empty() && ending_.front().first <= now; ending_.pop_front()) {
    const Peer session = ending_.front().second;
    for_each_file([&](FileLocks& file) {
      release(file, [session](const Holding& holding) { return holding.owner.session == session; });
    });
  }
  next_.reset();
  if (!ending_.empty()) next_ = ending_.front().first;
  if (waiting_ > 0) for_each_file([&](FileLocks& file) { expire(file, now); });
}

std::vector<LockTable::Decision> LockTable::take_decisions() { return std::exchange(decisions_, {}); }

void LockTable::end(Peer session, const Deadline& free_at) {
  if (!ranges_of_.contains(session)) return;
  bool stays = false;
  for_each_file([&](FileLocks& file) {
    for (auto each = file.waiting.begin(); each != file.waiting.end();) {
      const auto next = std::next(each);
      if (each->lock.owner.session == session) forget(file, each);
      each = next;
    }
    for (Holding& holding : file.holdings) {
      if (holding.owner.session != session) continue;
      const std::size_t before = holding.size();
      holding.shared = {};
      count(session, before, holding.size());
      stays |= !holding.exclusive.empty();
    }
    release(file, [](const Holding& holding) { return holding.size() == 0; });
  });
  if (!stays) return;
  ending_.emplace_back(free_at, session);
  bring_forward(next_, free_at);
}

// --- what excludes what ---

LockTable::Holding* LockTable::find(FileLocks& file, const Owner& owner) {
  const auto found = std::ranges::find_if(file.holdings, [&](const Holding& each) { return each.owner.is(owner); });
  return found == file.holdings.end() ? nullptr : &*found;
}

std::optional<LockTable::Conflict> LockTable::conflict_with_holders(const FileLocks& file, const Lock& lock) {
  for (const Holding& holding : file.holdings) {
    if (holding.owner.is(lock.owner)) continue;
    if (const auto common = holding.exclusive.overlap(lock.ranges))
      return Conflict{holding.owner, Claim::held, LockKind::exclusive, *common};
    if (lock.kind == LockKind::shared) continue;
    if (const auto common = holding.shared.overlap(lock.ranges))
      return Conflict{holding.owner, Claim::held, LockKind::shared, *common};
  }
  return {};
}

/// With those that have waited longer: all, if it does not wait itself.
std::optional<LockTable::Conflict> LockTable::conflict_before(const FileLocks& file, const Lock& lock,
                                                              const Waiting* self) {
  for (const Waiting& waiting : file.waiting) {
    if (&waiting == self) break;
    if (waiting.lock.owner.is(lock.owner)) continue;
    if (waiting.lock.kind == LockKind::shared && lock.kind == LockKind::shared) continue;
    if (const auto common = waiting.lock.ranges.overlap(lock.ranges))
      return Conflict{waiting.lock.owner, Claim::awaited, waiting.lock.kind, *common};
  }
  return {};
}

std::optional<LockTable::Conflict> LockTable::conflict_of(FileLocks& file, const Lock& lock,
                                                          const Waiting* self) const {
  if (auto conflict = conflict_with_holders(file, lock)) return conflict;
  if (find(file, lock.owner) != nullptr) return {};
  return conflict_before(file, lock, self);
}

// --- changes ---

bool LockTable::has_room(const Lock& lock) const {
  const auto found = ranges_of_.find(lock.owner.session);
  const std::size_t of_session = found == ranges_of_.end() ? 0 : found->second;
  return ranges_ + lock.ranges.size() <= limits_.most_ranges &&
         of_session + lock.ranges.size() <= limits_.most_ranges_of_session;
}

void LockTable::count(Peer session, std::size_t before, std::size_t after) {
  if (before == after) return;
  ranges_ = ranges_ - before + after;
  std::size_t& of_session = ranges_of_[session];
  of_session = of_session - before + after;
  if (of_session == 0) ranges_of_.erase(session);
}

void LockTable::grant(FileLocks& file, Lock&& lock) {
  Holding* holding = find(file, lock.owner);
  if (holding == nullptr) {
    if (lock.kind == LockKind::none) return;
    file.holdings.push_back({std::move(lock.owner), {}, {}});
    holding = &file.holdings.back();
  }
  const std::size_t before = holding->size();
  holding->shared.remove(lock.ranges);
  holding->exclusive.remove(lock.ranges);
  if (lock.kind == LockKind::shared) holding->shared.add(lock.ranges);
  if (lock.kind == LockKind::exclusive) holding->exclusive.add(lock.ranges);
  count(holding->owner.session, before, holding->size());
  if (holding->size() == 0) file.holdings.remove_if([holding](const Holding& each) { return &each == holding; });
}

void LockTable::grant_waiting(FileLocks& file) {
  for (auto each = file.waiting.begin(); each != file.waiting.end();) {
    if (conflict_of(file, each->lock, &*each)) {
      ++each;
      continue;
    }
    decisions_.push_back({each->lock.owner.session, each->request, {}});
    Lock lock = std::move(each->lock);
    count(lock.owner.session, lock.ranges.size(), 0);
    --waiting_;
    file.waiting.erase(each);
    grant(file, std::move(lock));
    each = file.waiting.begin();  // the granted lock may be weaker than the earlier one of its owner
  }
  if (waiting_ == 0 && ending_.empty()) next_.reset();
}

void LockTable::forget(FileLocks& file, std::list<Waiting>::iterator which) {
  count(which->lock.owner.session, which->lock.ranges.size(), 0);
  --waiting_;
  file.waiting.erase(which);
}

void LockTable::expire(FileLocks& file, const Deadline& now) {
  for (auto each = file.waiting.begin(); each != file.waiting.end();) {
    const auto next = std::next(each);
    if (each->deadline > now) {
      bring_forward(next_, each->deadline);
    } else if (auto conflict = conflict_of(file, each->lock, &*each)) {
      decisions_.push_back({each->lock.owner.session, each->request, std::move(conflict)});
      forget(file, each);
    }  // else the one that it waited for has just given up
    each = next;
  }
  grant_waiting(file);
}

template <typename Which>
void LockTable::release(FileLocks& file, const Which& which) {
  for (auto each = file.holdings.begin(); each != file.holdings.end();) {
    const auto next = std::next(each);
    if (which(*each)) {
      count(each->owner.session, each->size(), 0);
      file.holdings.erase(each);
    }
    each = next;
  }
  grant_waiting(file);
}

/// And forgets files on which nothing is left.
template <typename Action>
void LockTable::for_each_file(const Action& action) {
  for (auto each = files_.begin(); each != files_.end();) {
    action(each->second);
    each = each->second.holdings.empty() && each->second.waiting.empty() ? files_.erase(each) : std::next(each);
  }
}

}  // namespace strider::listio
