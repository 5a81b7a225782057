#pragma once
#include <mpi.h>

#include <vector>

#include "events/events.hpp"
#include "measure/storage_path.hpp"
#include "ranks/waiting.hpp"
#include "reports/phase.hpp"

namespace strider {

/// Reads the counters of each node before and after a phase, on the node's lowest rank and outside of the timed part.
class CounterWatch {
 public:
  /// The first reading.
  CounterWatch(const RunContext& context, MPI_Comm communicator);
  /// The second reading, when no rank works any more.
  void finish();
  /// What this node moved from and to storage; nothing on ranks that do not count.
  const StorageTraffic& storage() const { return storage_; }
  /// On rank 0: what the nodes counted, those that moved most one by one. Collective.
  std::vector<NodeCounters> gather(const WaitOptions& waiting) const;

 private:
  CounterGroups read();

  const RunContext& context_;
  MPI_Comm communicator_;
  bool counts_;
  std::uint64_t begin_ns_ = 0;
  CounterGroups before_;
  NodeCounters found_;
  StorageTraffic storage_;
};

}  // namespace strider
