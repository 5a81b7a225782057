#pragma once
#include <span>
#include <string>

namespace strider {

/// Paths of files that the pattern `list` reads; they exist as long as the program.
std::span<const std::string> example_lists();

}  // namespace strider
