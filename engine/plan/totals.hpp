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

PhaseTotals totals_of(const Case& test, const Pattern& pattern, const FileAssignments& assignments,
                      Operation operation);
/// Of metadata: requests are operations, and bytes what small files hold.
PhaseTotals totals_of(const Case& test, const Tree& tree, const FileAssignments& assignments, Operation operation);

}  // namespace strider
