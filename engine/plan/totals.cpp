#include "plan/totals.hpp"

#include <algorithm>
#include <utility>

#include "foundation/checked.hpp"
#include "foundation/error.hpp"
#include "plan/steps.hpp"

namespace strider {
namespace {

constexpr const char* all_bytes = "the bytes of a phase of all ranks are";
constexpr const char* all_requests = "the requests of a phase of all ranks are";

/// Whether totals cannot wrap, without a look at each rank: shares of a pattern made by a formula are even, or rank 0
/// has the largest, in one direction at least.
bool is_far_from_the_limit(const Case& test, const Pattern& pattern, const FileAssignments& assignments) {
  if (test.pattern->name == "list") return false;
  constexpr double margin = 16;
  double most = 0;
  std::uint32_t seen = 0;
  for (std::uint64_t file = 0; file < assignments.files(); ++file) {
    const Place place{0, assignments.ranks_of(file)};
    if (std::exchange(seen, place.ranks) == place.ranks) continue;
    for (const Direction direction : {Direction::write, Direction::read})
      most = std::max({most, static_cast<double>(pattern.bytes(place, direction)),
                       static_cast<double>(pattern.requests(place, direction)),
                       static_cast<double>(pattern.file_size(place.ranks))});
  }
  return most * test.clients * margin < static_cast<double>(largest_total);
}

}  // namespace

void check_totals(const Case& test, const Pattern& pattern, const FileAssignments& assignments) {
  const Place first = assignments.assignment(0).place;
  checked_product(std::max<std::uint64_t>(pattern.memory_bytes(first), pattern.request_bytes(first.ranks)), test.depth,
                  "depth");
  if (is_far_from_the_limit(test, pattern, assignments)) return;
  for (const Operation operation : test.operations) totals_of(test, pattern, assignments, operation);
  std::uint64_t space = 0;
  for (std::uint64_t file = 0; file < assignments.files(); ++file)
    add_checked(space, pattern.file_size(assignments.ranks_of(file)), "the bytes of all files are");
}

PhaseTotals totals_of(const Case& test, const Pattern& pattern, const FileAssignments& assignments,
                      Operation operation) {
  const Direction role = role_of(operation);
  PhaseTotals totals;
  for (std::uint32_t rank = 0; rank < test.clients; ++rank) {
    const Place place = assignments.assignment(rank).place;
    const std::uint64_t requests = pattern.requests(place, role);
    add_checked(totals.bytes, pattern.bytes(place, role), all_bytes);
    add_checked(totals.requests, requests, all_requests);
    totals.ranks += requests > 0 ? 1 : 0;
  }
  return totals;
}

PhaseTotals totals_of(const Case& test, const Tree& tree, const FileAssignments& assignments, Operation operation) {
  const bool moves_bytes =
      operation == Operation::create || operation == Operation::small_write || operation == Operation::small_read;
  PhaseTotals totals;
  for (std::uint32_t rank = 0; rank < test.clients; ++rank) {
    const std::uint64_t requests = operations_of(test, tree, operation, assignments.assignment(rank).place);
    add_checked(totals.requests, requests, all_requests);
    totals.ranks += requests > 0 ? 1 : 0;
  }
  totals.bytes = moves_bytes ? checked_product(totals.requests, tree.file_bytes(), "file_size") : 0;
  return totals;
}

}  // namespace strider
