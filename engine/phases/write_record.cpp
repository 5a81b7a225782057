#include "phases/write_record.hpp"

#include <algorithm>

namespace strider {
namespace {

/// Whether all requests of all ranks together are the whole file.
bool tiles(const Case& test) {
  if (!test.pattern->tiles) return false;
  const auto ending = split_choices(test.pattern->tiles_unless);
  return std::none_of(ending.begin(), ending.end(),
                      [&](std::string_view name) { return test.pattern_settings.has(name); });
}

}  // namespace

WriteRecord::WriteRecord(const Case& test, const Pattern& pattern, const FileAssignments& assignments,
                         const Interface& interface)
    : test_(test),
      pattern_(pattern),
      assignments_(assignments),
      sizes_new_files_(interface.sizes_new_files()),
      ends_(assignments.files()) {}

void WriteRecord::prefilled(std::uint64_t generation) {
  prefill_ = generation;
  for (std::uint64_t file = 0; file < ends_.size(); ++file)
    ends_[file] = pattern_.file_size(assignments_.ranks_of(file));
}

void WriteRecord::written(std::uint64_t generation, std::vector<Part> parts) {
  Layer layer{generation, std::move(parts), true, false};
  for (std::uint32_t rank = 0; rank < layer.parts.size(); ++rank) {
    const FileAssignment assignment = assignments_.assignment(rank);
    const Part& part = layer.parts[rank];
    ends_[assignment.file] = std::max(ends_[assignment.file], part.end);
    layer.complete = layer.complete && part.visits >= pattern_.requests(assignment.place, Direction::write);
  }
  layer.whole = layer.complete && tiles(test_);
  if (layer.complete) layers_.clear();  // it lies over all others
  layers_.insert(layers_.begin(), std::move(layer));
}

WriteRecord::Size WriteRecord::size_of(std::uint64_t file) const {
  const std::uint64_t whole = pattern_.file_size(assignments_.ranks_of(file));
  const std::uint64_t least = sizes_new_files_ ? whole : ends_[file];
  return {least, test_.interface->capabilities.format == FileFormat::own ? whole : least};
}

}  // namespace strider
