#pragma once
#include <limits.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/extent.hpp"

namespace strider {

/// A library's call: its name for errors, and the file it works on.
struct LibraryCall {
  const char* prefix;
  const char* name;
  const std::string& file;
};

/// What a call moved: bytes, or a negative errno. Returns when it is worth to go on; throws IoError where it is not.
inline void check_moved(const LibraryCall& what, std::int64_t moved, std::uint64_t offset, std::uint64_t length) {
  if (moved > 0 || moved == -EINTR) return;
  const std::string call = std::string(what.prefix) + what.name;
  if (moved < 0) throw IoError({call, what.file, offset, length, static_cast<int>(-moved)});
  throw IoError({call, what.file, offset, length, 0}, "the call moved no bytes: the file ends here");
}

/// Repeats `call(memory, length, offset)`, which may move less than it is asked to, until everything is moved.
template <typename Call>
void move_whole(const LibraryCall& what, std::byte* memory, std::uint64_t length, std::uint64_t offset,
                const Call& call) {
  while (length > 0) {
    const std::int64_t moved = call(memory, length, offset);
    check_moved(what, moved, offset, length);
    if (moved < 0) continue;
    memory += moved;
    offset += static_cast<std::uint64_t>(moved);
    length -= static_cast<std::uint64_t>(moved);
  }
}

/// The same with `call(pieces, count, offset)`: many pieces of memory, one after the other in the file. Uses `pieces`
/// up.
template <typename Call>
void move_pieces(const LibraryCall& what, std::span<iovec> pieces, std::uint64_t offset, const Call& call) {
  while (!pieces.empty()) {
    const auto count = static_cast<int>(std::min<std::size_t>(pieces.size(), IOV_MAX));
    std::int64_t moved = call(pieces.data(), count, offset);
    check_moved(what, moved, offset, pieces[0].iov_len);
    if (moved < 0) continue;
    offset += static_cast<std::uint64_t>(moved);
    while (moved > 0) {
      iovec& piece = pieces[0];
      const std::size_t part = std::min(piece.iov_len, static_cast<std::size_t>(moved));
      piece.iov_base = static_cast<std::byte*>(piece.iov_base) + part;
      piece.iov_len -= part;
      moved -= static_cast<std::int64_t>(part);
      if (piece.iov_len == 0) pieces = pieces.subspan(1);
    }
  }
}

/// Takes requests apart into runs: extents that follow each other in the file.
class Runs {
 public:
  /// Calls `action(pieces of memory, offset in the file)` for each.
  template <typename Action>
  void for_each(const Request& request, const Action& action) {
    std::uint64_t begin = 0, end = 0;
    pieces_.clear();
    for (const Extent& extent : request.extents) {
      if (!pieces_.empty() && extent.file_offset != end) {
        action(std::span(pieces_), begin);
        pieces_.clear();
      }
      if (pieces_.empty()) begin = extent.file_offset;
      end = extent.file_offset + extent.length;
      pieces_.push_back({request.memory + extent.memory_offset, extent.length});
    }
    if (!pieces_.empty()) action(std::span(pieces_), begin);
  }

 private:
  std::vector<iovec> pieces_;  ///< of the run at hand; keeps its memory between requests
};

}  // namespace strider
