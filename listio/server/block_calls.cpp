#include "listio/server/block_calls.hpp"

#include <algorithm>

#include "foundation/whole_transfer.hpp"
#include "listio/server/run_parts.hpp"

namespace strider::listio {
namespace {

bool begins_before(const ByteRun& a, const ByteRun& b) { return a.offset < b.offset; }
/// How many of the blocks at its two ends a run may have only a part of.
std::size_t parts_at_ends(const ByteRun& run) {
  return (run.offset % block_bytes != 0 ? 1U : 0U) + (run.end() % block_bytes != 0 ? 1U : 0U);
}
bool overlap(const ByteRun& a, const ByteRun& b) { return a.end() > b.offset; }

}  // namespace

std::span<iovec> BlockCall::own_pieces() const {
  std::span<iovec> own = pieces;
  drop_front(own, begin - first * block_bytes);
  for (std::uint64_t bytes = end_block() * block_bytes - end; bytes > 0;) {
    const std::size_t part = std::min<std::uint64_t>(own.back().iov_len, bytes);
    own.back().iov_len -= part;
    bytes -= part;
    if (own.back().iov_len == 0) own = own.first(own.size() - 1);
  }
  return own;
}

bool BlockCalls::are_apart(std::span<const ByteRun> runs) {
  if (std::ranges::is_sorted(runs, begins_before)) return std::ranges::adjacent_find(runs, overlap) == runs.end();
  std::vector<ByteRun> sorted(runs.begin(), runs.end());
  std::ranges::sort(sorted, begins_before);
  return std::ranges::adjacent_find(sorted, overlap) == sorted.end();
}

BlockCalls::BlockCalls(std::span<const ByteRun> runs, std::span<std::byte> buffer) {
  std::vector<RunPart> parts = parts_of(runs, buffer);
  if (!std::ranges::is_sorted(parts, is_before)) std::ranges::sort(parts, is_before);
  // At most: a block in part at both ends of each run, one piece for it, and three for the bytes around it. Spans of
  // these stay good.
  std::size_t blocks = 0;
  for (const RunPart& part : parts) blocks += parts_at_ends(part.run);
  if (blocks > 0) memory_ = std::make_unique_for_overwrite<std::byte[]>(blocks * block_bytes);
  free_ = memory_.get();
  parts_.reserve(blocks);
  pieces_.reserve(4 * parts.size());
  calls_.reserve(parts.size());
  for (const RunPart& part : parts) add(part.run, part.memory);
  close();
}

void BlockCalls::add(const ByteRun& run, std::byte* memory) {
  const std::uint64_t block = run.offset / block_bytes;
  const bool continues = !calls_.empty() && block <= blocks_of(calls_.back().end);
  if (!continues) {
    if (!calls_.empty()) close();
    const std::uint64_t begin = block * block_bytes;
    calls_.push_back({.first = block,
                      .begin = begin,
                      .end = begin,
                      .pieces = {pieces_.data() + pieces_.size(), 0},
                      .parts = {parts_.data() + parts_.size(), 0}});
  }
  fill(calls_.back().end, run.offset);
  if (!continues) calls_.back().begin = run.offset;
  put(memory, run.length);
  calls_.back().end = run.end();
  calls_.back().own_bytes += run.length;
}

void BlockCalls::fill(std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    const std::uint64_t block = begin / block_bytes, block_end = std::min(end, (block + 1) * block_bytes);
    BlockCall& call = calls_.back();
    if (call.parts.empty() || call.parts.back().block != block) {
      parts_.push_back({block, free_});
      free_ += block_bytes;
      call.parts = {call.parts.data(), call.parts.size() + 1};
    }
    put(call.parts.back().bytes + begin % block_bytes, block_end - begin);
    begin = block_end;
  }
}

void BlockCalls::put(std::byte* memory, std::uint64_t bytes) {
  add_piece(pieces_, calls_.back().pieces, memory, bytes);
}

void BlockCalls::close() {
  BlockCall& call = calls_.back();
  const std::uint64_t end = call.end;
  fill(end, blocks_of(end) * block_bytes);
  call.blocks = blocks_of(end) - call.first;
}

}  // namespace strider::listio
