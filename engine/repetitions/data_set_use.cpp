#include "repetitions/data_set_use.hpp"

#include <algorithm>
#include <utility>

#include "ranks/exchange.hpp"

namespace strider {
namespace {

/// The numbers of a state.
struct Header {
  std::uint64_t generation, last_generation, geometry, incomplete, files, parts;
  TreeState tree;
};

TreeReport report_of(const TreeState& tree) {
  TreeReport report{.present = {},
                    .files = tree.files,
                    .directories = tree.directories,
                    .hard_links = tree.hard_links,
                    .symbolic_links = tree.symbolic_links,
                    .file_bytes = tree.file_bytes,
                    .written_bytes = tree.written_bytes,
                    .generation = tree.generation,
                    .order_hash = tree.order_hash,
                    .renamed_files = tree.renamed_files,
                    .renamed_directories = tree.renamed_directories,
                    .renamed_when_linked = tree.renamed_when_linked};
  for (unsigned thing = 0; thing < thing_count; ++thing)
    if (tree.present.has(static_cast<Thing>(thing))) report.present.emplace_back(name_of(static_cast<Thing>(thing)));
  return report;
}

std::vector<EqualFiles> runs_of(const std::vector<std::uint64_t>& file_bytes) {
  std::vector<EqualFiles> runs;
  for (const std::uint64_t bytes : file_bytes) {
    if (runs.empty() || runs.back().bytes != bytes) runs.push_back({0, bytes});
    ++runs.back().count;
  }
  return runs;
}

}  // namespace

DataSetUse::DataSetUse(RunContext& context, const Case& test, MPI_Comm communicator)
    : context_(context),
      test_(test),
      communicator_(communicator),
      state_(context.data_sets.try_emplace(test.data_set.name, test.data_set.state).first->second) {
  share();
}

void DataSetUse::share() {
  Header header{.generation = state_.generation,
                .last_generation = state_.last_generation,
                .geometry = state_.geometry,
                .incomplete = state_.incomplete ? 1U : 0U,
                .files = state_.files.size(),
                .parts = state_.parts.size(),
                .tree = state_.tree};
  broadcast(header, communicator_, waiting());
  state_.generation = header.generation;
  state_.last_generation = header.last_generation;
  state_.geometry = header.geometry;
  state_.incomplete = header.incomplete != 0;
  state_.tree = header.tree;
  state_.files.resize(header.files);
  state_.parts.resize(header.parts);
  if (header.files > 0) broadcast(std::span(state_.files), communicator_, waiting());
  if (header.parts > 0) broadcast(std::span(state_.parts), communicator_, waiting());
}

std::uint64_t DataSetUse::available_requests(const Pattern& pattern, const FileAssignments& assignments) const {
  const std::uint64_t most = test_.data_set.requests;
  std::uint64_t available = most > 0 ? most : ~std::uint64_t{0};
  for (std::uint32_t rank = 0; rank < state_.parts.size(); ++rank) {
    const std::uint64_t all = pattern.requests(assignments.assignment(rank).place, Direction::write);
    if (state_.parts[rank].requests < all) available = std::min(available, state_.parts[rank].requests);
  }
  return available;
}

std::vector<std::uint64_t> DataSetUse::file_bytes(const FileAssignments& assignments) const {
  std::vector<std::uint64_t> bytes;
  for (std::uint64_t file = 0; file < assignments.files(); ++file)
    bytes.push_back(state_.bytes_of(test_.data_set.first_file + file));
  return bytes;
}

std::uint64_t DataSetUse::begin_writing(const PhaseName& name) {
  state_.incomplete = true;
  ++state_.last_generation;
  report(name, DataSetReport::State::writing);
  return state_.last_generation;
}

void DataSetUse::written(const PhaseName& name, const PhaseOutcome& result, const Pattern& pattern,
                         const FileAssignments& assignments, Size size) {
  if (result.failed || result.interrupted) return;
  std::vector<WrittenPart> parts =
      gather_to_all(WrittenPart{result.my_requests, result.written_end}, communicator_, waiting());
  bool complete = true;
  std::vector<std::uint64_t> file_bytes(assignments.files());
  for (std::uint32_t rank = 0; rank < test_.clients; ++rank) {
    const FileAssignment assignment = assignments.assignment(rank);
    complete = complete && parts[rank].requests >= pattern.requests(assignment.place, Direction::write);
    std::uint64_t& bytes = file_bytes[assignment.file];
    bytes = std::max(bytes, parts[rank].end);
    if (size == Size::of_pattern) bytes = pattern.file_size(assignment.place.ranks);
  }
  state_.generation = state_.last_generation;
  state_.geometry = test_.geometry;
  state_.incomplete = false;
  state_.files = runs_of(file_bytes);
  state_.parts.clear();
  if (!complete || !writes_every_byte(test_, pattern, assignments)) state_.parts = std::move(parts);
  report(name, DataSetReport::State::written);
}

void DataSetUse::populated(const PhaseName& name, const TreeState& tree) {
  state_.generation = state_.last_generation;
  state_.geometry = test_.geometry;
  state_.incomplete = false;
  state_.tree = tree;
  state_.files.clear();
  if (tree.present.has(Thing::files)) state_.files.push_back({tree.files * test_.clients, tree.file_bytes});
  report(name, DataSetReport::State::written);
}

void DataSetUse::report(const PhaseName& name, DataSetReport::State state) const {
  const bool own = test_.interface->capabilities.format == FileFormat::own;
  DataSetReport report{.name = test_.data_set.name,
                       .state = state,
                       .generation = state_.last_generation,
                       .geometry = test_.geometry,
                       .format = own ? std::string(test_.interface->name) : std::string(),
                       .files = {},
                       .parts = {},
                       .tree = {}};
  for (const EqualFiles& some : state_.files) report.files.emplace_back(some.count, some.bytes);
  for (const WrittenPart& part : state_.parts) report.parts.emplace_back(part.requests, part.end);
  if (test_.tree != nullptr) report.tree = report_of(state_.tree);
  context_.events->data_set(name, report);
}

}  // namespace strider
