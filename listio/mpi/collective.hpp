#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "listio/mpi/access.hpp"

namespace strider::listio::mpi {

/// What one rank is about to do in a collective call.
struct Part {
  std::int64_t low = 0, high = 0;  ///< of the file; the same if nothing is to be done
  std::int64_t bytes = 0, runs = 0;
};

/// A collective call before its bytes are moved.
struct Meeting {
  Task task;
  Outcome outcome;          ///< agreed, if the ranks have spoken to each other
  bool has_met = false;     ///< they have
  bool aggregates = false;  ///< they bring the data together first
  std::vector<Part> parts;  ///< of all ranks; only if they aggregate
};

/// Checks, and lets ranks speak to each other where the call needs it; `Agreement::wanted`: in any case.
enum class Agreement { if_needed, wanted };
Meeting meet(OpenFile& file, const Ask& ask, Agreement agreement);

/// Two-phase access: the file is dealt out, strip by strip, to ranks that aggregate. Each moves, in rounds, what all
/// ranks want of its strips, as one list: holes between are neither read nor written. Collective; the outcome is not
/// agreed.
Outcome move_together(OpenFile& file, const Meeting& meeting, std::int64_t& moved);

/// Whether ranks aggregate, by the hint and by what all of them are about to do.
bool aggregates(Aggregation hint, Direction direction, const std::vector<Part>& parts);

}  // namespace strider::listio::mpi
