#pragma once
#include <cstdint>
#include <span>

#include "verify/cause.hpp"
#include "verify/data.hpp"

namespace strider {

/// What was read as one piece, and the data that should be there.
struct Piece {
  std::span<const std::byte> found;
  std::uint64_t file_offset = 0;
  FileData expected;

  std::uint64_t size() const { return found.size(); }
  std::byte right_at(std::uint64_t position) const { return expected.at(file_offset + position); }
  bool is_right(std::uint64_t position) const { return found[position] == right_at(position); }
  /// Position of the first wrong byte from `from` on, at most `limit`.
  std::uint64_t next_wrong(std::uint64_t from, std::uint64_t limit) const;
  std::uint64_t count_wrong(std::uint64_t begin, std::uint64_t end) const;
};

/// What may have happened to the data from some position on. It predicts every byte.
class Explanation {
 public:
  /// All bytes are the same: zero, unread.
  static Explanation constant(Cause cause, std::byte value);
  /// Data that belongs `shift` bytes before.
  static Explanation other_data(Cause cause, const FileData& data, std::uint64_t shift, std::int64_t value);
  /// Words of 2, 4 or 8 bytes in the opposite order; one begins at file offset `base`.
  static Explanation swapped(const FileData& data, std::uint64_t width, std::uint64_t base);

  /// Fills `memory` with the bytes that are to be expected at a position of the piece.
  void predict(const Piece& piece, std::uint64_t position, std::span<std::byte> memory) const;
  bool predicts(const Piece& piece, std::uint64_t position) const;
  /// Position of the first byte from `from` on that is not as predicted, at most `limit`.
  std::uint64_t end(const Piece& piece, std::uint64_t from, std::uint64_t limit) const;
  /// Position of the first of the bytes before `from` that are as predicted, at least `limit`.
  std::uint64_t begin(const Piece& piece, std::uint64_t from, std::uint64_t limit) const;

  Cause cause() const { return cause_; }
  /// Damage::value for damage that begins at this file offset.
  std::int64_t value_at(std::uint64_t file_offset) const;

 private:
  enum class Kind : std::uint8_t { constant, data, swapped };
  Explanation(Cause cause, Kind kind, const FileData& data) : cause_(cause), kind_(kind), data_(data) {}

  Cause cause_;
  Kind kind_;
  FileData data_;
  std::byte byte_{};
  std::uint64_t shift_ = 0;
  std::uint64_t width_ = 0, base_ = 0;
  std::int64_t value_ = 0;
};

}  // namespace strider
