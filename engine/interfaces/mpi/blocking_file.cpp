#include "interfaces/mpi/blocking_file.hpp"

#include "interfaces/mpi/error.hpp"

namespace strider {

void MpiBlockingFile::move(const Request& request, const BlockingCall& call) {
  if (handle_.by_extents()) {
    if (request.extents.empty()) move_piece({}, call);
    for (const Extent& extent : request.extents) move_piece(MpiHandle::piece_of(extent, request.memory), call);
    return;
  }
  std::optional<ExtentType> memory_type;
  move_piece(handle_.piece_of(request, memory_type), call);
}

/// A short independent call is continued. A short collective one cannot be, since the other ranks would not join it,
/// nor one at a shared pointer, which others have moved.
bool MpiBlockingFile::can_go_on() const {
  return handle_.options().participation == Participation::independent &&
         handle_.options().pointer != Pointer::shared && handle_.by_extents();
}

void MpiBlockingFile::move_piece(Piece piece, const BlockingCall& call) {
  while (true) {
    handle_.go_to(piece);
    MPI_Status status;
    const int code = call.function(handle_.get(), piece.offset, piece.memory, piece.count, piece.type, &status);
    if (code != MPI_SUCCESS) {
      handle_.release_locks();
      throw_mpi(code, {call.name, handle_.name(), piece.file_offset, piece.bytes, 0});
    }
    const std::uint64_t bytes = bytes_moved(status);
    if (bytes >= piece.bytes) {
      if (&call == &read_) handle_.check_end(call.name, piece);
      return;
    }
    if (bytes == 0 || !can_go_on())
      throw IoError({call.name, handle_.name(), piece.file_offset, piece.bytes, 0},
                    moved_too_little(bytes, piece.bytes));
    handle_.lose_position();
    piece = {.offset = piece.offset + static_cast<MPI_Offset>(bytes),
             .memory = static_cast<std::byte*>(piece.memory) + bytes,
             .count = piece.count - static_cast<int>(bytes),
             .file_offset = piece.file_offset + bytes,
             .bytes = piece.bytes - bytes,
             .end = piece.end};
  }
}

}  // namespace strider
