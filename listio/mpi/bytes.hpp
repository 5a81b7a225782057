#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace strider::listio::mpi {

/// Bytes that are written before they are read: unlike those of a vector, new ones are not set to 0.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::size_t size)
      : data_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size), room_(size) {}

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void append(const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    if (size_ + bytes > room_) grow(size_ + bytes);
    std::memcpy(data_.get() + size_, from, bytes);
    size_ += bytes;
  }

 private:
  void grow(std::size_t least) {
    room_ = std::max({least, 2 * room_, std::size_t{4096}});
    auto larger = std::make_unique_for_overwrite<std::byte[]>(room_);
    if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
    data_ = std::move(larger);
  }

  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace strider::listio::mpi
