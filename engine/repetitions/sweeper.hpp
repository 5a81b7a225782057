#pragma once
#include <cstdint>

#include "interfaces/directory.hpp"
#include "operations/population.hpp"
#include "patterns/order.hpp"
#include "plan/file_assignments.hpp"
#include "reports/phase.hpp"

namespace strider {

/// Removes what a rank made in its tree, whatever became of it: what is gone already is no error.
class Sweeper {
 public:
  Sweeper(const Tree& tree, Directory& directory, const FileAssignments& assignments, const Case& test,
          std::uint32_t rank);

  /// Remembers how much a phase made.
  void note(Operation operation, const PhaseOutcome& result);
  /// Removes items of these things that are this rank's own.
  void remove_items(Things things);
  /// Removes this rank's own files from a number on; only in forward order.
  void remove_files_from(std::uint64_t first);
  /// Removes this rank's share of the directories of a level, which must be empty.
  void remove_level(unsigned level);

 private:
  /// Items by index in the order, or after a mix by number.
  struct Range {
    std::uint64_t first = 0, end = 0;
    bool numbers = false;
  };
  void remove_files(const Range& range);
  void remove_directories(const Range& range);
  /// `action` on the path of each item by that name; one that is gone is no error.
  template <typename Action>
  void each(ItemName name, const Range& range, const Action& action);

  const Tree& tree_;
  Directory& directory_;
  FileAssignment assignment_;
  Order order_;
  Paths paths_;
  Range files_, directories_, hard_links_, symbolic_links_;
  bool files_had_other_name_ = false, directories_had_other_name_ = false;
};

}  // namespace strider
