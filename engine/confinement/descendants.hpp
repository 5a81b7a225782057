#pragma once
#include <sys/types.h>

#include <vector>

namespace strider {

/// The descendants of a process, parents first, also those in other sessions. Empty if the kernel does not list them.
std::vector<pid_t> descendants_of(pid_t process);

/// Kills all descendants of a process, also those that they start meanwhile; waits at most 0.5 s for their end.
void kill_descendants(pid_t process);

}  // namespace strider
