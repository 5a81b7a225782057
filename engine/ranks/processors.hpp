#pragma once
#include <cstdint>

namespace strider {

/// The processors of this host, and those that this process may use; 0: unknown.
struct Processors {
  std::uint32_t online = 0;
  std::uint32_t allowed = 0;  ///< CPUs in the affinity of this process
  std::uint32_t numa_nodes = 0;
};

Processors find_processors();

}  // namespace strider
