#pragma once

namespace strider {

/// From here on SIGINT and SIGTERM are noted instead of killing the rank, and the rank dies with its launcher.
void watch_for_interrupts();
/// SIGINT or SIGTERM has arrived: end the phase, remove the files, go.
bool interrupted();

}  // namespace strider
