#include "measure/counter_sources.hpp"

#include <utility>

namespace strider {

CounterSources::CounterSources(CounterScope scope, std::string root, std::vector<WatchedProcess> processes)
    : scope_(scope), root_(std::move(root)), processes_(std::move(processes)) {}

CounterGroups CounterSources::read() const {
  CounterGroups groups;
  if (scope_ == CounterScope::none) return groups;
  read_processors(root_, groups);
  read_memory(root_, groups);
  read_block_devices(root_, groups);
  read_network(root_, groups);
  read_processes(root_, processes_, groups);
  if (scope_ != CounterScope::all) return groups;
  read_infiniband(root_, groups);
  read_lustre(root_, groups);
  read_nfs(root_, groups);
  read_ceph(root_, groups);
  return groups;
}

}  // namespace strider
