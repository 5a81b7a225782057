#include "runner/announcement.hpp"

#include <mpi.h>

#include <algorithm>
#include <string>

namespace strider {

RunInfo announcement(const RunOptions& options, std::uint32_t ranks, const std::vector<NodeInfo>& nodes,
                     const Timer& timer, const Confinement& confinement) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(library, &length);
  std::string first_line(library);
  first_line = first_line.substr(0, first_line.find('\n'));
  std::replace(first_line.begin(), first_line.end(), '\t', ' ');
  return {.run = options.run,
          .mpi_library = first_line,
          .ranks = ranks,
          .nodes = nodes,
          .timer = std::string(timer.name()),
          .timer_cost_ns = timer.cost_ns(),
          .data_seed = options.data_seed,
          .confinement = confinement};
}

}  // namespace strider
