#include "listio/server/file_calls.hpp"

#include <algorithm>

#include "listio/server/run_parts.hpp"

namespace strider::listio {
namespace {

constexpr std::size_t most_pieces = 1024;  // IOV_MAX

void sort_unless_overlapping(std::vector<RunPart>& parts) {
  if (std::is_sorted(parts.begin(), parts.end(), is_before)) return;
  std::vector<RunPart> sorted = parts;
  std::sort(sorted.begin(), sorted.end(), is_before);
  const auto overlap = [](const RunPart& a, const RunPart& b) { return a.run.end() > b.run.offset; };
  if (std::adjacent_find(sorted.begin(), sorted.end(), overlap) == sorted.end()) parts = std::move(sorted);
}

}  // namespace

FileCalls::FileCalls(std::span<const ByteRun> runs, std::span<std::byte> buffer) {
  std::vector<RunPart> parts = parts_of(runs, buffer);
  sort_unless_overlapping(parts);
  pieces_.reserve(parts.size());  // so that spans of it stay good
  for (const RunPart& part : parts) {
    const bool continues = !calls_.empty() && calls_.back().offset + calls_.back().bytes == part.run.offset &&
                           calls_.back().pieces.size() < most_pieces;
    if (!continues) calls_.push_back({part.run.offset, 0, std::span(pieces_.data() + pieces_.size(), 0)});
    FileCall& call = calls_.back();
    add_piece(pieces_, call.pieces, part.memory, part.run.length);
    call.bytes += part.run.length;
  }
}

}  // namespace strider::listio
