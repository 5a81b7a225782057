#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "listio/layout/byte_run.hpp"

namespace strider::listio {

/// A set of bytes of a file, such as those that a lock covers: runs in increasing order, which neither overlap nor
/// touch.
class RangeSet {
 public:
  RangeSet() = default;
  /// Of runs in any order, which may overlap; empty ones add nothing. They have to end within the largest file.
  explicit RangeSet(std::span<const ByteRun> runs);

  std::span<const ByteRun> runs() const { return runs_; }
  bool empty() const { return runs_.empty(); }
  std::size_t size() const { return runs_.size(); }
  /// From the first byte to the last one. Only of a set that is not empty.
  ByteRun hull() const { return {runs_.front().offset, runs_.back().end() - runs_.front().offset}; }

  void add(const RangeSet& other);
  void remove(const RangeSet& other);
  /// The first bytes that are in both.
  std::optional<ByteRun> overlap(const RangeSet& other) const;
  /// Closes the smallest gaps until there are at most `most` runs, at least 1.
  void coarsen(std::size_t most);

  bool operator==(const RangeSet&) const = default;

 private:
  std::vector<ByteRun> runs_;
};

}  // namespace strider::listio
