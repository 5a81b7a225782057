#include "listio/server/cells.hpp"

#include <cerrno>
#include <cstring>

#include "listio/protocol/secret.hpp"

namespace strider::listio {

Errno Cells::make(Peer session, CellState& made) {
  if (cells_.size() >= limits_.most) return ENOSPC;
  const auto counted = made_.find(session);
  if (counted != made_.end() && counted->second >= limits_.most_of_session) return ENOSPC;
  CellId cell = 0;
  while (cell == 0 || cells_.contains(cell)) {
    const Nonce random = make_nonce();
    std::memcpy(&cell, random.data(), sizeof cell);
  }
  cells_[cell] = {session, 0};
  ++made_[session];
  made = {cell, 0};
  return 0;
}

Errno Cells::add(CellId cell, std::int64_t addend, CellState& state) {
  const auto found = cells_.find(cell);
  if (found == cells_.end()) return ENOENT;
  std::int64_t sum = 0;
  if (__builtin_add_overflow(found->second.value, addend, &sum)) return EOVERFLOW;
  state = {cell, found->second.value};
  found->second.value = sum;
  return 0;
}

Errno Cells::set(CellId cell, std::int64_t value, CellState& state) {
  const auto found = cells_.find(cell);
  if (found == cells_.end()) return ENOENT;
  state = {cell, found->second.value};
  found->second.value = value;
  return 0;
}

Errno Cells::free(CellId cell, CellState& state) {
  const auto found = cells_.find(cell);
  if (found == cells_.end()) return ENOENT;
  state = {cell, found->second.value};
  const auto counted = made_.find(found->second.session);
  if (--counted->second == 0) made_.erase(counted);
  cells_.erase(found);
  return 0;
}

void Cells::end(Peer session) {
  if (made_.erase(session) == 0) return;
  std::erase_if(cells_, [session](const auto& each) { return each.second.session == session; });
}

}  // namespace strider::listio
