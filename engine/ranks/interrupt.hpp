#pragma once

namespace strider {

/// From here on SIGINT and SIGTERM are noted instead of killing the process.
void note_interrupts();
/// The same for a rank, which also dies with its launcher.
void watch_for_interrupts();
/// SIGINT or SIGTERM has arrived: a rank ends the phase, removes the files and goes.
bool interrupted();

}  // namespace strider
