#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "listio/protocol/messages.hpp"
#include "listio/server/data_store.hpp"
#include "listio/transfer/transport.hpp"

namespace strider::listio {

/// Counters that clients share. A cell lives as long as the session that made it; after that its number means nothing,
/// and no later cell has it, after a restart either: numbers are random.
class Cells {
 public:
  struct Limits {
    std::size_t most = 65536;
    std::size_t most_of_session = 4096;
  };
  explicit Cells(const Limits& limits) : limits_(limits) {}

  /// ENOSPC if there are too many.
  Errno make(Peer session, CellState& made);
  /// These set `state` to the earlier value. ENOENT if there is no such cell; EOVERFLOW if the sum is not a number of
  /// 64 bits.
  Errno add(CellId cell, std::int64_t addend, CellState& state);
  Errno set(CellId cell, std::int64_t value, CellState& state);
  Errno free(CellId cell, CellState& state);
  /// Frees the cells of the session.
  void end(Peer session);

  std::size_t size() const { return cells_.size(); }

 private:
  struct Cell {
    Peer session = 0;
    std::int64_t value = 0;
  };
  Limits limits_;
  std::unordered_map<CellId, Cell> cells_;
  std::unordered_map<Peer, std::size_t> made_;  ///< of sessions that have any
};

}  // namespace strider::listio
