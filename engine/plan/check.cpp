#include <algorithm>

#include "core/error.hpp"
#include "plan/plan.hpp"
#include "plan/seating.hpp"

namespace strider {

std::unique_ptr<Pattern> make_pattern_of(const Case& test) { return test.pattern->make(test.pattern_settings); }

Order order_of(const Case& test, std::uint32_t rank, std::uint64_t requests) {
  return Order(test.order, requests, hash_numbers(test.seed, rank));
}

namespace {

/// Files may be shared by different numbers of ranks: the pattern must fit each of them.
void check_ranks(const Pattern& pattern, const Seating& seating) {
  std::uint32_t checked = 0;
  for (std::uint64_t file = 0; file < seating.files(); ++file) {
    const std::uint32_t ranks = seating.ranks_of(file);
    if (ranks != checked) pattern.check(ranks);
    checked = ranks;
  }
}

}  // namespace

void check_case(const Case& test, std::uint32_t ranks_per_node, std::vector<PlanError>& errors) {
  const auto complain = [&](const std::string& key, const std::string& message, const std::string& remedy) {
    errors.push_back({test.number, key, message, remedy});
  };
  try {
    const auto pattern = make_pattern_of(test);
    const auto interface = test.interface->make(test.interface_settings);
    const Seating seating(test.sharing, test.clients, consecutive_nodes(test.clients, ranks_per_node));
    const std::uint32_t ranks = seating.ranks_of(0);
    check_ranks(*pattern, seating);
    if (test.sharing.kind == SharingKind::files && test.sharing.files > test.clients)
      complain("sharing", "there are more files than clients", "use \"per-rank\" or at most as many files as clients");
    if (pattern->request_bytes(ranks) > interface->largest_transfer())
      complain("transfer", "transfer is larger than " + std::string(test.interface->name) + " moves in one call",
               "at most " + std::to_string(interface->largest_transfer()) + " bytes");
    if (pattern->alignment(ranks) < interface->alignment())
      complain("transfer",
               "direct I/O needs offsets and lengths that are multiples of " + std::to_string(interface->alignment()) +
                   " bytes",
               "choose transfer, block, size and align accordingly, or leave out " + std::string(test.interface->name) +
                   ".direct");
    const bool changes = std::count(test.operations.begin(), test.operations.end(), Operation::read_modify_write) > 0;
    if (test.verify == Verify::full && changes && !pattern->disjoint(ranks))
      complain("verify", "read-modify-write of bytes that several requests share cannot be verified",
               "verify = \"off\", or a pattern whose requests do not overlap");
    const RequestShape shape{pattern->contiguous(), pattern->file_shift({0, ranks}) > 0};
    if (test.sync == SyncPolicy::each && test.sharing.kind != SharingKind::per_rank &&
        interface->cooperation(shape) == Cooperation::collective_open)
      complain("sync",
               "a sync of " + std::string(test.interface->name) +
                   " is collective, and independent ranks do not sync equally often",
               "sync = \"end\", sharing = \"per-rank\", or collective access");
    if (test.readback == Readback::shift && test.clients > 1 && test.shift % test.clients == 0)
      complain("shift", "a shift by a multiple of clients lets every rank read its own data",
               "a shift from 1 to clients - 1");
    if (test.deadline_s > 0 && test.order == OrderKind::random && pattern->requests({1, 2}, Direction::write) == 0)
      complain("deadline", "with a random order, readers would look for pieces that the only writer had not reached",
               "order = \"forward\" or \"backward\", overlap = true, or deadline = 0");
    if (test.verify == Verify::full && !test.interface->capabilities.storage)
      complain("verify",
               "the interface " + std::string(test.interface->name) + " stores nothing that could be verified",
               "verify = \"off\"");
  } catch (const InputError& error) {
    complain(error.key(), error.what(), error.remedy());
  }
}

}  // namespace strider
