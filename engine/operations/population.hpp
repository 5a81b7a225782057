#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "plan/data_set.hpp"
#include "plan/operation.hpp"
#include "trees/paths.hpp"
#include "trees/tree.hpp"

namespace strider {

/// How often a mix has rewritten each of a rank's own files: contents differ from those before, so that a write that
/// is lost is seen. A byte for each file that may live at a time.
class Rewrites {
 public:
  /// Keeps what is known of `files` files from number `first` on, and has room for `most` of them.
  void keep(std::uint64_t first, std::uint64_t files, std::uint64_t most);
  void created(std::uint64_t number) { counts_[number % counts_.size()] = 0; }
  void rewritten(std::uint64_t number) { ++counts_[number % counts_.size()]; }
  std::uint8_t of(std::uint64_t number) const { return counts_.empty() ? 0 : counts_[number % counts_.size()]; }
  void clear() { counts_.clear(); }

 private:
  std::vector<std::uint8_t> counts_;
};

/// What a rank knows of the items that all ranks have in their trees at a time. Files are those of operations 0 … files
/// - 1.
struct Population : TreeItems {
  std::uint64_t first_file = 0;  ///< number of the rank's oldest file: more than 0 only after a mix
  bool mixed = false;            ///< each rank has its own number of files from here on
  bool whole = true;             ///< no phase that changes items was cut short: these are all there are
  Rewrites rewrites;             ///< since `generation`

  ItemName file_name() const { return renamed_files ? ItemName::renamed_file : ItemName::file; }
  ItemName directory_name() const { return renamed_directories ? ItemName::renamed_directory : ItemName::directory; }

  /// How it is without these things: new ones are numbered and named from the beginning.
  void remove(Things things);
  /// How it is when `operation` has been completed, by every rank for the first `completed` items.
  void complete(Operation operation, const Tree& tree, std::uint64_t completed, bool cut);
};

/// What a case finds in the trees of a data set.
Population population_of(const TreeState& state, const Tree& tree);
/// What it leaves there after `operation`, before which there was `before`.
TreeState state_of(const Population& population, const TreeState& before, Operation operation);

}  // namespace strider
