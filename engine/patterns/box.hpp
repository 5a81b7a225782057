#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "foundation/extent.hpp"
#include "patterns/pattern.hpp"

namespace strider {

/// Where part `index` of `count` points lies when `parts` share them: the first count mod parts have one more.
struct Part {
  Part(std::uint64_t count, std::uint64_t parts, std::uint64_t index)
      : start(index * (count / parts) + std::min(index, count % parts)),
        length(count / parts + (index < count % parts ? 1 : 0)) {}
  /// What all starts and lengths are multiples of.
  static std::uint64_t unit(std::uint64_t count, std::uint64_t parts) { return count % parts == 0 ? count / parts : 1; }

  std::uint64_t start;
  std::uint64_t length;
};

inline std::uint64_t rounded_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

/// A piece of bytes that is repeated at regular distances, again and again: a box cut out of arrays in file and memory.
/// Pieces that follow each other without a gap in both become one.
class Box {
 public:
  static constexpr std::size_t most_loops = 8;

  explicit Box(std::uint64_t piece) : piece_(piece) {}

  /// Repeats what there is so far: from the innermost loop outwards, at most `most_loops` times.
  void repeat(std::uint64_t count, std::uint64_t file_stride, std::uint64_t memory_stride) {
    if (count == 1) return;
    if (loops_ == 0 && file_stride == piece_ && memory_stride == piece_) {
      piece_ *= count;
      return;
    }
    loop_[loops_++] = {count, file_stride, memory_stride};
  }

  std::uint64_t extents() const {
    std::uint64_t extents = 1;
    for (std::size_t i = 0; i < loops_; ++i) extents *= loop_[i].count;
    return extents;
  }

  /// The largest power of two that divides the piece and all distances.
  std::uint64_t alignment() const {
    std::uint64_t alignment = common_alignment({piece_});
    for (std::size_t i = 0; i < loops_; ++i)
      alignment = common_alignment({alignment, loop_[i].file_stride, loop_[i].memory_stride});
    return alignment;
  }

  /// Writes all extents of a box whose first piece lies at the given offsets; how many.
  std::size_t fill(std::uint64_t file_offset, std::uint64_t memory_offset, std::span<Extent> out) const {
    if (loops_ == 0) {
      out.front() = {file_offset, memory_offset, piece_};
      return 1;
    }
    return static_cast<std::size_t>(fill_loop(loops_ - 1, file_offset, memory_offset, out.data()) - out.data());
  }

 private:
  struct Loop {
    std::uint64_t count, file_stride, memory_stride;
  };

  Extent* fill_loop(std::size_t depth, std::uint64_t file_offset, std::uint64_t memory_offset, Extent* out) const {
    const auto [count, file_stride, memory_stride] = loop_[depth];
    for (std::uint64_t i = 0; i < count; ++i, file_offset += file_stride, memory_offset += memory_stride) {
      if (depth == 0) *out++ = {file_offset, memory_offset, piece_};
      else out = fill_loop(depth - 1, file_offset, memory_offset, out);
    }
    return out;
  }

  std::uint64_t piece_;
  std::array<Loop, most_loops> loop_{};
  std::size_t loops_ = 0;
};

}  // namespace strider
