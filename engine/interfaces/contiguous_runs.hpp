#pragma once
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <vector>

#include "foundation/extent.hpp"

namespace strider {

/// Takes requests apart into runs: extents that follow each other in the file.
class ContiguousRuns {
 public:
  /// Calls `action(pieces of memory, offset in the file)` for each.
  template <typename Action>
  void for_each(const Request& request, const Action& action) {
    std::uint64_t begin = 0, end = 0;
    pieces_.clear();
    for (const Extent& extent : request.extents) {
      if (!pieces_.empty() && extent.file_offset != end) {
        action(std::span(pieces_), begin);
        pieces_.clear();
      }
      if (pieces_.empty()) begin = extent.file_offset;
      end = extent.file_offset + extent.length;
      pieces_.push_back({request.memory + extent.memory_offset, extent.length});
    }
    if (!pieces_.empty()) action(std::span(pieces_), begin);
  }

 private:
  std::vector<iovec> pieces_;  ///< of the current run; keeps its memory between requests
};

}  // namespace strider
