#include "listio/server/file_calls.hpp"

#include <algorithm>

namespace strider::listio {
namespace {

constexpr std::size_t most_pieces = 1024;  // IOV_MAX

struct Part {
  ByteRun run;
  std::byte* memory = nullptr;
};

std::vector<Part> parts_of(std::span<const ByteRun> runs, std::span<std::byte> buffer) {
  std::vector<Part> parts;
  parts.reserve(runs.size());
  std::uint64_t done = 0;
  for (const ByteRun& run : runs) {
    parts.push_back({run, buffer.data() + done});
    done += run.length;
  }
  return parts;
}

void sort_unless_overlapping(std::vector<Part>& parts) {
  const auto by_offset = [](const Part& a, const Part& b) { return a.run.offset < b.run.offset; };
  if (std::is_sorted(parts.begin(), parts.end(), by_offset)) return;
  std::vector<Part> sorted = parts;
  std::sort(sorted.begin(), sorted.end(), by_offset);
  const auto overlap = [](const Part& a, const Part& b) { return a.run.end() > b.run.offset; };
  if (std::adjacent_find(sorted.begin(), sorted.end(), overlap) == sorted.end()) parts = std::move(sorted);
}

}  // namespace

FileCalls::FileCalls(std::span<const ByteRun> runs, std::span<std::byte> buffer) {
  std::vector<Part> parts = parts_of(runs, buffer);
  sort_unless_overlapping(parts);
  pieces_.reserve(parts.size());  // so that spans of it stay good
  for (const Part& part : parts) {
    const bool continues = !calls_.empty() && calls_.back().offset + calls_.back().bytes == part.run.offset &&
                           calls_.back().pieces.size() < most_pieces;
    pieces_.push_back({part.memory, part.run.length});
    if (!continues) calls_.push_back({part.run.offset, 0, std::span(&pieces_.back(), 0)});
    FileCall& call = calls_.back();
    iovec* const last = call.pieces.empty() ? nullptr : &call.pieces.back();
    if (last != nullptr && static_cast<std::byte*>(last->iov_base) + last->iov_len == part.memory) {
      last->iov_len += part.run.length;
      pieces_.pop_back();
    } else {
      call.pieces = std::span(call.pieces.data(), call.pieces.size() + 1);
    }
    call.bytes += part.run.length;
  }
}

}  // namespace strider::listio
