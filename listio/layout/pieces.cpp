#include "listio/layout/pieces.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "foundation/bounds.hpp"
#include "foundation/error.hpp"

namespace strider::listio {
namespace {

bool continues(const Extent& before, const Extent& next) {
  return before.file_offset + before.length == next.file_offset &&
         before.memory_offset + before.length == next.memory_offset;
}

/// Calls `action(server, part)` for every part of the pieces that lies in one strip, in order. Offsets of the part are
/// in the server's data file.
template <typename Action>
void for_each_part(const Striping& striping, std::span<const Extent> pieces, const Action& action) {
  if (striping.servers() == 1) {  // the data file is the file
    for (const Extent& piece : pieces)
      if (piece.length > 0) action(0, piece);
    return;
  }
  for (Extent rest : pieces) {
    while (rest.length > 0) {
      const Location place = striping.locate(rest.file_offset);
      const std::uint64_t length = std::min(rest.length, striping.rest_of_strip(rest.file_offset));
      action(place.server, Extent{place.offset, rest.memory_offset, length});
      rest = {rest.file_offset + length, rest.memory_offset + length, rest.length - length};
    }
  }
}

void check(std::span<const Extent> pieces) {
  for (const Extent& piece : pieces)
    if (!ends_within(piece.file_offset, piece.length, most_file_bytes))
      throw InputError("file list",
                       "a piece of " + std::to_string(piece.length) + " bytes at " + std::to_string(piece.file_offset) +
                           " ends beyond the largest possible file size",
                       "check the source of the offsets and lengths of the list");
}

}  // namespace

std::vector<Extent> match(std::span<const ByteRun> memory, std::span<const ByteRun> file) {
  const std::uint64_t memory_bytes = checked_bytes(memory, std::numeric_limits<std::uint64_t>::max(), "memory list");
  const std::uint64_t file_bytes = checked_bytes(file, most_file_bytes, "file list");
  if (memory_bytes != file_bytes)
    throw InputError(
        "memory list",
        "the memory list has " + std::to_string(memory_bytes) + " bytes, the file list " + std::to_string(file_bytes),
        "the lengths in both lists must have the same sum");
  std::vector<Extent> pieces;
  pieces.reserve(std::max(memory.size(), file.size()));
  std::size_t m = 0, f = 0;
  std::uint64_t of_memory = 0, of_file = 0;  // bytes of the runs m and f that are in pieces
  while (f < file.size() && m < memory.size()) {
    const std::uint64_t length = std::min(memory[m].length - of_memory, file[f].length - of_file);
    const Extent piece{file[f].offset + of_file, memory[m].offset + of_memory, length};
    if (!pieces.empty() && continues(pieces.back(), piece)) pieces.back().length += length;
    else if (length > 0) pieces.push_back(piece);
    of_memory += length;
    of_file += length;
    if (of_memory == memory[m].length) ++m, of_memory = 0;
    if (of_file == file[f].length) ++f, of_file = 0;
  }
  return pieces;
}

ServerLists distribute(const Striping& striping, std::span<const Extent> pieces) {
  check(pieces);
  ServerLists lists;
  auto& begin = lists.begin_;
  begin.assign(std::size_t{striping.servers()} + 1, 0);
  // Counted before neighbours are joined, so that there is room for every part; a second walk puts them in their
  // places.
  for_each_part(striping, pieces, [&](std::uint32_t server, const Extent&) { ++begin[server + 1]; });
  for (std::size_t server = 0; server < striping.servers(); ++server) begin[server + 1] += begin[server];
  lists.pieces_.resize(begin.back());
  const std::vector<std::size_t> room = begin;
  for_each_part(striping, pieces, [&](std::uint32_t server, const Extent& part) {
    std::size_t& next = begin[server];  // the end of what the server has so far
    if (next > room[server] && continues(lists.pieces_[next - 1], part)) lists.pieces_[next - 1].length += part.length;
    else lists.pieces_[next++] = part;
  });
  // What was joined leaves gaps between the servers' parts.
  std::size_t end = 0;
  for (std::size_t server = 0; server < striping.servers(); ++server) {
    const auto from = lists.pieces_.begin() + static_cast<std::ptrdiff_t>(room[server]);
    const auto to = lists.pieces_.begin() + static_cast<std::ptrdiff_t>(begin[server]);
    std::copy(from, to, lists.pieces_.begin() + static_cast<std::ptrdiff_t>(end));
    begin[server] = end;
    end += static_cast<std::size_t>(to - from);
  }
  begin.back() = end;
  lists.pieces_.resize(end);
  return lists;
}

std::vector<Extent> collect(const Striping& striping, std::uint32_t server, std::span<const Extent> server_pieces) {
  std::vector<Extent> pieces;
  pieces.reserve(server_pieces.size());
  for (Extent rest : server_pieces) {
    while (rest.length > 0) {
      const std::uint64_t file_offset = striping.file_offset({server, rest.file_offset});
      const std::uint64_t length = std::min(rest.length, striping.rest_of_strip(file_offset));
      const Extent part{file_offset, rest.memory_offset, length};
      if (!pieces.empty() && continues(pieces.back(), part)) pieces.back().length += length;
      else pieces.push_back(part);
      rest = {rest.file_offset + length, rest.memory_offset + length, rest.length - length};
    }
  }
  check(pieces);
  return pieces;
}

}  // namespace strider::listio
