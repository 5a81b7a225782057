#include <algorithm>

#include "core/error.hpp"
#include "plan/plan.hpp"
#include "plan/seating.hpp"

namespace strider {

std::unique_ptr<Pattern> make_pattern_of(const Case& test) { return test.pattern->make(test.pattern_settings); }

Order order_of(const Case& test, std::uint32_t rank, std::uint64_t requests) {
  return Order(test.order, requests, hash_numbers(test.seed, rank));
}

void check_case(const Case& test, std::uint32_t ranks_per_node, std::vector<PlanError>& errors) {
  const auto complain = [&](const std::string& key, const std::string& message, const std::string& remedy) {
    errors.push_back({test.number, key, message, remedy});
  };
  try {
    const auto pattern = make_pattern_of(test);
    const auto interface = test.interface->make(test.interface_settings);
    const Seating seating(test.sharing, test.clients, consecutive_nodes(test.clients, ranks_per_node));
    const std::uint32_t ranks = seating.ranks_of(0);
    pattern->check(ranks);
    if (test.sharing.kind == SharingKind::files && test.sharing.files > test.clients)
      complain("sharing", "there are more files than clients", "use \"per-rank\" or at most as many files as clients");
    if (pattern->request_bytes() > interface->largest_transfer())
      complain("transfer", "transfer is larger than " + std::string(test.interface->name) + " moves in one call",
               "at most " + std::to_string(interface->largest_transfer()) + " bytes");
    if (pattern->alignment(ranks) < interface->alignment())
      complain("transfer",
               "direct I/O needs offsets and lengths that are multiples of " + std::to_string(interface->alignment()) +
                   " bytes",
               "choose transfer, block, size and align accordingly, or leave out " + std::string(test.interface->name) +
                   ".direct");
    const bool changes = std::count(test.operations.begin(), test.operations.end(), Operation::read_modify_write) > 0;
    if (test.verify == Verify::full && changes && !pattern->disjoint())
      complain("verify", "read-modify-write of bytes that several requests share cannot be verified",
               "verify = \"off\", or a pattern whose requests do not overlap");
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
