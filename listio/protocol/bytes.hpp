#pragma once
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strider::listio {

/// Appends numbers (little-endian) and bytes to a message.
class ByteWriter {
 public:
  ByteWriter() { bytes_.reserve(256); }

  template <std::unsigned_integral Number>
  ByteWriter& number(Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    return *this;
  }
  ByteWriter& raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  /// The length in 16 bits, then the text: at most 65535 bytes of it.
  ByteWriter& text(std::string_view text) {
    text = text.substr(0, 0xffff);
    number(static_cast<std::uint16_t>(text.size()));
    return raw(std::as_bytes(std::span(text)));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes numbers and bytes from a message that comes from outside. What is beyond its end reads as nothing, and
/// `complete` says so afterwards: no need to check after every number, and nothing is ever allocated for what is not
/// there.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <std::unsigned_integral Number>
  Number number() {
    const std::span<const std::byte> bytes = raw(sizeof(Number));
    Number value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      value = static_cast<Number>(value | static_cast<Number>(std::to_integer<Number>(bytes[i]) << (8 * i)));
    return value;
  }
  std::span<const std::byte> raw(std::size_t count) {
    if (count > rest_.size()) {
      short_ = true;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  std::string text() {
    const std::span<const std::byte> bytes = raw(number<std::uint16_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::span<const std::byte> rest() const { return rest_; }
  /// Whether everything that was asked for was there, and nothing is left.
  bool complete() const { return !short_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool short_ = false;
};

}  // namespace strider::listio
