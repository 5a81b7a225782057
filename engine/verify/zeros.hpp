#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "foundation/extent.hpp"

namespace strider {

/// Bytes that ought to be zeros, as found: the first wrong one and those behind it.
struct ByteMismatch {
  static constexpr std::size_t shown_bytes = 16;
  std::uint64_t file_offset = 0;  ///< of the first wrong byte
  std::uint64_t wrong_bytes = 0;  ///< in the run
  std::array<std::byte, shown_bytes> found{};
  std::uint32_t shown = 0;  ///< bytes of `found` that are meant
};

/// Checks the parts of a file that nothing was written to: they read as zeros.
class ZeroExaminer {
 public:
  static constexpr std::size_t kept = 4;  ///< mismatches described in full; the rest are counted

  void examine(std::span<const std::byte> memory, const Extent& extent) {
    const auto run = memory.subspan(extent.memory_offset, extent.length);
    checked_bytes_ += run.size();
    const auto is_wrong = [](std::byte byte) { return byte != std::byte{0}; };
    const auto first = std::find_if(run.begin(), run.end(), is_wrong);
    if (first == run.end()) [[likely]]
      return;
    const auto position = static_cast<std::uint64_t>(first - run.begin());
    ByteMismatch mismatch{.file_offset = extent.file_offset + position};
    mismatch.wrong_bytes = static_cast<std::uint64_t>(std::count_if(first, run.end(), is_wrong));
    mismatch.shown = static_cast<std::uint32_t>(std::min<std::uint64_t>(run.size() - position, mismatch.shown_bytes));
    std::copy_n(first, mismatch.shown, mismatch.found.begin());
    wrong_bytes_ += mismatch.wrong_bytes;
    ++mismatches_;
    if (first_.size() < kept) first_.push_back(mismatch);
  }

  /// Bytes of which the file system says that they are a hole.
  void accept(std::uint64_t bytes) { checked_bytes_ += bytes; }
  std::uint64_t checked_bytes() const { return checked_bytes_; }
  std::uint64_t wrong_bytes() const { return wrong_bytes_; }
  std::uint64_t mismatches() const { return mismatches_; }
  const std::vector<ByteMismatch>& first_mismatches() const { return first_; }

 private:
  std::uint64_t checked_bytes_ = 0, wrong_bytes_ = 0, mismatches_ = 0;
  std::vector<ByteMismatch> first_;
};

}  // namespace strider
