#pragma once
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace strider {

/// A path that is built again and again without allocating: a fixed buffer, zero-terminated after each change.
class PathText {
 public:
  static constexpr std::size_t capacity = 4096;  ///< PATH_MAX of Linux, the end included

  const char* c_str() const { return text_.data(); }
  std::string_view view() const { return {text_.data(), size_}; }
  std::size_t size() const { return size_; }

  /// Back to an earlier length.
  void cut(std::size_t size) { text_[size_ = size] = '\0'; }
  void append(std::string_view text) {
    make_room(text.size());
    std::memcpy(text_.data() + size_, text.data(), text.size());
    cut(size_ + text.size());
  }
  void append(char letter) {
    make_room(1);
    text_[size_] = letter;
    cut(size_ + 1);
  }
  void append_number(std::uint64_t number) {
    constexpr std::size_t most_digits = 20;
    make_room(most_digits);
    const auto end = std::to_chars(text_.data() + size_, text_.data() + capacity, number).ptr;
    cut(static_cast<std::size_t>(end - text_.data()));
  }
  void fill_up(std::size_t size, char letter) {
    if (size <= size_) return;
    make_room(size - size_);
    std::memset(text_.data() + size_, letter, size - size_);
    cut(size);
  }

 private:
  void make_room(std::size_t more) const {
    if (more >= capacity - size_) throw std::length_error("a path of this tree is longer than 4095 characters");
  }
  std::array<char, capacity> text_{};
  std::size_t size_ = 0;
};

}  // namespace strider
