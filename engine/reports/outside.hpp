#pragma once
#include "foundation/error.hpp"
#include "reports/phase.hpp"

namespace strider {

/// An error of storage as it is reported: where a confined rank was kept from writing outside of the run's folder,
/// that is said instead of what the system calls it.
IoError explained(const IoError& error, const RunContext& context);

}  // namespace strider
