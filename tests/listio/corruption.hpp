#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

namespace strider::listio {

inline void expect_in(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

/// Corruptions that a test tries of each kind of file: those of the environment variable, or so `few`.
inline int corruptions(int few) {
  const char* const text = std::getenv("STRIDER_CORRUPTIONS");
  return text == nullptr ? few : std::atoi(text);
}

/// Changes the byte of a file at `offset` by exclusive or with `change`, which undoes itself when it is repeated.
inline void corrupt(const std::string& path, std::uint64_t offset, unsigned change) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const int before = file.get();
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(static_cast<char>(static_cast<unsigned>(before) ^ change));
}

}  // namespace strider::listio
