#pragma once
#include <functional>

namespace strider {

/// A command in a process of its own below this one, which stays outside of what the command is bound by.
struct Supervised {
  char* const* command;                  ///< words, then a null pointer
  std::function<void()> before_command;  ///< in the new process; throws IoError
  int watched = -1;                      ///< a descriptor; `readable` is called when there is something to read
  std::function<void()> readable;
};

/// Starts the command and waits for its end; signals that ask for an end are passed on to it. Ends this process as the
/// command ended: with its exit status, or by the same signal. If the process that started this one dies, asks the
/// command to end, and kills it with all its descendants after 5 s. Throws IoError where it cannot be started.
[[noreturn]] void supervise(const Supervised& work);

}  // namespace strider
