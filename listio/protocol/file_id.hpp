#pragma once
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace strider::listio {

/// A file, whatever it is called; never 0.
using FileId = std::uint64_t;

/// The number under which servers keep a second set of locks on a file, which do not exclude those of the first:
/// those of `flock` beside those of `fcntl`.
constexpr FileId apart(FileId file) { return file ^ (FileId{1} << 63); }

/// The 16 hexadecimal digits of a file's number.
inline std::string digits_of(FileId file) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(file));
  return text.data();
}

}  // namespace strider::listio
