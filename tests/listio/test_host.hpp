#pragma once
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace strider::listio {

/// Where servers of tests listen: a network card is reached by its own address, not by the host's loopback.
inline std::string test_host() {
  const char* const host = std::getenv("STRIDER_TEST_HOST");
  return host == nullptr ? "127.0.0.1" : host;
}

/// Where servers listen that start again at their ports: at an address of this process alone, where no other program is
/// given such a port meanwhile. libfabric knows only addresses that an interface has.
inline std::string own_host(const std::string& transport) {
  if (std::getenv("STRIDER_TEST_HOST") != nullptr || transport.starts_with("ofi")) return test_host();
  const unsigned pid = static_cast<unsigned>(::getpid());
  return "127." + std::to_string(128 + (pid >> 16) % 64) + "." + std::to_string(pid >> 8 & 255) + "." +
         std::to_string(pid & 255);
}

}  // namespace strider::listio
