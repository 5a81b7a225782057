#pragma once
#include <string>
#include <vector>

namespace strider {

/// Runs the user's command that unmounts and mounts the target, an argument vector without any shell, and waits for its
/// end; a command that takes longer than `deadline_s` is killed with all that it started. What it prints goes to the
/// error stream. Throws IoError where it cannot be started, does not end in time or reports a failure.
void remount(const std::vector<std::string>& command, double deadline_s);

}  // namespace strider
