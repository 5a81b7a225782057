#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "foundation/extent.hpp"
#include "patterns/order.hpp"
#include "patterns/pattern.hpp"
#include "plan/draw.hpp"

namespace strider {

/// Which bytes of one part of a file are in a set: a bit for each unit. Offsets in bytes of the file.
class ByteSet {
 public:
  /// `unit`: a power of two that divides all offsets and lengths. `bits`: how many units a part has at most.
  ByteSet(std::uint64_t unit, std::uint64_t bits);

  /// Bytes of the longest part.
  std::uint64_t capacity() const { return bits_ << unit_shift_; }
  /// Begins anew, with no byte of the part from `begin` to `end`.
  void reset(std::uint64_t begin, std::uint64_t end);
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  /// Adds what of the extent lies in the part.
  void add(const Extent& extent);
  bool has(std::uint64_t offset) const;
  /// Where the run ends to which the byte at `offset` belongs, of bytes that are all in the set or all not in it; at
  /// most `limit`, and no farther is looked.
  std::uint64_t run_end(std::uint64_t offset, std::uint64_t limit) const;

 private:
  unsigned unit_shift_;
  std::uint64_t bits_;
  std::uint64_t begin_ = 0, end_ = 0;
  std::vector<std::uint64_t> words_;
};

/// The largest unit for a ByteSet of what the pattern's requests touch.
std::uint64_t unit_of(const Pattern& pattern, std::uint32_t ranks);

/// The writing requests that a rank has issued: the first `count` in an order, or those of them that write.
struct IssuedRequests {
  const Order& order;
  std::uint64_t count = 0;
  const Draw* draw = nullptr;  ///< of read-write; null: all of them write
};

/// Adds what these requests touch. `go_on` is asked now and then; false where it said no. Takes time in proportion to
/// the requests: all of the rank's, or where they are regular (Pattern::file_shift) and all issued and written, those
/// that touch the part.
bool add_written(const Pattern& pattern, Place place, const IssuedRequests& issued, const std::function<bool()>& go_on,
                 ByteSet& set);

}  // namespace strider
