#pragma once
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace strider {

/// Errors of a plan as text that one rank sends to another: case, message and remedy of the first hundred.
std::string packed(const std::vector<PlanError>& errors);
std::vector<PlanError> unpacked(std::string text);

}  // namespace strider
