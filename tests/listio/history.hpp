#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

namespace strider::listio {

/// One operation of a history on a few registers: it writes a value to `values.size()` registers from `first` on, or
/// reads them.
struct HistoricOperation {
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  bool writes = false;
  std::size_t first = 0;
  std::vector<std::uint32_t> values;
  std::uint64_t begin = 0;
  std::uint64_t end = never;  ///< never: it may happen at any time after its begin, or not at all

  bool is_certain() const { return end != never; }
};

/// Whether operations on registers that are 0 at first can have happened one after the other, each between its begin
/// and its end. Searches for such an order, the state of every step only once (Wing and Gong 1993; Lowe 2017). At most
/// 64 operations.
class HistoryChecker {
 public:
  HistoryChecker(const std::vector<HistoricOperation>& history, std::size_t registers)
      : history_(history), state_(registers) {
    for (std::size_t i = 0; i < history.size(); ++i)
      if (history[i].is_certain()) certain_ |= bit(i);
      else if (is_never_found(history[i])) ignored_ |= bit(i);
  }
  bool is_linearizable() { return finds_order(0); }
  std::size_t states() const { return seen_.size(); }

 private:
  static std::uint64_t bit(std::size_t operation) { return std::uint64_t{1} << operation; }

  /// A write that need not have happened: no read has found a value of it.
  bool is_never_found(const HistoricOperation& write) const {
    for (const HistoricOperation& each : history_)
      for (std::size_t i = 0; i < write.values.size() && !each.writes && each.is_certain(); ++i) {
        const std::size_t place = write.first + i - each.first;  // beyond all values if it is before the first
        if (place < each.values.size() && each.values[place] == write.values[i]) return false;
      }
    return true;
  }

  /// With what is in `done` done.
  bool finds_order(std::uint64_t done) {
    if ((done & certain_) == certain_) return true;
    if (!seen_.insert(key(done)).second) return false;
    done |= ignored_;
    const std::uint64_t first_end = earliest_end(done);
    for (std::size_t i = 0; i < history_.size(); ++i)
      if ((done & bit(i)) == 0 && history_[i].begin < first_end && happens(history_[i], done | bit(i))) return true;
    return false;
  }

  /// An operation that begins later cannot be next.
  std::uint64_t earliest_end(std::uint64_t done) const {
    std::uint64_t earliest = HistoricOperation::never;
    for (std::size_t i = 0; i < history_.size(); ++i)
      if ((done & bit(i)) == 0) earliest = std::min(earliest, history_[i].end);
    return earliest;
  }

  bool happens(const HistoricOperation& next, std::uint64_t done) {
    const auto begin = state_.begin() + static_cast<std::ptrdiff_t>(next.first);
    if (!next.writes) return std::equal(next.values.begin(), next.values.end(), begin) && finds_order(done);
    const std::vector<std::uint32_t> before = state_;
    std::copy(next.values.begin(), next.values.end(), begin);
    const bool found = finds_order(done);
    state_ = before;
    return found;
  }

  std::string key(std::uint64_t done) const {
    std::string text(reinterpret_cast<const char*>(&done), sizeof done);
    text.append(reinterpret_cast<const char*>(state_.data()), state_.size() * sizeof state_.front());
    return text;
  }

  const std::vector<HistoricOperation>& history_;
  std::vector<std::uint32_t> state_;
  std::uint64_t certain_ = 0, ignored_ = 0;
  std::unordered_set<std::string> seen_;
};

}  // namespace strider::listio
