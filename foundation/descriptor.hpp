#pragma once
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

namespace strider {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Gives the descriptor to the caller, who closes it.
  int release() { return std::exchange(number_, -1); }
  /// 0 or -1 as close(2), with errno; 0 where there is nothing to close.
  int close() { return number_ < 0 ? 0 : ::close(std::exchange(number_, -1)); }

 private:
  int number_ = -1;
};

/// An open file and its path, which errors name. All calls throw IoError.
class OpenFile {
 public:
  /// Where the descriptor is not open, errno says why.
  OpenFile(Descriptor descriptor, std::string path);
  int get() const { return descriptor_.get(); }
  const std::string& path() const { return path_; }
  /// Gives the descriptor to the caller, who closes it, such as fdopen.
  int release() { return descriptor_.release(); }
  /// Data is on stable storage when this returns.
  void sync() const;
  /// Bytes of the file.
  std::uint64_t size() const;
  /// Closes and reports what close() says: some file systems report lost writes only here.
  void close();

 private:
  Descriptor descriptor_;
  std::string path_;
};

/// What direct I/O asks of offsets, lengths and memory.
constexpr std::uint64_t direct_alignment = 512;

}  // namespace strider
