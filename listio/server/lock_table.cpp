#include "listio/server/lock_table.hpp"

#include <algorithm>
#include <utility>

namespace strider::listio {
namespace {

void bring_forward(std::optional<Deadline>& next, const Deadline& deadline) {
  if (!next || deadline < *next) next = deadline;
}

}  // namespace

LockTable::Answer LockTable::ask(Wish wish, std::uint64_t request, const Deadline& deadline) {
  if (wish.kind != LockKind::none && !has_room(wish)) return Answer::full;
  FileLocks& file = files_[wish.file];
  const FileId id = wish.file;
  auto answer = Answer::granted;
  if (wish.kind != LockKind::none && conflict_of(file, wish, nullptr)) {
    count(wish.owner.session, 0, wish.ranges.size());
    file.waiting.push_back({std::move(wish), request, deadline});
    ++waiting_;
    bring_forward(next_, deadline);
    answer = Answer::waits;
  } else {
    grant(file, std::move(wish));
    grant_waiting(file);  // of a lock that became weaker
  }
  if (file.holdings.empty() && file.waiting.empty()) files_.erase(id);
  return answer;
}

std::optional<LockTable::Conflict> LockTable::find(const Wish& wish) const {
  const auto file = files_.find(wish.file);
  if (file == files_.end() || wish.kind == LockKind::none) return {};
  return conflict_with_holders(file->second, wish);
}

bool LockTable::cancel(FileId file, Peer session, std::uint64_t request) {
  const auto found = files_.find(file);
  if (found == files_.end()) return false;
  FileLocks& locks = found->second;
  const auto which = std::ranges::find_if(locks.waiting, [&](const Waiting& each) {
    return each.wish.owner.session == session && each.request == request;
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
      if (each->wish.owner.session == session) forget(file, each);
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

std::optional<LockTable::Conflict> LockTable::conflict_with_holders(const FileLocks& file, const Wish& wish) {
  for (const Holding& holding : file.holdings) {
    if (holding.owner.is(wish.owner)) continue;
    if (const auto common = holding.exclusive.overlap(wish.ranges))
      return Conflict{holding.owner, Claim::held, LockKind::exclusive, *common};
    if (wish.kind == LockKind::shared) continue;
    if (const auto common = holding.shared.overlap(wish.ranges))
      return Conflict{holding.owner, Claim::held, LockKind::shared, *common};
  }
  return {};
}

/// With those that have waited longer: all, if it does not wait itself.
std::optional<LockTable::Conflict> LockTable::conflict_before(const FileLocks& file, const Wish& wish,
                                                              const Waiting* self) {
  for (const Waiting& waiting : file.waiting) {
    if (&waiting == self) break;
    if (waiting.wish.owner.is(wish.owner)) continue;
    if (waiting.wish.kind == LockKind::shared && wish.kind == LockKind::shared) continue;
    if (const auto common = waiting.wish.ranges.overlap(wish.ranges))
      return Conflict{waiting.wish.owner, Claim::awaited, waiting.wish.kind, *common};
  }
  return {};
}

std::optional<LockTable::Conflict> LockTable::conflict_of(FileLocks& file, const Wish& wish,
                                                          const Waiting* self) const {
  if (auto conflict = conflict_with_holders(file, wish)) return conflict;
  if (find(file, wish.owner) != nullptr) return {};
  return conflict_before(file, wish, self);
}

// --- changes ---

bool LockTable::has_room(const Wish& wish) const {
  const auto found = ranges_of_.find(wish.owner.session);
  const std::size_t of_session = found == ranges_of_.end() ? 0 : found->second;
  return ranges_ + wish.ranges.size() <= limits_.most_ranges &&
         of_session + wish.ranges.size() <= limits_.most_ranges_of_session;
}

void LockTable::count(Peer session, std::size_t before, std::size_t after) {
  if (before == after) return;
  ranges_ = ranges_ - before + after;
  std::size_t& of_session = ranges_of_[session];
  of_session = of_session - before + after;
  if (of_session == 0) ranges_of_.erase(session);
}

void LockTable::grant(FileLocks& file, Wish&& wish) {
  Holding* holding = find(file, wish.owner);
  if (holding == nullptr) {
    if (wish.kind == LockKind::none) return;
    file.holdings.push_back({std::move(wish.owner), {}, {}});
    holding = &file.holdings.back();
  }
  const std::size_t before = holding->size();
  holding->shared.remove(wish.ranges);
  holding->exclusive.remove(wish.ranges);
  if (wish.kind == LockKind::shared) holding->shared.add(wish.ranges);
  if (wish.kind == LockKind::exclusive) holding->exclusive.add(wish.ranges);
  count(holding->owner.session, before, holding->size());
  if (holding->size() == 0) file.holdings.remove_if([holding](const Holding& each) { return &each == holding; });
}

void LockTable::grant_waiting(FileLocks& file) {
  for (auto each = file.waiting.begin(); each != file.waiting.end();) {
    if (conflict_of(file, each->wish, &*each)) {
      ++each;
      continue;
    }
    decisions_.push_back({each->wish.owner.session, each->request, {}});
    Wish wish = std::move(each->wish);
    count(wish.owner.session, wish.ranges.size(), 0);
    --waiting_;
    file.waiting.erase(each);
    grant(file, std::move(wish));
    each = file.waiting.begin();  // what was granted may be weaker than what its owner had
  }
  if (waiting_ == 0 && ending_.empty()) next_.reset();
}

void LockTable::forget(FileLocks& file, std::list<Waiting>::iterator which) {
  count(which->wish.owner.session, which->wish.ranges.size(), 0);
  --waiting_;
  file.waiting.erase(which);
}

void LockTable::expire(FileLocks& file, const Deadline& now) {
  for (auto each = file.waiting.begin(); each != file.waiting.end();) {
    const auto next = std::next(each);
    if (each->deadline > now) {
      bring_forward(next_, each->deadline);
    } else if (auto conflict = conflict_of(file, each->wish, &*each)) {
      decisions_.push_back({each->wish.owner.session, each->request, std::move(conflict)});
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
