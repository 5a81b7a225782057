#include "verify/examiner.hpp"

#include <algorithm>

#include "verify/explanation.hpp"

namespace strider {

Cause Mismatch::main_cause() const {
  return causes.empty() ? Cause::foreign : std::ranges::max_element(causes, {}, &Damage::bytes)->cause;
}

void Examiner::expect(std::uint64_t generation, std::uint64_t pass) {
  if (generation == known_.expected.generation && pass == known_.expected.pass) return;
  known_.expected.generation = generation;
  known_.expected.pass = pass;
  expected_ = FileData(known_.expected);
  classifier_.reset();
}

void Examiner::prepare(std::span<std::byte> memory, const Extent& extent) const {
  if (extent.length == 0) return;
  const auto piece = memory.subspan(extent.memory_offset, extent.length);
  piece.front() = ~expected_.at(extent.file_offset);
  piece.back() = ~expected_.at(extent.file_offset + extent.length - 1);
}

void Examiner::examine(std::span<std::byte> memory, const Extent& extent, FileData::Then then) {
  const auto piece = memory.subspan(extent.memory_offset, extent.length);
  checked_bytes_ += piece.size();
  const FileData::Examined found = expected_.examine(piece, extent.file_offset, sum_, then);
  if (found.right_bytes == piece.size()) [[likely]] {
    digest_ += found.digest;
    return;
  }
  expected_.fill(piece.first(found.right_bytes), extent.file_offset);  // this part may have been spoilt already
  if (sum_ == FileData::Sum::digested) digest_ += strider::digest(piece, extent.file_offset);
  report(piece, extent.file_offset, found.right_bytes);
  if (then == FileData::Then::spoil) spoil(piece);
}

void Examiner::report(std::span<const std::byte> memory, std::uint64_t file_offset, std::uint64_t position) {
  ++mismatches_;
  if (first_.size() == kept) {
    wrong_bytes_ += Piece{memory, file_offset, expected_}.count_wrong(position, memory.size());
    return;
  }
  Mismatch mismatch;
  mismatch.file_offset = file_offset + position;
  for (std::uint64_t i = position; i < std::min(memory.size(), position + Mismatch::shown_bytes); ++i) {
    mismatch.expected[mismatch.shown] = expected_.at(file_offset + i);
    mismatch.found[mismatch.shown++] = memory[i];
  }
  if (!classifier_) classifier_.emplace(known_);
  Classifier::Diagnosis diagnosis = classifier_->classify(memory, file_offset);
  mismatch.wrong_bytes = diagnosis.wrong_bytes;
  mismatch.causes = std::move(diagnosis.causes);
  mismatch.sampled = diagnosis.sampled;
  wrong_bytes_ += mismatch.wrong_bytes;
  first_.push_back(std::move(mismatch));
}

}  // namespace strider
