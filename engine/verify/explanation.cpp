#include "verify/explanation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace strider {
namespace {

constexpr std::size_t block_bytes = 4096;
using Block = std::array<std::byte, block_bytes>;

template <typename Word>
Word swap_bytes(Word word) {
  if constexpr (sizeof(Word) == 2) return __builtin_bswap16(word);
  else if constexpr (sizeof(Word) == 4) return __builtin_bswap32(word);
  else return __builtin_bswap64(word);
}

template <typename Word>
void swap_words(std::span<std::byte> memory) {
  for (std::size_t i = 0; i + sizeof(Word) <= memory.size(); i += sizeof(Word)) {
    Word word = 0;
    std::memcpy(&word, memory.data() + i, sizeof word);
    word = swap_bytes(word);
    std::memcpy(memory.data() + i, &word, sizeof word);
  }
}

}  // namespace

std::uint64_t Piece::next_wrong(std::uint64_t from, std::uint64_t limit) const {
  if (from >= limit) return limit;
  const auto some = found.subspan(from, limit - from);
  return from + expected.first_mismatch(some, file_offset + from).value_or(some.size());
}

std::uint64_t Piece::count_wrong(std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t wrong = 0;
  Block right;
  for (std::uint64_t at = begin; at < end; at += block_bytes) {
    const std::size_t bytes = std::min<std::uint64_t>(block_bytes, end - at);
    expected.fill(std::span(right).first(bytes), file_offset + at);
    wrong += count_different(std::span(right).first(bytes), found.subspan(at, bytes));
  }
  return wrong;
}

Explanation Explanation::constant(Cause cause, std::byte value) {
  Explanation result(cause, Kind::constant, FileData::of_key(0));
  result.byte_ = value;
  return result;
}

Explanation Explanation::other_data(Cause cause, const FileData& data, std::uint64_t shift, std::int64_t value) {
  Explanation result(cause, Kind::data, data);
  result.shift_ = shift;
  result.value_ = value;
  return result;
}

Explanation Explanation::swapped(const FileData& data, std::uint64_t width, std::uint64_t base) {
  Explanation result(Cause::byte_order, Kind::swapped, data);
  result.width_ = width;
  result.base_ = base % width;
  result.value_ = static_cast<std::int64_t>(width);
  return result;
}

void Explanation::predict(const Piece& piece, std::uint64_t position, std::span<std::byte> memory) const {
  const std::uint64_t offset = piece.file_offset + position;
  switch (kind_) {
    case Kind::constant:
      std::ranges::fill(memory, byte_);
      if (cause_ != Cause::unread || memory.empty()) return;
      // The ends are made wrong before a read, whatever is right there.
      if (position == 0 && piece.found.front() == ~piece.right_at(0)) memory.front() = piece.found.front();
      if (position + memory.size() == piece.size() && piece.found.back() == ~piece.right_at(piece.size() - 1))
        memory.back() = piece.found.back();
      return;
    case Kind::data: return data_.fill(memory, offset - shift_);
    case Kind::swapped: break;
  }
  // Whole words, of which the first and the last one may be needed in part.
  std::array<std::byte, block_bytes + 16> words;
  const std::uint64_t into_first = (offset - base_) % width_;
  const auto whole = std::span(words).first((into_first + memory.size() + width_ - 1) / width_ * width_);
  data_.fill(whole, offset - into_first);
  if (width_ == 2) swap_words<std::uint16_t>(whole);
  else if (width_ == 4) swap_words<std::uint32_t>(whole);
  else swap_words<std::uint64_t>(whole);
  std::memcpy(memory.data(), words.data() + into_first, memory.size());
}

bool Explanation::predicts(const Piece& piece, std::uint64_t position) const {
  std::array<std::byte, 1> byte{};
  predict(piece, position, byte);
  return byte[0] == piece.found[position];
}

std::uint64_t Explanation::end(const Piece& piece, std::uint64_t from, std::uint64_t limit) const {
  Block predicted;
  std::size_t most = 64;  // most explanations fail at once, some hold for long
  while (from < limit) {
    const auto some = std::span(predicted).first(std::min<std::uint64_t>(most, limit - from));
    predict(piece, from, some);
    const auto found = piece.found.subspan(from, some.size());
    if (std::memcmp(some.data(), found.data(), some.size()) != 0)
      return from + static_cast<std::uint64_t>(std::ranges::mismatch(some, found).in1 - some.begin());
    from += some.size();
    most = std::min(block_bytes, 4 * most);
  }
  return limit;
}

std::uint64_t Explanation::begin(const Piece& piece, std::uint64_t from, std::uint64_t limit) const {
  while (from > limit && predicts(piece, from - 1)) --from;
  return from;
}

std::int64_t Explanation::value_at(std::uint64_t file_offset) const {
  return cause_ == Cause::misplaced ? static_cast<std::int64_t>(file_offset - shift_) : value_;
}

}  // namespace strider
