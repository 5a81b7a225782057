#pragma once
#include <cstdlib>
#include <string>

namespace strider::listio {

/// Where servers of tests listen: a network card is reached by its own address, not by the host's loopback.
inline std::string test_host() {
  const char* const host = std::getenv("STRIDER_TEST_HOST");
  return host == nullptr ? "127.0.0.1" : host;
}

}  // namespace strider::listio
