#pragma once
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/run_folder.hpp"

namespace strider {

/// Throws IoError with the current errno.
[[noreturn]] inline void throw_errno(const char* call, const std::string& file, std::uint64_t offset = 0,
                                     std::uint64_t length = 0) {
  throw IoError({call, file, offset, length, errno});
}

/// An open file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(int value, std::string path) : value_(value), path_(std::move(path)) {
    if (value_ < 0) throw_errno("open", path_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  const std::string& path() const { return path_; }
  /// Closes and reports what close() says: some file systems report lost writes only here.
  void close() {
    if (::close(std::exchange(value_, -1)) != 0) throw_errno("close", path_);
  }

 private:
  int value_;
  std::string path_;
};

/// What direct I/O asks of offsets, lengths and memory.
constexpr std::uint64_t direct_alignment = 512;

/// Data is on stable storage when this returns.
inline void sync_or_throw(const Descriptor& file) {
  if (::fsync(file.get()) != 0) throw_errno("fsync", file.path());
}

/// Bytes of the file.
inline std::uint64_t size_of(const Descriptor& file) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) throw_errno("fstat", file.path());
  return static_cast<std::uint64_t>(status.st_size);
}

/// Removes a file, below a folder where there is one; a file that is not there is gone already.
inline void remove_file(RunFolder* folder, const std::string& path) {
  if (folder != nullptr) return folder->remove(path);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw_errno("unlink", path);
}

}  // namespace strider
