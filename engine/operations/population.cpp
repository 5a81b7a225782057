#include "operations/population.hpp"

#include <algorithm>
#include <utility>

#include "plan/steps.hpp"

namespace strider {

void Rewrites::keep(std::uint64_t first, std::uint64_t files, std::uint64_t most) {
  std::vector<std::uint8_t> counts(std::max<std::uint64_t>(most, 1));
  for (std::uint64_t number = first; number < first + files; ++number) counts[number % counts.size()] = of(number);
  counts_ = std::move(counts);
}

void Population::remove(Things things) {
  present.remove(things);
  if (things.has(Thing::files)) {
    files = first_file = 0;
    rewrites.clear();
    renamed_files = false;
  }
  // Links outlive the files of a mix, and there are as many.
  if (present.both({Thing::files, Thing::hard_links, Thing::symbolic_links}).empty()) mixed = false;
  if (things.has(Thing::directories)) {
    directories = 0;
    renamed_directories = false;
  }
}

void Population::complete(Operation operation, const Tree& tree, std::uint64_t completed, bool cut) {
  const MetadataOperation& metadata = entry_of(operation).metadata;
  remove(metadata.removes);
  present.add(metadata.makes);
  const bool changes = metadata.population == MetadataOperation::Population::changes;
  whole = whole && !(cut && changes);
  file_bytes = size_after(operation, file_bytes, tree.file_bytes());
  switch (operation) {
    case Operation::create:
    case Operation::mknod:
      files = tree.items();
      written_bytes = file_bytes;
      break;
    case Operation::small_write: written_bytes = tree.file_bytes(); break;
    case Operation::truncate: written_bytes = std::min(written_bytes, file_bytes); break;
    case Operation::rename: renamed_files = !renamed_files; break;
    case Operation::symlink: renamed_when_linked = renamed_files; break;
    case Operation::mkdir: directories = tree.items(); break;
    case Operation::rename_directory: renamed_directories = !renamed_directories; break;
    default: break;
  }
  // Later phases leave out what not every rank came to.
  if (!cut || !changes) return;
  if (metadata.operates_on == OperatesOn::files) files = std::min(files, completed);
  if (metadata.operates_on == OperatesOn::directories) directories = std::min(directories, completed);
}

Population population_of(const TreeState& state, const Tree& tree) {
  const bool has_files = state.present.has(Thing::files), has_directories = state.present.has(Thing::directories);
  Population population;
  static_cast<TreeItems&>(population) = state;
  if (!has_files) population.files = 0;
  if (!has_directories) population.directories = 0;
  population.whole =
      (!has_files || state.files == tree.items()) && (!has_directories || state.directories == tree.items());
  return population;
}

TreeState state_of(const Population& population, const TreeState& before, Operation operation) {
  TreeState state = before;
  static_cast<TreeItems&>(state) = population;
  state.present.remove({Thing::open_files});
  if (operation == Operation::link) state.hard_links = population.files;
  if (operation == Operation::symlink) state.symbolic_links = population.files;
  return state;
}

}  // namespace strider
