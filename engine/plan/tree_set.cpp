#include <algorithm>
#include <vector>

#include "plan/case.hpp"
#include "plan/data_set.hpp"
#include "plan/steps.hpp"

namespace strider {
namespace {

bool creates(const MetadataOperation& metadata) {
  return metadata.makes.has(Thing::files) || metadata.makes.has(Thing::directories);
}

bool changes(const MetadataOperation& metadata) {
  return metadata.population == MetadataOperation::Population::changes;
}

/// After each phase all ranks must have the same items, in the same state.
void check_phases(const Case& test) {
  if (test.sharing.kind == SharingKind::per_node)
    refuse(test, "the trees of sharing = \"per-node\" depend on the nodes of a run", "a number of trees");
  for (const Operation operation : test.operations) {
    const MetadataOperation& metadata = entry_of(operation).metadata;
    const std::string name(name_of(operation));
    if (operation == Operation::mix)
      refuse(test, "after a mix, each rank has files of its own number, which no later case can know",
             "create, stat and other operations in phases of their own");
    if (test.deadline_s == 0 || !changes(metadata) || metadata.operates_on == OperatesOn::tree) continue;
    if (creates(metadata) && (test.wear_out == WearOut::no || test.arrivals != Arrivals::closed))
      refuse(test, "without wear-out, a deadline leaves each rank with another number of items",
             "wear_out = true in closed loop, or deadline = 0");
    if (!creates(metadata) && test.deadline_of == DeadlineOf::all)
      refuse(test, "a deadline that ends " + name + " leaves some items as they were",
             "deadline_of = \"creation\", or deadline = 0");
  }
}

std::string name_of(Things things) {
  for (unsigned thing = 0; thing < thing_count; ++thing)
    if (things.has(static_cast<Thing>(thing))) return std::string(name_of(static_cast<Thing>(thing)));
  return "";
}

/// Only what a case measures changes what the set holds; directories of the tree are made before their items.
void check_steps(const Case& test, Things present, const std::string& when) {
  for (const Step& step : steps_of(test.operations, present)) {
    const std::string name(name_of(step.operation));
    if (step.kind == Step::Kind::preparation && step.operation != Operation::make_tree &&
        step.operation != Operation::open)
      refuse(test, when + "the operations need items that it does not have",
             '"' + name + "\" before them, in this case or in an earlier one");
    Things swept = step.swept;
    swept.remove({Thing::open_files});
    if (step.kind == Step::Kind::sweep && !swept.empty())
      refuse(test, when + "it has " + name_of(swept) + ", and " + name + " needs a tree without them",
             "operations on what is there, or strider data remove " + test.data_set.name);
  }
}

/// An incomplete tree has other items than the first ones of another order.
void check_order(const Case& test, const Tree& tree) {
  const TreeState& state = test.data_set.state.tree;
  const bool cut = (state.present.has(Thing::files) && state.files < tree.items()) ||
                   (state.present.has(Thing::directories) && state.directories < tree.items());
  if (cut && state.order_hash != test.order_hash)
    refuse(test, "a deadline ended the creation of its items, so only the order and seed of that case visit them",
           "order and seed as there");
}

}  // namespace

void check_tree_set(const Case& test, const Tree& tree, const Interface& interface) {
  const DataSet& set = test.data_set;
  if (!set.used()) return;
  check_place(test, interface);
  check_phases(test);
  if (!set.known) return;
  if (set.state.incomplete)
    refuse(test, "a phase that changed its items did not end",
           "strider data remove " + set.name + ", and make it again");
  if (set.state.exists() && set.state.geometry != test.geometry)
    refuse(test, "the case has another tree, other clients or another sharing", "those of its maker");
  check_order(test, tree);
  DataSetState after = set.state;
  check_steps(test, after.tree.present, "");
  follow(test, tree, after);
  if (test.warmup + test.repetitions.maximum == 1) return;
  check_steps(test, after.tree.present, "in the second repetition, ");
  if (set.state.exists() && after.tree.file_bytes != set.state.tree.file_bytes)
    refuse(test, "each repetition would change the size of its files", "repetitions = 1");
}

void follow(const Case& test, const Tree& tree, DataSetState& state) {
  TreeState& left = state.tree;
  for (const Step& step : steps_of(test.operations, left.present)) {
    const MetadataOperation& metadata = entry_of(step.operation).metadata;
    if (step.kind == Step::Kind::sweep) continue;
    if (changes(metadata)) {
      state.generation = std::max<std::uint64_t>(state.generation, 1);
      state.geometry = test.geometry;
    }
    left.present.remove(metadata.removes);
    left.present.add(metadata.makes);
    // The number that a deadline leaves is not known yet; then only the same order finds them.
    const std::uint64_t made = test.deadline_s > 0 ? 0 : tree.items();
    if (metadata.makes.has(Thing::files)) left.files = made;
    if (metadata.makes.has(Thing::directories)) left.directories = made;
    if (creates(metadata)) left.order_hash = test.order_hash;
    left.file_bytes = size_after(step.operation, left.file_bytes, tree.file_bytes());
  }
  left.present.remove({Thing::open_files});
}

}  // namespace strider
