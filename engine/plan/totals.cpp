#include "plan/totals.hpp"

#include "plan/steps.hpp"

namespace strider {

PhaseTotals totals_of(const Case& test, const Pattern& pattern, const FileAssignments& assignments,
                      Operation operation) {
  const Direction role = role_of(operation);
  PhaseTotals totals;
  for (std::uint32_t rank = 0; rank < test.clients; ++rank) {
    const Place place = assignments.assignment(rank).place;
    const std::uint64_t requests = pattern.requests(place, role);
    totals.bytes += pattern.bytes(place, role);
    totals.requests += requests;
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
    totals.requests += requests;
    totals.ranks += requests > 0 ? 1 : 0;
  }
  totals.bytes = moves_bytes ? totals.requests * tree.file_bytes() : 0;
  return totals;
}

}  // namespace strider
