#pragma once
#include <string_view>

#include "patterns/pattern.hpp"

namespace strider {

/// A pattern's definition, written down a second time and as plainly as docs/patterns/ says it.
struct Formula {
  std::uint64_t (*requests)(const Settings& settings, Place place, Direction direction);
  Extent (*extent)(const Settings& settings, Place place, std::uint64_t request);
};

/// Null where nobody has written the pattern's formula yet: do it in formulas.cpp.
const Formula* find_formula(std::string_view pattern);

}  // namespace strider
