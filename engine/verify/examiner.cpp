#include "verify/examiner.hpp"

#include <algorithm>
#include <cstring>

namespace strider {
namespace {

constexpr std::uint64_t older_generations_tried = 256;
constexpr std::uint64_t other_files_tried = 256;

std::uint64_t word_at(std::span<const std::byte> memory, std::uint64_t position) {
  std::uint64_t word = 0;
  std::memcpy(&word, memory.data() + position, sizeof word);
  return word;
}

}  // namespace

std::string_view name_of(Blame blame) {
  switch (blame) {
    case Blame::zero: return "zero";
    case Blame::stale: return "stale";
    case Blame::torn: return "torn";
    case Blame::misplaced: return "misplaced";
    case Blame::foreign: break;
  }
  return "foreign";
}

void Examiner::examine(std::span<const std::byte> memory, const Extent& extent) {
  const auto piece = memory.subspan(extent.memory_offset, extent.length);
  checked_bytes_ += piece.size();
  digest_ += strider::digest(piece, extent.file_offset);
  if (const auto position = expected_.first_mismatch(piece, extent.file_offset)) [[unlikely]]
    report(piece, extent.file_offset, *position);
}

void Examiner::report(std::span<const std::byte> memory, std::uint64_t file_offset, std::uint64_t position) {
  Mismatch mismatch;
  mismatch.file_offset = file_offset + position;
  for (std::uint64_t i = position; i < memory.size(); ++i) {
    const std::byte right = expected_.at(file_offset + i);
    if (memory[i] != right) ++mismatch.wrong_bytes;
    if (i - position < Mismatch::shown_bytes) {
      mismatch.expected[i - position] = right;
      mismatch.found[i - position] = memory[i];
      ++mismatch.shown;
    }
  }
  ++mismatches_;
  wrong_bytes_ += mismatch.wrong_bytes;
  if (first_.size() == kept) return;
  assign_blame(memory, file_offset, position, mismatch);
  first_.push_back(mismatch);
}

void Examiner::assign_blame(std::span<const std::byte> memory, std::uint64_t file_offset, std::uint64_t position,
                            Mismatch& mismatch) const {
  const std::optional<std::uint64_t> at = telling_word(memory, file_offset, position);
  const std::uint64_t word = at ? word_at(memory, *at - file_offset) : 0;
  bool only_zeros = word == 0;
  for (std::uint64_t i = position; i < memory.size() && only_zeros; ++i)
    only_zeros = memory[i] == std::byte{0} || memory[i] == expected_.at(file_offset + i);
  if (only_zeros) {
    mismatch.blame = Blame::zero;
    return;
  }
  if (!at) return;

  FileData::Identity suspect = identity_;
  for (std::uint64_t age = 1; age <= std::min(identity_.generation, older_generations_tried); ++age) {
    suspect.generation = identity_.generation - age;
    if (FileData(suspect).offset_of(word) != *at) continue;
    mismatch.blame = has_right_word(memory, file_offset) ? Blame::torn : Blame::stale;
    return;
  }
  suspect = identity_;
  for (std::uint64_t file = 0; file < std::min(files_, other_files_tried); ++file) {
    suspect.file = file;
    const std::uint64_t origin = FileData(suspect).offset_of(word);
    if (origin >= file_size_ || (origin == *at && file == identity_.file)) continue;
    mismatch.blame = Blame::misplaced;
    mismatch.origin_offset = origin;
    return;
  }
}

/// The file offset of a wrong word that tells where its data comes from: the first whole one at or after the first
/// wrong byte, else the one that holds this byte.
std::optional<std::uint64_t> Examiner::telling_word(std::span<const std::byte> memory, std::uint64_t file_offset,
                                                    std::uint64_t position) const {
  const std::uint64_t holds_it = (file_offset + position) / 8 * 8, at_or_after = (file_offset + position + 7) / 8 * 8;
  for (const std::uint64_t at : {at_or_after, holds_it})
    if (at >= file_offset && at + 8 <= file_offset + memory.size() &&
        expected_.offset_of(word_at(memory, at - file_offset)) != at)
      return at;
  return std::nullopt;
}

bool Examiner::has_right_word(std::span<const std::byte> memory, std::uint64_t file_offset) const {
  for (std::uint64_t i = (8 - file_offset % 8) % 8; i + 8 <= memory.size(); i += 8)
    if (expected_.offset_of(word_at(memory, i)) == file_offset + i) return true;
  return false;
}

}  // namespace strider
