#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "foundation/error.hpp"
#include "listio/client/client.hpp"
#include "listio/server/server.hpp"

namespace strider::listio {

constexpr std::uint64_t strip = 4096;  ///< bytes

inline ServerOptions two_copies() {
  ServerOptions options;
  options.copies = 2;
  return options;
}

inline ClientOptions patient(std::chrono::milliseconds patience = std::chrono::milliseconds(15000)) {
  ClientOptions options;
  options.patience = patience;
  return options;
}

inline std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline std::vector<std::byte> contents(Client& client, const File& file) {
  std::vector<std::byte> bytes(client.size(file));
  EXPECT_EQ(client.read(file, bytes, 0), bytes.size());
  return bytes;
}

/// The error number of an action; 0: none.
inline int error_of(const std::function<void()>& action) {
  try {
    action();
    return 0;
  } catch (const IoError& error) {
    return error.details().error_number;
  }
}

}  // namespace strider::listio
