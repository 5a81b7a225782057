#pragma once
#include <cstdint>

#include "plan/case.hpp"
#include "plan/file_assignments.hpp"

namespace strider {

/// What a phase of a case does on all its ranks together.
struct PhaseTotals {
  std::uint64_t bytes = 0;
  std::uint64_t requests = 0;
  std::uint64_t ranks = 0;  ///< that have something to do
};

/// Throws InputError where bytes or requests of a phase, of the files or of the memory of a rank do not fit 63 bits.
void check_totals(const Case& test, const Pattern& pattern, const FileAssignments& assignments);

/// Throws InputError where they do not fit 63 bits, like that of trees.
PhaseTotals totals_of(const Case& test, const Pattern& pattern, const FileAssignments& assignments,
                      Operation operation);
/// Of metadata: requests are operations, and bytes what small files hold.
PhaseTotals totals_of(const Case& test, const Tree& tree, const FileAssignments& assignments, Operation operation);

}  // namespace strider
