#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace strider::listio {

/// Handles bytes from outside as the service does. The first byte chooses what: 0 parses a message of
/// a client; 1 one of a server, and bodies of replies; 2 a stream of frames, as it arrives on a connection; 3 a stream
/// of messages (a length of two bytes before each) to a server that has admitted the client.
void take_from_outside(std::span<const std::byte> bytes);

}  // namespace strider::listio
