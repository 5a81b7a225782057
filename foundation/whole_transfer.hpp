#pragma once
#include <limits.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "foundation/error.hpp"

namespace strider {

/// How far a transfer came: to its end, to where a call moved nothing, or to where one failed.
struct Transferred {
  std::uint64_t bytes = 0;
  int error_number = 0;  ///< of the call that failed
};

/// What a system call returned: bytes, or a negative errno.
inline std::int64_t moved_or_error(ssize_t returned) { return returned < 0 ? -errno : returned; }

/// Repeats `call(done)`, which moves what is left after `done` bytes or a part of it, while `more(done)`: short calls
/// are continued and interrupted ones repeated. `call` returns the bytes it moved or a negative errno.
template <typename More, typename Call>
Transferred transfer_while(const More& more, const Call& call) {
  Transferred transferred;
  while (more(transferred.bytes)) {
    const std::int64_t moved = call(transferred.bytes);
    if (moved > 0) [[likely]] {
      transferred.bytes += static_cast<std::uint64_t>(moved);
    } else if (moved != -EINTR) {
      transferred.error_number = static_cast<int>(-moved);
      break;
    }
  }
  return transferred;
}

/// The same until all bytes are moved.
template <typename Call>
Transferred transfer_whole(std::uint64_t length, const Call& call) {
  return transfer_while([length](std::uint64_t done) { return done < length; }, call);
}

/// Takes the first bytes of pieces of memory away.
inline void drop_front(std::span<iovec>& pieces, std::uint64_t bytes) {
  while (!pieces.empty() && (bytes > 0 || pieces.front().iov_len == 0)) {
    iovec& piece = pieces.front();
    const std::size_t part = std::min<std::uint64_t>(piece.iov_len, bytes);
    piece.iov_base = static_cast<std::byte*>(piece.iov_base) + part;
    piece.iov_len -= part;
    bytes -= part;
    if (piece.iov_len == 0) pieces = pieces.subspan(1);
  }
}

/// The same with `call(pieces, count, offset)`: many pieces of memory, one after the other in the file from `offset`
/// on. `pieces` are used up: what is left of them was not moved.
template <typename Call>
Transferred transfer_pieces(std::span<iovec>& pieces, std::uint64_t offset, const Call& call) {
  drop_front(pieces, 0);  // what has no length
  return transfer_while([&](std::uint64_t) { return !pieces.empty(); },
                        [&](std::uint64_t done) {
                          const auto count = static_cast<int>(std::min<std::size_t>(pieces.size(), IOV_MAX));
                          const std::int64_t moved = call(pieces.data(), count, offset + done);
                          if (moved > 0) drop_front(pieces, static_cast<std::uint64_t>(moved));
                          return moved;
                        });
}

/// Appends what a descriptor gives, up to its end or until these are so many bytes.
Transferred read_to_end(int descriptor, std::string& text, std::uint64_t most_bytes = ~std::uint64_t{0});

/// The error of a transfer that came to `what.offset` and no further.
IoError stopped_transfer(IoError::What what);

/// A library's call: its name for errors, and the file it works on.
struct LibraryCall {
  const char* prefix;
  const char* name;
  const std::string& file;
  [[noreturn]] void stopped(std::uint64_t offset, std::uint64_t length, int error_number) const {
    throw stopped_transfer({std::string(prefix) + name, file, offset, length, error_number});
  }
};

/// Moves all bytes by `call(memory, length, offset)` or throws IoError.
template <typename Byte, typename Call>
void move_whole(const LibraryCall& what, Byte* memory, std::uint64_t length, std::uint64_t offset, const Call& call) {
  const Transferred moved =
      transfer_whole(length, [&](std::uint64_t done) { return call(memory + done, length - done, offset + done); });
  if (moved.bytes < length) what.stopped(offset + moved.bytes, length - moved.bytes, moved.error_number);
}

/// The same with many pieces of memory, as in transfer_pieces.
template <typename Call>
void move_pieces(const LibraryCall& what, std::span<iovec> pieces, std::uint64_t offset, const Call& call) {
  const Transferred moved = transfer_pieces(pieces, offset, call);
  if (!pieces.empty()) what.stopped(offset + moved.bytes, pieces.front().iov_len, moved.error_number);
}

}  // namespace strider
