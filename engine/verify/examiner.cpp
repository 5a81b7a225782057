#include "verify/examiner.hpp"

#include <algorithm>
#include <cstring>

namespace strider {
namespace {

constexpr std::uint64_t older_generations_tried = 256;
constexpr std::uint64_t other_files_tried = 256;

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
  const auto wrong = memory.subspan(position);
  if (std::all_of(wrong.begin(), wrong.end(), [](std::byte b) { return b == std::byte{0}; })) {
    mismatch.blame = Blame::zero;
    return;
  }
  // The first whole aligned word at or after the mismatch, or the word that holds it, tells where the data comes from.
  std::uint64_t at = (file_offset + position) / 8 * 8;
  if (at < file_offset) at += 8;
  if (at + 8 > file_offset + memory.size()) return;
  std::uint64_t word = 0;
  std::memcpy(&word, memory.data() + (at - file_offset), sizeof word);

  FileData::Identity suspect = identity_;
  for (std::uint64_t age = 1; age <= std::min(identity_.generation, older_generations_tried); ++age) {
    suspect.generation = identity_.generation - age;
    if (FileData(suspect).offset_of(word) != at) continue;
    mismatch.blame = mismatch.wrong_bytes * 2 < memory.size() || position > 0 ? Blame::torn : Blame::stale;
    return;
  }
  suspect = identity_;
  for (std::uint64_t file = 0; file < std::min(files_, other_files_tried); ++file) {
    suspect.file = file;
    const std::uint64_t origin = FileData(suspect).offset_of(word);
    if (origin >= file_size_ || (origin == at && file == identity_.file)) continue;
    mismatch.blame = Blame::misplaced;
    mismatch.origin_offset = origin;
    return;
  }
}

}  // namespace strider
