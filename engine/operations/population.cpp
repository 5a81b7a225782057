#include "operations/population.hpp"

#include <algorithm>

namespace strider {

std::uint64_t size_after(Operation operation, std::uint64_t bytes) {
  constexpr std::uint64_t first_size = 4096;
  switch (operation) {
    case Operation::truncate: return bytes / 2;
    case Operation::expand: return bytes == 0 ? first_size : 2 * bytes;
    default: return bytes;
  }
}

void Population::complete(Operation operation, const Tree& tree, std::uint64_t completed, bool cut) {
  const MetadataOperation& metadata = entry_of(operation).metadata;
  present.remove(metadata.removes);
  present.add(metadata.makes);
  whole = whole && !cut;
  switch (operation) {
    case Operation::create:
    case Operation::mknod:
      files = tree.items();
      first_file = 0;
      mixed = renamed_files = false;
      file_bytes = written_bytes = operation == Operation::create ? tree.file_bytes() : 0;
      break;
    case Operation::small_write:
      written_bytes = tree.file_bytes();
      file_bytes = std::max(file_bytes, written_bytes);
      break;
    case Operation::truncate:
    case Operation::expand:
      file_bytes = size_after(operation, file_bytes);
      written_bytes = std::min(written_bytes, file_bytes);
      break;
    case Operation::rename: renamed_files = !renamed_files; break;
    case Operation::symlink: renamed_when_linked = renamed_files; break;
    case Operation::mkdir:
      directories = tree.items();
      renamed_directories = false;
      break;
    case Operation::rename_directory: renamed_directories = !renamed_directories; break;
    default: break;
  }
  // Later phases leave out what not every rank came to.
  if (!cut || metadata.population == MetadataOperation::Population::same) return;
  if (metadata.visits == Visits::files && !metadata.makes.has(Thing::open_files)) files = std::min(files, completed);
  if (metadata.visits == Visits::directories) directories = std::min(directories, completed);
}

}  // namespace strider
