#include "ranks/confinement_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "confinement/landlock.hpp"
#include "foundation/descriptor.hpp"
#include "foundation/run_folder.hpp"
#include "ranks/exchange.hpp"

namespace strider {
namespace {

/// errno; 0 where it can be opened.
int error_of_open(const std::string& path, int flags) {
  return Descriptor(::open(path.c_str(), flags | O_CLOEXEC)) ? 0 : errno;
}

}  // namespace

bool is_confined(const ConfinementOptions& options) {
  // Reading is not governed: where that fails too, it is the file that cannot be reached, as on another host.
  return !options.probe.empty() && error_of_open(options.probe, O_RDONLY) == 0 &&
         error_of_open(options.probe, O_WRONLY) == EACCES;
}

Confinement find_confinement(const ConfinementOptions& options, MPI_Comm communicator, const WaitOptions& waiting) {
  int ranks = 0, confined = is_confined(options) ? 1 : 0;
  MPI_Comm_size(communicator, &ranks);
  all_reduce(std::span(&confined, 1), MPI_SUM, communicator, waiting);
  if (confined == 0) {
    const std::string unknown =
        options.probe.empty() ? "the engine was not started by strider run"
                              : "no rank runs under strider-confine, for example because a daemon starts the ranks";
    return {"none", options.reason.empty() ? unknown : options.reason};
  }
  std::string missing;
  const auto add = [&](const std::string& text) { missing += (missing.empty() ? "" : "; ") + text; };
  if (confined < ranks)
    add(std::to_string(ranks - confined) + " of " + std::to_string(ranks) +
        " ranks are not confined, for example those on other hosts");
  const int abi = landlock_support().abi;
  if (abi < abi_with_truncate)
    add("files outside of the run's folder can be truncated by path (Landlock ABI " + std::to_string(abi) +
        " of this kernel)");
  if (!RunFolder::kernel_keeps_beneath()) add("links within the run's folder are followed (no openat2 here)");
  if (!options.wider.empty()) add(options.wider);
  return {missing.empty() ? "full" : "partly", missing};
}

}  // namespace strider
