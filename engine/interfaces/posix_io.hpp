#pragma once
#include <sys/uio.h>
#include <unistd.h>

#include <span>

#include "foundation/descriptor.hpp"
#include "foundation/whole_transfer.hpp"

namespace strider {

/// Complete transfers by the operating system's calls: short ones are continued, interrupted ones repeated, and what
/// cannot be done is thrown as IoError. `offset` and lengths in bytes.
class PosixIo {
 public:
  explicit PosixIo(const OpenFile& file) : file_(file) {}

  void write(std::span<const std::byte> from, std::uint64_t offset) const {
    move_whole(what("pwrite"), from.data(), from.size(), offset,
               [&](const std::byte* memory, std::uint64_t length, std::uint64_t at) {
                 return moved_or_error(::pwrite(file_.get(), memory, length, static_cast<off_t>(at)));
               });
  }
  void read(std::span<std::byte> to, std::uint64_t offset) const {
    const std::uint64_t done = read_some(to, offset);
    if (done < to.size()) what("pread").stopped(offset + done, to.size() - done, 0);
  }
  /// Reads up to the file's end; how much that was.
  std::uint64_t read_some(std::span<std::byte> to, std::uint64_t offset) const {
    const Transferred moved = transfer_whole(to.size(), [&](std::uint64_t done) {
      return moved_or_error(
          ::pread(file_.get(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done)));
    });
    if (moved.error_number != 0)
      what("pread").stopped(offset + moved.bytes, to.size() - moved.bytes, moved.error_number);
    return moved.bytes;
  }
  /// Many pieces of memory, one after the other in the file. Uses `pieces` up.
  void write_vector(std::span<iovec> pieces, std::uint64_t offset) const { move("pwritev", ::pwritev, pieces, offset); }
  void read_vector(std::span<iovec> pieces, std::uint64_t offset) const { move("preadv", ::preadv, pieces, offset); }

 private:
  LibraryCall what(const char* call) const { return {"", call, file_.path()}; }
  template <typename Call>
  void move(const char* name, const Call& call, std::span<iovec> pieces, std::uint64_t offset) const {
    move_pieces(what(name), pieces, offset, [&](const iovec* first, int count, std::uint64_t at) {
      return moved_or_error(call(file_.get(), first, count, static_cast<off_t>(at)));
    });
  }
  const OpenFile& file_;
};

}  // namespace strider
