#pragma once
#include <sys/uio.h>
#include <unistd.h>

#include <span>
#include <string>

#include "core/extent.hpp"
#include "interfaces/descriptor.hpp"
#include "interfaces/whole.hpp"

namespace strider {

/// Complete transfers by the operating system's calls: short ones are continued, interrupted ones repeated, and what
/// cannot be done is thrown as IoError. `offset` and lengths in bytes.
class PosixIo {
 public:
  explicit PosixIo(const Descriptor& file) : file_(file) {}

  void write(std::span<const std::byte> from, std::uint64_t offset) const {
    std::uint64_t done = 0;
    while (done < from.size()) {
      const ssize_t moved =
          ::pwrite(file_.get(), from.data() + done, from.size() - done, static_cast<off_t>(offset + done));
      if (moved > 0) [[likely]]
        done += static_cast<std::uint64_t>(moved);
      else stopped("pwrite", moved, offset + done, from.size() - done);
    }
  }
  void read(std::span<std::byte> to, std::uint64_t offset) const {
    const std::uint64_t done = read_some(to, offset);
    if (done < to.size()) stopped("pread", 0, offset + done, to.size() - done);
  }
  /// Reads up to the file's end; how much that was.
  std::uint64_t read_some(std::span<std::byte> to, std::uint64_t offset) const {
    std::uint64_t done = 0;
    while (done < to.size()) {
      const ssize_t moved = ::pread(file_.get(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
      if (moved > 0) [[likely]]
        done += static_cast<std::uint64_t>(moved);
      else if (moved == 0) break;
      else stopped("pread", moved, offset + done, to.size() - done);
    }
    return done;
  }
  /// Many pieces of memory, one after the other in the file. Uses `pieces` up.
  void write_vector(std::span<iovec> pieces, std::uint64_t offset) const { move("pwritev", ::pwritev, pieces, offset); }
  void read_vector(std::span<iovec> pieces, std::uint64_t offset) const { move("preadv", ::preadv, pieces, offset); }

 private:
  template <typename Call>
  void move(const char* name, const Call& call, std::span<iovec> pieces, std::uint64_t offset) const {
    move_pieces({"", name, file_.path()}, pieces, offset, [&](const iovec* first, int count, std::uint64_t at) {
      const ssize_t moved = call(file_.get(), first, count, static_cast<off_t>(at));
      return moved < 0 ? -errno : moved;
    });
  }
  /// Returns when the call is to be repeated.
  void stopped(const char* call, ssize_t moved, std::uint64_t offset, std::uint64_t length) const {
    if (moved < 0 && errno == EINTR) return;
    if (moved < 0) throw_errno(call, file_.path(), offset, length);
    throw IoError({call, file_.path(), offset, length, 0}, "the call moved no bytes: the file ends here");
  }
  const Descriptor& file_;
};

}  // namespace strider
