#pragma once
#include <string>

namespace strider {

/// From here on SIGINT and SIGTERM are noted instead of killing the process.
void note_interrupts();
/// The same for a rank, which also dies with its launcher.
void watch_for_interrupts();
/// The run is over for those who started it: a rank does as if it were interrupted. May be called by any thread.
void note_end_of_run();
/// SIGINT or SIGTERM has arrived, or the run is over: a rank ends the phase, removes the files and goes.
bool interrupted();
/// The signal that did not come from the launcher, with its sender; empty if there was none.
std::string foreign_interrupt();

}  // namespace strider
