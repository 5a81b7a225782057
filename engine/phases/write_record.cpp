#include "phases/write_record.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace strider {
namespace {

/// Whether all requests of all ranks together are the whole file.
bool tiles(const Case& test) {
  if (!test.pattern->tiles) return false;
  const auto ending = split_choices(test.pattern->tiles_unless);
  return std::none_of(ending.begin(), ending.end(),
                      [&](std::string_view name) { return test.pattern_settings.has(name); });
}

/// Of the data of two passes a rank's requests hold at most: those of the pass that was interrupted, and of the one
/// before it.
std::uint64_t newest(const Passes& passes) { return passes.last_at(0); }
std::uint64_t oldest(const Passes& passes) { return passes.per_pass > 0 ? passes.last_at(passes.per_pass - 1) : 0; }

/// Number of a rank's requests, from the first of its order on, that hold data of a pass or of the next one.
std::uint64_t first_requests(const Passes& passes, std::uint64_t pass) {
  if (pass != newest(passes)) return pass == oldest(passes) ? passes.per_pass : 0;
  return std::min(passes.per_pass, passes.requests - pass * passes.per_pass);
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
  last_ = {generation, {}};
  older_.reset();
  for (std::uint64_t file = 0; file < ends_.size(); ++file)
    ends_[file] = pattern_.file_size(assignments_.ranks_of(file));
}

void WriteRecord::found(std::uint64_t generation, const std::vector<std::uint64_t>& file_bytes) {
  prefilled(generation);
  ends_ = file_bytes;
  sizes_new_files_ = false;
}

void WriteRecord::written(Operation operation, std::uint64_t generation, const std::vector<Part>& parts,
                          std::uint64_t pass_limit) {
  const bool drawn = operation == Operation::read_write;
  if (!drawn) older_.reset();
  else if (!older_) older_ = last_;
  last_ = {generation, {}};
  std::set<std::uint64_t, std::greater<>> newest_first;  // passes of which something is left
  bool complete = !drawn;                                // every rank has written all of its requests
  for (std::uint32_t rank = 0; rank < parts.size(); ++rank) {
    const FileAssignment assignment = assignments_.assignment(rank);
    const std::uint64_t all = pattern_.requests(assignment.place, Direction::write);
    const Passes passes{std::min(all, pass_limit), parts[rank].requests};
    ends_[assignment.file] = std::max(ends_[assignment.file], parts[rank].end);
    complete = complete && std::min(passes.per_pass, passes.requests) >= all;
    newest_first.insert({newest(passes), oldest(passes)});
    last_.passes.push_back(passes);
  }
  if (complete) layers_.clear();  // it lies over all others
  auto position = layers_.begin();
  for (const std::uint64_t pass : newest_first) {
    Layer layer{generation, pass, {}, complete && tiles(test_), drawn};
    for (const Passes& passes : last_.passes) {
      layer.requests.push_back(first_requests(passes, pass));
      layer.whole = layer.whole && layer.requests.back() == passes.per_pass;
    }
    position = layers_.insert(position, std::move(layer)) + 1;
  }
}

Passes WriteRecord::passes_of(std::uint32_t rank) const {
  return rank < last_.passes.size() ? last_.passes[rank] : Passes{};
}

std::optional<OlderData> WriteRecord::older_data_of(std::uint32_t rank) const {
  if (!older_) return std::nullopt;
  return OlderData{draw_of(test_), older_->generation, rank < older_->passes.size() ? older_->passes[rank] : Passes{}};
}

WriteRecord::Size WriteRecord::size_of(std::uint64_t file) const {
  const std::uint64_t whole = pattern_.file_size(assignments_.ranks_of(file));
  const std::uint64_t least = sizes_new_files_ ? whole : ends_[file];
  return {least, test_.interface->capabilities.format == FileFormat::own ? whole : least};
}

}  // namespace strider
