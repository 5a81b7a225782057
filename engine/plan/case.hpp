#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/extent.hpp"
#include "foundation/pace.hpp"
#include "foundation/parameter.hpp"
#include "interfaces/interface.hpp"
#include "patterns/order.hpp"
#include "patterns/pattern.hpp"
#include "plan/data_set.hpp"
#include "plan/operation.hpp"
#include "trees/tree.hpp"

namespace strider {

enum class SharingKind { shared, per_rank, per_node, files };
enum class Readback { same, shift, growing_shift, shuffle };
/// pack: node after node; spread: a rank of each node in turn.
enum class Placement { pack, spread };
/// node: of metadata, each rank flushes the caches of its node at the end of each phase on items.
enum class SyncPolicy { none, end, each, node };
enum class Verify { off, full };
enum class WearOut { no, yes };
/// Of metadata: the phases that a deadline ends.
enum class DeadlineOf { all, creation };
/// Where the files of a case are: in the target, or on a mount of the run's list-I/O volume.
enum class MountKind { none, listio };
/// What the nodes' memory holds of a file when a phase begins to read it.
enum class CachePolicy { as_is, cold, warm };

struct Sharing {
  SharingKind kind = SharingKind::shared;
  std::uint32_t files = 1;  ///< with SharingKind::files
};

/// On which nodes the ranks of a case are.
struct RankPlacement {
  Placement placement = Placement::pack;
  std::uint32_t nodes = 0;     ///< 0: as many as the placement needs
  std::uint32_t per_node = 0;  ///< most ranks on a node; 0: all that it has
  friend bool operator==(const RankPlacement&, const RankPlacement&) = default;
};

/// Ranks of a run on which the cases of one group run, one case at a time, while those of other groups run theirs.
struct GroupRanks {
  std::uint32_t clients = 1;
  RankPlacement rank_placement;
  friend bool operator==(const GroupRanks&, const GroupRanks&) = default;
};

struct Repetitions {
  std::uint64_t minimum = 1;
  std::uint64_t maximum = 1;
  double until = 0;  ///< how far the 95 % interval of the mean rate reaches, as a share of it; 0: always `maximum`
};

/// An operation of a mix and how often it is drawn, relative to the others.
struct MixPart {
  Operation operation = Operation::stat;
  double weight = 1;
};

/// One fully resolved combination of parameters. It has a pattern or, where it measures metadata, a tree.
struct Case {
  std::uint64_t number = 0;
  std::string name;
  std::uint32_t clients = 1;
  RankPlacement rank_placement;
  std::string group;                       ///< empty: none
  double start_s = 0;                      ///< after the common start of the groups
  std::uint64_t turn = 0;                  ///< cases with the same number run at the same time; 0: alone
  std::vector<GroupRanks> earlier_groups;  ///< whose ranks the case leaves free
  const InterfaceEntry* interface = nullptr;
  Settings interface_settings;
  const PatternEntry* pattern = nullptr;
  Settings pattern_settings;
  const TreeEntry* tree = nullptr;
  Settings tree_settings;
  std::vector<Operation> operations;
  Repetitions repetitions;
  std::uint64_t warmup = 0;
  OrderKind order = OrderKind::forward;
  Sharing sharing;
  Readback readback = Readback::same;
  std::uint32_t shift = 1;  ///< ranks, with Readback::shift and growing_shift
  SyncPolicy sync = SyncPolicy::end;
  Verify verify = Verify::off;
  std::uint64_t recorded_requests = 0;  ///< of each rank, of which values are recorded when they read
  double deadline_s = 0;
  DeadlineOf deadline_of = DeadlineOf::all;
  double runtime_s = 0;  ///< each phase repeats its requests for this time; 0: each request once
  double ramp_s = 0;     ///< at the beginning of the runtime, not counted
  WearOut wear_out = WearOut::yes;
  double settle_s = 0;
  std::uint32_t depth = 1;  ///< requests that each rank keeps in flight
  double think_s = 0;       ///< computing after each request
  double read_share = 0;    ///< of the requests of read-write, from 0 to 1
  CachePolicy cache = CachePolicy::as_is;
  MountKind mount = MountKind::none;
  std::uint32_t mount_servers = 0;  ///< over which files on the mount are striped; 0: all
  DataSet data_set;
  std::uint64_t seed = 1;
  std::vector<MixPart> mix;
  std::uint64_t mix_operations = 0;    ///< of each rank; 0: as many as it has files
  std::uint64_t open_files = 0;        ///< that each rank keeps open at most
  std::uint64_t rate_limit_per_s = 0;  ///< of all ranks together, bytes of data or requests of metadata; 0: none
  Arrivals arrivals = Arrivals::closed;
  std::uint64_t arrival_rate_per_s = 0;  ///< requests of all ranks together, in open loop
  /// Hash of everything that fixes the data in the files: the same for cases that differ only in their interface.
  std::uint64_t workload = 0;
  /// Hash of what fixes the bytes that each rank writes, and their order.
  std::uint64_t geometry = 0;
  /// Of metadata: hash of what fixes the order of the items of a rank.
  std::uint64_t order_hash = 0;
};

/// The parameters that every case of data has, and every case of metadata.
std::span<const Parameter> case_parameters();
std::span<const Parameter> tree_case_parameters();

}  // namespace strider
