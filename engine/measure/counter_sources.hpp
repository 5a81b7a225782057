#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/counters.hpp"

namespace strider {

enum class CounterScope {
  none,
  basic,  ///< processors, kernel, memory, block devices, network interfaces
  all,    ///< and what can be slow to read: InfiniBand ports, clients of file systems
};

/// A process that takes part in a run beside the ranks, such as a storage server.
struct WatchedProcess {
  std::string name;  ///< what its counters are called by, such as "server 0"
  std::uint64_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< proc_pid_stat(5), field 22: no other process has had both
  std::uint16_t port = 0;         ///< where it accepts TCP connections; 0: it does not
  bool operator==(const WatchedProcess&) const = default;
};

/// The counters of this node, from the kernel's files below `root` (docs/formats.md names them all). What is not there
/// or cannot be read is left out.
class CounterSources {
 public:
  explicit CounterSources(CounterScope scope, std::string root = "", std::vector<WatchedProcess> processes = {});
  CounterGroups read() const;

 private:
  CounterScope scope_;
  std::string root_;
  std::vector<WatchedProcess> processes_;
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
/// Of each process that runs: times, context switches, and what passed through its TCP connections.
void read_processes(const std::string& root, std::span<const WatchedProcess> processes, CounterGroups& groups);

}  // namespace strider
