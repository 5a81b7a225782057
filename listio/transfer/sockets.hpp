#pragma once
#include <string>

#include "foundation/deadline.hpp"
#include "foundation/descriptor.hpp"

namespace strider::listio {

/// A socket that listens on `where` (host:port; port 0 for any), never waits, and is closed on exec. InputError if
/// there is no such place here, or it has been in use for 5 s.
Descriptor listen_on(const std::string& where);
/// Where a socket listens, as host:port.
std::string address_of(int socket);
/// A socket that is connected to `where`. IoError, which names it, if that is not done by the deadline.
Descriptor connect_to(const std::string& where, const Deadline& deadline);
/// Small messages go at once, and a host that is gone is noticed.
void tune(int socket);
/// Whether the other host has left what was sent unacknowledged for so long that it must be gone. One that only does
/// not read acknowledges nevertheless.
bool host_is_gone(int socket);

}  // namespace strider::listio
