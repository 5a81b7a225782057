#pragma once
#include <string>

#include "measure/counters.hpp"

namespace strider {

enum class CounterScope {
  none,
  basic,  ///< processors, kernel, memory, block devices, network interfaces
  all,    ///< and what can be slow to read: InfiniBand ports, clients of file systems
};

/// The counters of this node, from the kernel's files below `root` (docs/formats.md names them all). What is not there
/// or cannot be read is left out.
class CounterSources {
 public:
  explicit CounterSources(CounterScope scope, std::string root = "");
  CounterGroups read() const;

 private:
  CounterScope scope_;
  std::string root_;
};

/// One source each; `root` stands before /proc and /sys. They add to `groups`.
void read_processors(const std::string& root, CounterGroups& groups);
void read_memory(const std::string& root, CounterGroups& groups);
void read_block_devices(const std::string& root, CounterGroups& groups);
void read_network(const std::string& root, CounterGroups& groups);
void read_infiniband(const std::string& root, CounterGroups& groups);
void read_lustre(const std::string& root, CounterGroups& groups);
void read_nfs(const std::string& root, CounterGroups& groups);
void read_ceph(const std::string& root, CounterGroups& groups);

}  // namespace strider
