#include "repetitions/sweeper.hpp"

#include <array>
#include <cerrno>

#include "plan/plan.hpp"

namespace strider {
namespace {

template <typename Action>
void unless_gone(const Action& action) {
  try {
    action();
  } catch (const IoError& error) {
    if (error.details().error_number != ENOENT) throw;
  }
}

}  // namespace

Sweeper::Sweeper(const Tree& tree, Directory& directory, const FileAssignments& assignments, const Case& test,
                 std::uint32_t rank)
    : tree_(tree),
      directory_(directory),
      assignment_(assignments.assignment(rank)),
      order_(order_of(test, rank, tree.items())),
      paths_(tree, file_name(test, assignment_.file)) {}

void Sweeper::note(Operation operation, const PhaseOutcome& result) {
  // The item at which a phase broke off may have been made.
  const Range made{0, std::min(result.my_requests + 1, tree_.items()), false};
  switch (operation) {
    case Operation::create:
    case Operation::mknod:
      files_ = made;
      files_had_other_name_ = false;  // there were none before
      break;
    case Operation::mix: files_ = {result.oldest_file, result.oldest_file + result.existing_files + 1, true}; break;
    case Operation::mkdir:
      directories_ = made;
      directories_had_other_name_ = false;
      break;
    case Operation::link: hard_links_ = files_; break;
    case Operation::symlink: symbolic_links_ = files_; break;
    case Operation::rename: files_had_other_name_ = true; break;
    case Operation::rename_directory: directories_had_other_name_ = true; break;
    default: break;
  }
}

template <typename Action>
void Sweeper::each(ItemName name, const Range& range, const Action& action) {
  for (std::uint64_t index = range.first; index < range.end; ++index) {
    std::array<std::uint64_t, 1> number{index};
    if (!range.numbers) order_.fill(index, number);
    const char* path = paths_.item(name, {assignment_.place.rank, number[0]});
    unless_gone([&] { action(path); });
  }
}

void Sweeper::remove_files(const Range& range) {
  const auto unlink = [this](const char* path) { directory_.unlink(path); };
  each(ItemName::file, range, unlink);
  if (files_had_other_name_) each(ItemName::renamed_file, range, unlink);
}

void Sweeper::remove_directories(const Range& range) {
  const auto remove = [this](const char* path) { directory_.remove_directory(path); };
  each(ItemName::directory, range, remove);
  if (directories_had_other_name_) each(ItemName::renamed_directory, range, remove);
}

void Sweeper::remove_files_from(std::uint64_t first) { remove_files({first, files_.end, files_.numbers}); }

void Sweeper::remove_items(Things things) {
  const auto unlink = [this](const char* path) { directory_.unlink(path); };
  if (things.has(Thing::hard_links)) each(ItemName::hard_link, hard_links_, unlink);
  if (things.has(Thing::symbolic_links)) each(ItemName::symbolic_link, symbolic_links_, unlink);
  if (things.has(Thing::files)) remove_files(files_);
  if (things.has(Thing::directories)) remove_directories(directories_);
}

void Sweeper::remove_level(unsigned level) {
  const std::uint64_t end = dealt_directories(assignment_.place, tree_.first_of_level(level + 1));
  for (std::uint64_t k = dealt_directories(assignment_.place, tree_.first_of_level(level)); k < end; ++k) {
    const char* path = paths_.directory(dealt_directory(assignment_.place, k));
    unless_gone([&] { directory_.remove_directory(path); });
  }
}

}  // namespace strider
