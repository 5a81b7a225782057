#pragma once
#include <fcntl.h>

#include <cstring>
#include <vector>

#include "interfaces/posix_io.hpp"
#include "interfaces/windows.hpp"

namespace strider {

/// Data sieving (Thakur, Gropp, Lusk: Data Sieving and Collective I/O in ROMIO, 1999): the pieces of a request are
/// moved through a buffer that covers them and the holes between them. Writing reads the buffer's part of the file
/// first, under a lock, since other ranks own what is in the holes.
class Sieve {
 public:
  Sieve(const OpenFile& file, std::uint64_t buffer_bytes) : file_(file), io_(file), buffer_(buffer_bytes) {}

  void read(const Request& request) {
    for_each_window(request, buffer_.size(), [&](const Window& window) {
      const auto part = std::span(buffer_).first(window.end - window.begin);
      io_.read(part, window.begin);
      for_each_piece(request, window, [&](std::uint64_t in_buffer, std::uint64_t in_memory, std::uint64_t length) {
        std::memcpy(request.memory + in_memory, part.data() + in_buffer, length);
      });
    });
  }

  void write(const Request& request) {
    for_each_window(request, buffer_.size(), [&](const Window& window) {
      const auto part = std::span(buffer_).first(window.end - window.begin);
      const Lock lock(file_, window.begin, window.holes ? window.end - window.begin : 0);
      if (window.holes) {
        const std::uint64_t there = io_.read_some(part, window.begin);
        std::fill(part.begin() + static_cast<std::ptrdiff_t>(there), part.end(), std::byte{0});
      }
      for_each_piece(request, window, [&](std::uint64_t in_buffer, std::uint64_t in_memory, std::uint64_t length) {
        std::memcpy(part.data() + in_buffer, request.memory + in_memory, length);
      });
      io_.write(part, window.begin);
    });
  }

 private:
  /// A lock on a range of the file, for as long as it lives; none where `length` is 0.
  class Lock {
   public:
    Lock(const OpenFile& file, std::uint64_t offset, std::uint64_t length)
        : file_(file), offset_(offset), length_(length) {
      if (length_ > 0) set(F_WRLCK);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() {
      if (length_ == 0) return;
      struct flock range = describe(F_UNLCK);
      ::fcntl(file_.get(), F_SETLK, &range);
    }

   private:
    struct flock describe(short type) const {
      struct flock range{};
      range.l_type = type;
      range.l_whence = SEEK_SET;
      range.l_start = static_cast<off_t>(offset_);
      range.l_len = static_cast<off_t>(length_);
      return range;
    }
    void set(short type) const {
      struct flock range = describe(type);
      while (::fcntl(file_.get(), F_SETLKW, &range) != 0)
        if (errno != EINTR) throw_errno("fcntl(F_SETLKW)", file_.path(), offset_, length_);
    }
    const OpenFile& file_;
    std::uint64_t offset_, length_;
  };

  const OpenFile& file_;
  PosixIo io_;
  std::vector<std::byte> buffer_;
};

}  // namespace strider
