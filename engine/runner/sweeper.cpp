#include "runner/sweeper.hpp"

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

Sweeper::Sweeper(const Tree& tree, Directory& directory, const Seating& seating, const Case& test, std::uint32_t rank)
    : tree_(tree),
      directory_(directory),
      seat_(seating.seat(rank)),
      order_(order_of(test, rank, tree.items())),
      paths_(tree, file_name(test.number, seat_.file)) {}

void Sweeper::note(Operation operation, const PhaseOutcome& result) {
  // The item at which a phase broke off may have been made.
  const Range made{0, std::min(result.my_requests + 1, tree_.items()), false};
  switch (operation) {
    case Operation::create:
    case Operation::mknod: files_ = made; break;
    case Operation::mix: files_ = {result.oldest_file, result.oldest_file + result.living_files + 1, true}; break;
    case Operation::mkdir: directories_ = made; break;
    case Operation::link: hard_links_ = files_; break;
    case Operation::symlink: symbolic_links_ = files_; break;
    case Operation::rename: files_had_other_name_ = true; break;
    case Operation::rename_directory: directories_had_other_name_ = true; break;
    default: break;
  }
}

void Sweeper::remove(ItemName name, const Range& range, bool is_directory) {
  for (std::uint64_t visit = range.first; visit < range.end; ++visit) {
    std::array<std::uint64_t, 1> number{visit};
    if (!range.numbers) order_.fill(visit, number);
    const char* path = paths_.item(name, {seat_.place.rank, number[0]});
    unless_gone([&] { is_directory ? directory_.remove_directory(path) : directory_.unlink(path); });
  }
}

void Sweeper::remove_items(Things things) {
  if (things.has(Thing::hard_links)) remove(ItemName::hard_link, hard_links_, false);
  if (things.has(Thing::symbolic_links)) remove(ItemName::symbolic_link, symbolic_links_, false);
  if (things.has(Thing::files)) {
    remove(ItemName::file, files_, false);
    if (files_had_other_name_) remove(ItemName::renamed_file, files_, false);
  }
  if (things.has(Thing::directories)) {
    remove(ItemName::directory, directories_, true);
    if (directories_had_other_name_) remove(ItemName::renamed_directory, directories_, true);
  }
}

void Sweeper::remove_level(unsigned level) {
  const std::uint64_t end = dealt_directories(seat_.place, tree_.first_of_level(level + 1));
  for (std::uint64_t k = dealt_directories(seat_.place, tree_.first_of_level(level)); k < end; ++k) {
    const char* path = paths_.directory(dealt_directory(seat_.place, k));
    unless_gone([&] { directory_.remove_directory(path); });
  }
}

}  // namespace strider
