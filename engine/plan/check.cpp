#include <algorithm>
#include <array>
#include <functional>

#include "foundation/error.hpp"
#include "patterns/slices.hpp"
#include "plan/case_ranks.hpp"
#include "plan/draw.hpp"
#include "plan/file_assignments.hpp"
#include "plan/plan.hpp"
#include "plan/steps.hpp"
#include "plan/totals.hpp"

namespace strider {

std::unique_ptr<Pattern> make_pattern_of(const Case& test) {
  auto pattern = test.pattern->make(test.pattern_settings);
  if (test.data_set.whole) return std::make_unique<Slices>(std::move(pattern));
  return pattern;
}

std::unique_ptr<Tree> make_tree_of(const Case& test) { return test.tree->make(test.tree_settings); }

Order order_of(const Case& test, std::uint32_t rank, std::uint64_t requests) {
  return Order(test.order, requests, hash_numbers(test.seed, rank));
}

namespace {

/// Files may be shared by different numbers of ranks: the pattern must fit each of them.
void check_ranks(const Pattern& pattern, const FileAssignments& assignments) {
  std::uint32_t checked = 0;
  for (std::uint64_t file = 0; file < assignments.files(); ++file) {
    const std::uint32_t ranks = assignments.ranks_of(file);
    if (ranks != checked) pattern.check(ranks);
    checked = ranks;
  }
}

using Complain = std::function<void(const std::string& key, const std::string& message, const std::string& remedy)>;

/// What keeps ranks from issuing requests as soon as they can goes alone.
void check_load(const Case& test, const Complain& complain) {
  if (test.arrivals == Arrivals::closed) {
    if (test.arrival_rate_per_s > 0)
      complain("arrival_rate",
               "in closed loop a request arrives when the one before it is done, so it has no arrival rate",
               "arrivals = \"fixed\" or \"poisson\", or no arrival_rate");
    return;
  }
  if (test.arrival_rate_per_s == 0)
    complain("arrival_rate", "in open loop requests arrive at arrival_rate, which is not given",
             "arrival_rate = 1000, in requests per second of all clients together");
  if (test.rate_limit_per_s > 0)
    complain("rate_limit", "in open loop requests arrive at arrival_rate, so they cannot have a rate_limit too",
             "arrivals = \"closed\", or no rate_limit");
  if (test.think_s > 0)
    complain("think", "in open loop a rank cannot issue requests that arrive during its think time", "think = 0");
}

/// The kernel flushes what it holds itself.
void check_sync(const Case& test, const Complain& complain) {
  const Capabilities& capabilities = test.interface->capabilities;
  if (test.sync == SyncPolicy::node && capabilities.stores() && capabilities.client != StorageClient::kernel)
    complain("sync", "the kernel has no data of the interface " + std::string(test.interface->name) + " to flush",
             "sync = \"each\" or \"none\"");
}

/// What is checked of every case.
void check_ranks_and_files(const Case& test, const Complain& complain) {
  if (test.sharing.kind == SharingKind::files && test.sharing.files > test.clients)
    complain("sharing", "there are more files than clients", "use \"per-rank\" or at most as many files as clients");
  const bool shifts = test.readback == Readback::shift || test.readback == Readback::growing_shift;
  if (shifts && test.clients > 1 && test.shift % test.clients == 0)
    complain("shift", "with a shift by a multiple of clients every rank reads its own data",
             "a shift from 1 to clients - 1");
  if (test.verify == Verify::full && !test.interface->capabilities.stores())
    complain("verify",
             "the interface " + std::string(test.interface->name) + " stores no data, so nothing can be verified",
             "verify = \"off\"");
}

/// Whether clients, nodes and ranks per node go together.
bool check_rank_placement(const Case& test, const Complain& complain) {
  const auto [placement, nodes, per_node] = test.rank_placement;
  const std::uint64_t product = std::uint64_t{nodes} * per_node;
  if (nodes > 0 && per_node > 0 && product != test.clients) {
    complain("clients",
             "clients = " + std::to_string(test.clients) + " is not nodes x per_node = " + std::to_string(nodes) +
                 " x " + std::to_string(per_node),
             "clients = " + std::to_string(product) + ", or no clients");
    return false;
  }
  if (nodes <= test.clients) return true;
  complain("nodes",
           "the case is on " + std::to_string(nodes) + " nodes, but has only " + std::to_string(test.clients) +
               (test.clients == 1 ? " client" : " clients"),
           "per_node, or clients = " + std::to_string(nodes) + " at least");
  return false;
}

/// What a case must leave alone, so that other groups can measure at the same time.
void check_group(const Case& test, const Complain& complain) {
  if (test.group.empty()) {
    if (test.start_s > 0) complain("start", "start is for cases of a group", "add group, or use settle");
    return;
  }
  if (test.repetitions.until > 0)
    complain("repetitions", "cases of a group have equally many repetitions, so that all groups measure at once",
             "a number of repetitions instead of until");
  if (test.data_set.used())
    complain("dataset", "cases of a group make their own files", "remove dataset, or remove group");
  if (test.cache != CachePolicy::as_is && test.operations.size() > 1)
    complain("cache",
             "dropping or filling caches between the phases of one group would disturb the phases of the others",
             "one operation, which is prepared before the common start, or cache = \"as-is\"");
}

void check_mount(const Case& test, const Complain& complain) {
  const Capabilities& capabilities = test.interface->capabilities;
  if (test.mount == MountKind::none) {
    if (test.mount_servers > 0)
      complain("mount_servers", "the files of this case are not on a mount", "mount = \"listio\", or no mount_servers");
  } else if (!capabilities.stores() || capabilities.client != StorageClient::kernel) {
    complain("mount", "the interface " + std::string(test.interface->name) + " does not use mounts",
             "mount = \"none\", or an interface of the kernel's file system such as posix");
  } else if (test.interface->name == "mpiio" && test.interface_settings.text("prefix") == "listio:") {
    complain("mount", "mpiio.prefix = \"listio:\" reaches the servers without a mount",
             "mount = \"none\", or mpiio.prefix = \"\"");
  }
}

void check_calls(const Case& test, const Complain& complain) {
  const auto check = [&](Operation operation, const char* key) {
    const OperationEntry& entry = entry_of(operation);
    if (test.interface->capabilities.metadata.contains(entry.metadata.calls)) return;
    complain(key, "the interface " + std::string(test.interface->name) + " cannot " + std::string(entry.name),
             "strider describe interfaces lists its metadata operations");
  };
  if (test.interface->capabilities.metadata.empty())
    return complain("interface", "the interface " + std::string(test.interface->name) + " has no metadata operations",
                    "posix");
  // Every interface can make the directories that it works in; to measure that is another matter.
  const auto makes_the_tree = [](Operation operation) { return operation == Operation::make_tree; };
  for (const Step& step : steps_of(test.operations, test.data_set.state.tree.present))
    if (step.kind == Step::Kind::measured || (step.kind == Step::Kind::preparation && !makes_the_tree(step.operation)))
      check(step.operation, "operations");
  for (const MixPart& part : test.mix) check(part.operation, "mix");
}

void check_mix(const Case& test, const Complain& complain) {
  if (std::count(test.operations.begin(), test.operations.end(), Operation::mix) == 0) return;
  if (test.mix.empty())
    complain("mix", "the operation mix has no operations and weights", "mix = { stat = 60, create = 20, unlink = 20 }");
  if (test.order != OrderKind::forward)
    complain("order",
             "a mix chooses files at random and removes a rank's files from the first on, so it has no other order",
             "order = \"forward\"");
}

/// What an operation lacks that works on files of so many bytes; empty if nothing.
std::string lack_of_contents(Operation operation, std::uint64_t bytes, const Tree& tree) {
  if (entry_of(operation).metadata.contents == MetadataOperation::Contents::any) return "";
  if (operation == Operation::truncate) return bytes > 0 ? "" : "files with contents";
  if (tree.file_bytes() == 0) return "a file_size";
  return bytes > 0 || operation == Operation::small_write ? ""
                                                          : "files with contents: put small-write or create before it";
}

/// Operations on a file's bytes need some, a mix needs files of one size, and no file is larger than files can be.
void check_sizes(const Case& test, const Tree& tree, const Complain& complain) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 50;
  const auto fulfilled = [&](Operation operation, std::uint64_t bytes) {
    const std::string lack = lack_of_contents(operation, bytes, tree);
    if (!lack.empty()) complain("file_size", std::string(name_of(operation)) + " needs " + lack, "file_size = 4096");
    return lack.empty();
  };
  std::uint64_t bytes = test.data_set.state.tree.file_bytes;
  for (const Step& step : steps_of(test.operations, test.data_set.state.tree.present)) {
    if (step.kind == Step::Kind::sweep) continue;
    if (!fulfilled(step.operation, bytes)) return;
    if (step.operation == Operation::mix && bytes != tree.file_bytes())
      return complain("operations", "the operation mix needs files that still have the size written by create",
                      "put mix before truncate, expand and mknod");
    bytes = size_after(step.operation, bytes, tree.file_bytes());
    if (bytes > most_bytes)
      return complain("operations", "files would grow beyond 1 PiB", "use expand fewer times, or lower file_size");
  }
  for (const MixPart& part : test.mix)
    if (!fulfilled(part.operation, tree.file_bytes())) return;
}

/// Numbers that the rest of the program need not fear.
void check_totals(const Case& test, const Tree& tree, const Complain& complain) {
  constexpr double most_files = 1e15, most_bytes = 1e18;
  const double files = static_cast<double>(tree.items()) * test.clients;
  if (files > most_files) return complain("items", "a case has at most 10^15 files", "fewer items, or a smaller tree");
  if (files * static_cast<double>(tree.file_bytes()) > most_bytes)
    complain("file_size", "the files of a case hold at most 10^18 bytes", "a smaller file_size, or fewer items");
  const SharingKind kind = test.sharing.kind;
  const double trees = kind == SharingKind::shared ? 1 : kind == SharingKind::files ? test.sharing.files : test.clients;
  if (static_cast<double>(tree.directories()) * trees > most_files)
    complain("depth", "the trees of a case have at most 10^15 directories", "a smaller depth or fanout");
  if (static_cast<double>(test.mix_operations) * test.clients > most_files)
    complain("mix_operations", "the ranks of a case make at most 10^15 operations", "fewer mix_operations");
}

/// Ranks that share a tree wait for each other at each of its levels.
void check_arrivals(const Case& test, const Complain& complain) {
  if (test.arrivals == Arrivals::closed || test.clients == 1 || test.sharing.kind == SharingKind::per_rank) return;
  for (const Step& step : steps_of(test.operations))
    if (step.kind == Step::Kind::measured &&
        (step.operation == Operation::make_tree || step.operation == Operation::remove_tree))
      return complain("arrivals",
                      "in open loop clients cannot share a tree in make-tree and remove-tree: they wait for each other "
                      "after each level",
                      "sharing = \"per-rank\", arrivals = \"closed\", or operations without make-tree and remove-tree");
}

void check_tree_case(const Case& test, const Complain& complain) {
  const auto tree = make_tree_of(test);
  const auto interface = test.interface->make(test.interface_settings);  // its settings must go together
  check_tree_set(test, *tree, *interface);
  check_ranks_and_files(test, complain);
  check_load(test, complain);
  check_arrivals(test, complain);
  check_calls(test, complain);
  check_sync(test, complain);
  check_mix(test, complain);
  check_sizes(test, *tree, complain);
  check_totals(test, *tree, complain);
}

/// Values are recorded by phases that only read, of storage that keeps them.
void check_values(const Case& test, const Complain& complain) {
  if (test.recorded_requests == 0) return;
  const auto& operations = test.operations;
  const auto records = [](Operation each) { return each == Operation::read || each == Operation::reread; };
  if (std::none_of(operations.begin(), operations.end(), records))
    return complain("values", "only read and reread record values, and the case has neither",
                    "operations = [\"write\", \"read\"], or values = 0");
  if (!test.interface->capabilities.stores())
    complain("values",
             "the interface " + std::string(test.interface->name) + " stores no data, so there are no values to record",
             "values = 0");
  if (test.interface->name == "mpiio" && test.interface_settings.text("pointer") == "shared" && test.clients > 1 &&
      test.sharing.kind != SharingKind::per_rank)
    complain("values", "ranks reach the shared file pointer in an unknown order, so their values cannot be compared",
             "values = 0, mpiio.pointer = \"ordered\", or sharing = \"per-rank\"");
}

/// A mix needs a share, and requests enough that some read and some write.
void check_read_share(const Case& test, const Pattern& pattern, std::uint32_t ranks, const Complain& complain) {
  if (std::count(test.operations.begin(), test.operations.end(), Operation::read_write) == 0) return;
  if (test.read_share == 0)
    return complain("read_share", "read-write needs the share of its requests that read",
                    "read_share = 70, in percent");
  const std::uint64_t requests = pattern.requests({0, ranks}, Direction::write);
  const Draw draw = draw_of(test);
  std::uint64_t index = 1;
  while (index < requests && draw.reads(index) == draw.reads(0)) ++index;
  if (index < requests) return;
  complain("operations",
           "all " + std::to_string(requests) + " requests of a rank would " + (draw.reads(0) ? "read" : "write") +
               ", so read-write mixes nothing",
           "a smaller transfer or more data, so that each rank has more requests");
}

void check_depth(const Case& test, const Interface& interface, const Complain& complain) {
  if (test.depth == 1) return;
  const std::string name(test.interface->name);
  if (interface.largest_depth() == 1)
    return complain("depth", "the calls of the interface " + name + " are blocking, so it keeps one request in flight",
                    "depth = 1");
  if (test.depth > interface.largest_depth())
    complain("depth", "the interface " + name + " keeps fewer requests in flight",
             "at most " + std::to_string(interface.largest_depth()));
  if (test.sync == SyncPolicy::each)
    complain("sync", "a sync after each request allows only one request in flight", "depth = 1, or sync = \"end\"");
  if (std::count(test.operations.begin(), test.operations.end(), Operation::read_modify_write) > 0)
    complain("operations", "read-modify-write allows only one request in flight", "depth = 1");
}

/// Operations that read what others write at the same time.
void check_both_ways(const Case& test, const Pattern& pattern, std::uint32_t ranks, const Complain& complain) {
  if (test.verify == Verify::off) return;
  if (std::count(test.operations.begin(), test.operations.end(), Operation::read_write) > 0)
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      if (pattern.requests({rank, ranks}, Direction::write) != pattern.requests({rank, ranks}, Direction::read))
        return complain("verify",
                        "only one rank takes part in read-write, and others cannot tell which of its requests wrote",
                        "verify = \"off\", overlap = true, or write and read instead of read-write");
  if (pattern.disjoint(ranks)) return;
  for (const Operation operation : test.operations)
    if (reads(operation) && writes(operation))
      return complain("verify",
                      std::string(name_of(operation)) + " of bytes that several requests share cannot be verified",
                      "verify = \"off\", or a pattern whose requests do not overlap");
}

/// Whether all requests of all ranks lie one behind the other in turns (see Demand), judged by the first and the last
/// two of each rank.
bool lies_in_turns(const Pattern& pattern, std::uint32_t ranks) {
  if (!pattern.contiguous()) return false;
  const std::uint64_t requests = pattern.requests({0, ranks}, Direction::write);
  if (requests == 0) return false;
  Extent first;
  pattern.fill({0, ranks}, std::array<std::uint64_t, 1>{}, {&first, 1});
  const std::array<std::uint64_t, 4> sampled{0, std::min<std::uint64_t>(1, requests - 1),
                                             requests - std::min<std::uint64_t>(2, requests), requests - 1};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::array<Extent, sampled.size()> found;
    if (pattern.requests({rank, ranks}, Direction::write) != requests ||
        pattern.requests({rank, ranks}, Direction::read) != requests)
      return false;
    pattern.fill({rank, ranks}, sampled, found);
    for (std::size_t i = 0; i < sampled.size(); ++i)
      if (found[i].length != first.length || found[i].file_offset != (sampled[i] * ranks + rank) * first.length)
        return false;
  }
  return true;
}

/// Whether request k of all ranks together is one piece of the file, judged by the first and the last of them.
bool rounds_are_dense(const Pattern& pattern, std::uint32_t ranks) {
  const std::uint64_t requests = pattern.requests({0, ranks}, Direction::write);
  if (requests == 0 || !pattern.disjoint(ranks)) return false;
  for (const std::uint64_t number : {std::uint64_t{0}, requests - 1}) {
    std::uint64_t begin = ~std::uint64_t{0}, end = 0, bytes = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const Place place{rank, ranks};
      if (pattern.requests(place, Direction::write) != requests) return false;
      std::vector<Extent> list(pattern.extents(place, number));
      list.resize(pattern.fill_request(place, number, list));
      for (const Extent& extent : list) {
        begin = std::min(begin, extent.file_offset);
        end = std::max(end, extent.file_offset + extent.length);
        bytes += extent.length;
      }
    }
    if (end - begin != bytes) return false;
  }
  return true;
}

Demand demand_of(const Case& test, const Pattern& pattern, const FileAssignments& assignments) {
  const std::uint32_t ranks = assignments.ranks_of(0);
  Demand demand{.shape = {pattern.contiguous(), pattern.file_shift({0, ranks}) > 0},
                .depth = test.depth,
                .ranks = ranks,
                .verified = test.verify == Verify::full};
  const auto& operations = test.operations;
  demand.writes = std::any_of(operations.begin(), operations.end(), writes);
  // What this takes is worth it only where requests are in flight.
  demand.dense_rounds = test.depth > 1 && test.order != OrderKind::random;
  for (std::uint64_t file = 0; file < assignments.files() && demand.dense_rounds; ++file)
    demand.dense_rounds = rounds_are_dense(pattern, assignments.ranks_of(file));
  demand.takes_turns =
      operations.front() == Operation::write && test.order == OrderKind::forward && test.runtime_s == 0 &&
      (test.readback == Readback::same || test.sharing.kind == SharingKind::per_rank) &&
      std::none_of(operations.begin(), operations.end(), [](Operation each) { return reads(each) && writes(each); });
  for (std::uint64_t file = 0; file < assignments.files() && demand.takes_turns; ++file)
    demand.takes_turns = lies_in_turns(pattern, assignments.ranks_of(file));
  return demand;
}

/// What a runtime excludes, whatever the case does.
void check_times(const Case& test, const Complain& complain) {
  if (test.ramp_s > 0 && test.ramp_s >= test.runtime_s)
    complain("ramp",
             test.runtime_s > 0 ? "the ramp is not shorter than the runtime, so no request would count"
                                : "ramp is the first part of runtime, which is not given",
             "a runtime longer than the ramp, or no ramp");
  if (test.runtime_s > 0 && test.deadline_s > 0)
    complain("deadline", "runtime ends the phase, so it has no deadline",
             "deadline alone to end a phase early, runtime alone to repeat its requests");
}

/// Writing again and again must leave what a reader can know: each byte belongs to one request of one rank.
void check_passes_verified(const Case& test, const Pattern& pattern, const FileAssignments& assignments,
                           const Complain& complain) {
  const auto& operations = test.operations;
  if (test.verify == Verify::off || std::none_of(operations.begin(), operations.end(), writes)) return;
  for (std::uint64_t file = 0; file < assignments.files(); ++file)
    if (!pattern.disjoint(assignments.ranks_of(file)))
      return complain("verify",
                      "requests that share bytes overwrite each other in every pass of a runtime, so their data cannot "
                      "be verified",
                      "verify = \"off\", a pattern whose requests do not overlap, or operations that only read");
  if (std::all_of(operations.begin(), operations.end(), writes)) return;
  for (std::uint32_t rank = 0; rank < test.clients; ++rank) {
    const Place place = assignments.assignment(rank).place;
    if (pattern.requests(place, Direction::write) != pattern.requests(place, Direction::read))
      return complain("verify",
                      "with a runtime, ranks read data that another rank wrote in an unknown pass, so it cannot be "
                      "verified",
                      "verify = \"off\", deadline instead of runtime, or operations that only read");
  }
}

void check_runtime(const Case& test, const Pattern& pattern, const Interface& interface, RequestShape shape,
                   const FileAssignments& assignments, const Complain& complain) {
  check_times(test, complain);
  if (test.runtime_s == 0) return;
  check_passes_verified(test, pattern, assignments, complain);
  const auto& operations = test.operations;
  if (std::any_of(operations.begin(), operations.end(), writes) && test.sync == SyncPolicy::end &&
      test.sharing.kind != SharingKind::per_rank && interface.cooperation(shape) == Cooperation::collective_open)
    complain("runtime",
             "a sync of " + std::string(test.interface->name) +
                 " is collective, but independent ranks end their passes at different times",
             "sharing = \"per-rank\", sync = \"none\", or collective access");
  const bool through_the_page_cache =
      test.interface->capabilities.client == StorageClient::kernel && interface.alignment() == 1;
  if (test.cache == CachePolicy::cold && through_the_page_cache && test.interface->capabilities.stores() &&
      std::any_of(operations.begin(), operations.end(), reads))
    complain("runtime", "after the first pass, the data comes from the page cache, which cache = \"cold\" excludes",
             "direct I/O (" + std::string(test.interface->name) +
                 ".direct = true, where it has it), deadline instead of runtime, or cache = \"as-is\"");
}

/// Requests that are due at times of their own can wait neither for other ranks nor for those before them.
void check_pace(const Case& test, const Interface& interface, const Demand& demand, const Complain& complain) {
  if (test.arrivals == Arrivals::closed && test.rate_limit_per_s == 0) return;
  if (interface.cooperation(demand.shape) == Cooperation::collective)
    complain(test.rate_limit_per_s > 0 ? "rate_limit" : "arrivals",
             "in collective transfers the ranks wait for each other and cannot issue requests at their due times",
             "independent access, or neither rate_limit nor arrivals");
  if (test.depth > 1 && !interface.completes_within())
    complain("depth",
             "the interface " + std::string(test.interface->name) +
                 " cannot wait for requests in flight and for the due time of the next request at once",
             "depth = 1, or the interface posix or uring");
}

}  // namespace

void check_case(const Case& test, const Plan& plan, std::vector<PlanError>& errors) {
  const auto complain = [&](const std::string& key, const std::string& message, const std::string& remedy) {
    errors.push_back({test.number, key, message, remedy});
  };
  try {
    check_mount(test, complain);
    check_group(test, complain);
    if (!check_rank_placement(test, complain)) return;
    const NumberRuns node_of = planned_nodes(test, plan.ranks, plan.ranks_per_node);
    if (test.tree != nullptr) return check_tree_case(test, complain);
    check_ranks_and_files(test, complain);
    check_load(test, complain);
    check_values(test, complain);
    const auto pattern = make_pattern_of(test);
    const auto interface = test.interface->make(test.interface_settings);
    const FileAssignments assignments(test.sharing, test.clients, node_of);
    const std::uint32_t ranks = assignments.ranks_of(0);
    check_ranks(*pattern, assignments);
    check_totals(test, *pattern, assignments);
    if (pattern->request_bytes(ranks) > interface->largest_transfer())
      complain("transfer", "transfer is larger than the limit of one call of " + std::string(test.interface->name),
               "at most " + std::to_string(interface->largest_transfer()) + " bytes");
    if (pattern->alignment(ranks) < interface->alignment())
      complain("transfer",
               "direct I/O needs offsets and lengths that are multiples of " + std::to_string(interface->alignment()) +
                   " bytes",
               "choose transfer, block, size and align accordingly, or leave out " + std::string(test.interface->name) +
                   ".direct");
    check_read_share(test, *pattern, ranks, complain);
    check_both_ways(test, *pattern, ranks, complain);
    check_depth(test, *interface, complain);
    const Demand demand = demand_of(test, *pattern, assignments);
    check_runtime(test, *pattern, *interface, demand.shape, assignments, complain);
    check_data_set(test, *pattern, *interface, assignments);
    interface->check(demand);
    check_pace(test, *interface, demand, complain);
    if (test.sync == SyncPolicy::each && test.sharing.kind != SharingKind::per_rank &&
        interface->cooperation(demand.shape) == Cooperation::collective_open)
      complain("sync",
               "a sync of " + std::string(test.interface->name) +
                   " is collective, but independent ranks can make different numbers of requests",
               "sync = \"end\", sharing = \"per-rank\", or collective access");
    if (test.deadline_s + test.runtime_s > 0 && test.order == OrderKind::random &&
        pattern->requests({1, 2}, Direction::write) == 0)
      complain(test.deadline_s > 0 ? "deadline" : "runtime",
               "only one rank writes; with a random order, readers would read pieces that it had not written by the "
               "end of its time",
               "order = \"forward\" or \"backward\", overlap = true, or neither deadline nor runtime");
  } catch (const InputError& error) {
    complain(error.key(), error.what(), error.remedy());
  }
}

}  // namespace strider
