#include "ranks/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace strider {
namespace {

/// The kernel refuses a set that is smaller than its own; no kernel has more CPUs.
constexpr int most_cpus = 1 << 16;

std::uint32_t allowed_cpus() {
  for (int cpus = CPU_SETSIZE; cpus <= most_cpus; cpus *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(cpus), [](cpu_set_t* old) { CPU_FREE(old); });
    if (!set) return 0;
    if (::sched_getaffinity(0, bytes, set.get()) == 0) return static_cast<std::uint32_t>(CPU_COUNT_S(bytes, set.get()));
    if (errno != EINVAL) return 0;
  }
  return 0;
}

/// Folders node0, node1 and so on; none in a kernel without NUMA.
std::uint32_t numa_nodes() {
  std::error_code failed;
  std::uint32_t count = 0;
  for (std::filesystem::directory_iterator entry("/sys/devices/system/node", failed), end; entry != end && !failed;
       entry.increment(failed)) {
    const std::string name = entry->path().filename();
    if (name.starts_with("node") && name.size() > 4 && std::isdigit(static_cast<unsigned char>(name[4])) != 0) ++count;
  }
  return count;
}

}  // namespace

Processors find_processors() {
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return {online > 0 ? static_cast<std::uint32_t>(online) : 0, allowed_cpus(), numa_nodes()};
}

}  // namespace strider
