#pragma once
#include <cstdint>
#include <vector>

#include "measure/histogram.hpp"
#include "operations/metadata_executor.hpp"
#include "operations/operation_loop.hpp"
#include "plan/case.hpp"

namespace strider {

/// Draws operations by weight and executes them on the rank's own files. These are numbered on: create makes the next
/// one, unlink removes the oldest, so the living ones are a range of numbers. Their number stays between half and one
/// and a half of what it was at first: a draw that would leave this is put off, and its opposite done.
class Mix {
 public:
  Mix(const std::vector<MixPart>& parts, std::uint64_t seed, std::uint32_t owner, Population& population,
      MetadataExecutor& executor, const Timer& timer);

  /// Executes a request that was due `waited` ticks ago; its ticks, these included.
  std::uint64_t step(std::uint64_t waited = 0);

  const std::vector<MixTally>& tallies() const { return tallies_; }
  std::uint64_t oldest() const { return oldest_; }
  std::uint64_t living() const { return next_ - oldest_; }

 private:
  std::size_t draw();
  std::size_t index_of(Operation operation);
  Item pick(Operation operation);

  const std::vector<MixPart>& parts_;
  std::vector<MixTally> tallies_;
  double total_weight_ = 0;
  std::uint64_t random_;
  std::uint32_t owner_;
  std::uint64_t oldest_, next_;
  std::uint64_t least_, most_;
  Rewrites& rewrites_;
  MetadataExecutor& executor_;
  const Timer& timer_;
};

}  // namespace strider
