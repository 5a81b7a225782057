#pragma once
#include <string_view>
#include <vector>

#include "patterns/pattern.hpp"

namespace strider {

/// A pattern's definition, written down a second time and as plainly as docs/patterns/ says it.
struct Formula {
  std::uint64_t (*requests)(const Settings& settings, Place place, Direction direction);
  std::vector<Extent> (*extents)(const Settings& settings, Place place, std::uint64_t request);
};

/// `extents` by file offset, those that follow each other in file and memory joined.
std::vector<Extent> joined(std::vector<Extent> extents);

/// Null where nobody has written the pattern's formula yet: do it in formulas.cpp, or list_formulas.cpp for
/// requests of several extents.
const Formula* find_formula(std::string_view pattern);

struct NamedFormula {
  std::string_view name;
  Formula formula;
};
/// Of the patterns whose requests have several extents.
std::span<const NamedFormula> list_formulas();

}  // namespace strider
