#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "events/events.hpp"
#include "repetitions/schedule.hpp"

namespace strider {

/// What a resumed run has from its earlier starts: docs/formats.md, section 3.
struct EarlierStarts {
  double elapsed_s = 0;                        ///< since the start of the run, pauses included
  double time_limit_s = 0;                     ///< of this start; 0: none
  std::uint64_t samples = 0, errors = 0;       ///< in the event stream
  std::vector<NodeInfo> nodes;                 ///< that the ranks must be on; empty: any
  std::vector<EarlierRepetition> repetitions;  ///< complete ones, in the order of execution
};

/// Reads the file of `--earlier`. Throws InputError.
EarlierStarts read_earlier_starts(const std::string& path);

/// What differs between the nodes of an earlier start and those of this one, in words; empty if nothing does.
std::string difference_of_nodes(const std::vector<NodeInfo>& earlier, const std::vector<NodeInfo>& now);

}  // namespace strider
