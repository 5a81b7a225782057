#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "measure/counter_sources.hpp"
#include "ranks/confinement_state.hpp"
#include "reports/timeline_options.hpp"

namespace strider {

/// Whether to measure what limits storage on this machine beside the cases.
enum class CeilingScope {
  none,
  all,  ///< before the first case, and what is cheap again after the last
};

struct RunOptions {
  std::string plan_file;
  std::string directory;  ///< Strider's own folder in the target; exists
  std::string run;        ///< the run's id
  RunFolder::Marker marker = RunFolder::Marker::unknown;
  ConfinementOptions confinement;
  std::string events;  ///< file that rank 0 appends events to
  std::uint64_t data_seed = 1;
  CounterScope counters = CounterScope::all;
  CeilingScope ceilings = CeilingScope::none;
  TimelineOptions timelines;
  /// The run's folders on mounts of its list-I/O volume, by the number of servers that their files use; 0: all.
  std::map<std::uint32_t, std::string> mounts;
  std::map<std::string, std::string> data_sets;  ///< their directories, by name
  /// Of the directories above, by their paths, as far as the run's starter knows them.
  std::map<std::string, FolderIdentity> identities;
  std::vector<WatchedProcess> processes;     ///< whose counters are recorded on their host
  std::vector<std::string> remount_command;  ///< remounts the target to drop its caches; empty: none
  std::string earlier;                       ///< file with the earlier starts of a resumed run; empty: none
  /// Ranks for which the processes stand, without doing I/O: as many as the plan has; 0: each process is a rank.
  std::uint32_t simulated_ranks = 0;
  std::string per_rank;  ///< file for the rows of all ranks; empty: none
};

enum class RunResult { complete, with_errors, interrupted, bad_plan, failed };

/// Runs a plan on all ranks of MPI_COMM_WORLD, from MPI_Init to MPI_Finalize. Every rank returns the same result.
RunResult run_plan(const RunOptions& options);

}  // namespace strider
