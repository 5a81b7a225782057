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

/// Follows what is there from step to step.
class Walk {
 public:
  explicit Walk(Things present) : present_(present) {}
  void take(Operation operation, Step::Kind kind) {
    const MetadataOperation& metadata = entry_of(operation).metadata;
    sweep(operation, present_.both(metadata.avoids));
    for (const Maker& maker : makers)
      if (metadata.needs.has(maker.thing) && !present_.has(maker.thing)) take(maker.operation, Step::Kind::preparation);
    steps.push_back({kind, operation, {}});
    present_.remove(metadata.removes);
    present_.add(metadata.makes);
  }

  std::vector<Step> steps;

 private:
  void sweep(Operation before, Things things) {
    if (things.empty()) return;
    if (things.has(Thing::files)) things.add(present_.both({Thing::attributes}));  // they go with their files
    steps.push_back({Step::Kind::sweep, before, things});
    present_.remove(things);
  }

  Things present_;
};

}  // namespace

std::vector<Step> steps_of(const std::vector<Operation>& operations, Things present) {
  Walk walk(present);
  for (const Operation operation : operations) walk.take(operation, Step::Kind::measured);
  return walk.steps;
}

std::uint64_t size_after(Operation operation, std::uint64_t bytes, std::uint64_t created_bytes) {
  constexpr std::uint64_t first_size = 4096;
  switch (operation) {
    case Operation::create: return created_bytes;
    case Operation::mknod: return 0;
    case Operation::small_write: return std::max(bytes, created_bytes);
    case Operation::truncate: return bytes / 2;
    case Operation::expand: return bytes == 0 ? first_size : 2 * bytes;
    default: return bytes;
  }
}

std::uint64_t operations_of(const Case& test, const Tree& tree, Operation operation, Place place) {
  switch (operation) {
    case Operation::mix: return test.mix_operations > 0 ? test.mix_operations : tree.items();
    case Operation::open:
    case Operation::lseek:
    case Operation::close: return std::min(tree.items(), test.open_files);
    default: break;
  }
  if (entry_of(operation).metadata.operates_on == OperatesOn::tree) return dealt_directories(place, tree.directories());
  return tree.items();
}

}  // namespace strider
