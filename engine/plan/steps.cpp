#include "plan/steps.hpp"

#include <algorithm>
#include <array>

namespace strider {
namespace {

/// What makes a thing, in the order in which things are made.
struct Maker {
  Thing thing;
  Operation operation;
};
constexpr std::array makers{
    Maker{Thing::tree, Operation::make_tree},      Maker{Thing::files, Operation::create},
    Maker{Thing::directories, Operation::mkdir},   Maker{Thing::symbolic_links, Operation::symlink},
    Maker{Thing::attributes, Operation::setxattr}, Maker{Thing::open_files, Operation::open},
};

void apply(const MetadataOperation& operation, Things& present) {
  present.remove(operation.removes);
  present.add(operation.makes);
}

}  // namespace

std::vector<Step> steps_of(const std::vector<Operation>& operations) {
  std::vector<Step> steps;
  Things present;
  for (const Operation operation : operations) {
    const MetadataOperation& metadata = entry_of(operation).metadata;
    const Things swept = present.both(metadata.avoids);
    if (!swept.empty()) {
      steps.push_back({Step::Kind::sweep, operation, swept});
      present.remove(swept);
    }
    for (const Maker& maker : makers) {
      if (!metadata.needs.has(maker.thing) || present.has(maker.thing)) continue;
      steps.push_back({Step::Kind::preparation, maker.operation, {}});
      apply(entry_of(maker.operation).metadata, present);
    }
    steps.push_back({Step::Kind::measured, operation, {}});
    apply(metadata, present);
  }
  return steps;
}

std::uint64_t visits_of(const Case& test, const Tree& tree, Operation operation, Place place) {
  switch (operation) {
    case Operation::mix: return test.mix_operations > 0 ? test.mix_operations : tree.items();
    case Operation::open:
    case Operation::lseek:
    case Operation::close: return std::min(tree.items(), test.open_files);
    default: break;
  }
  if (entry_of(operation).metadata.visits == Visits::tree) return dealt_directories(place, tree.directories());
  return tree.items();
}

}  // namespace strider
