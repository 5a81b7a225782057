#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "listio/client/client.hpp"
#include "listio/client/copies.hpp"
#include "listio/client/driver.hpp"

namespace strider::listio {

/// Copies the missed changes to each server that is out, and then has it be in. Other clients use the volume meanwhile;
/// at the end of each they wait until the last changes are copied too, for `Views::most_pause` at most. A server whose
/// neighbours report missed changes, though it is in, is out first; so is one with damaged data, which get
/// the bytes of the other copy. IoError if server 0 does not answer.
std::vector<FilledServer> fill_servers(Driver& driver, Copies& copies, std::span<const DamagedCopy> damaged);

/// Has a server be out and miss all data that its neighbours have of it, so that it may begin with an empty folder and
/// be filled. It must not run. IoError, EBUSY if one of its neighbours is out.
void prepare_to_replace(Driver& driver, Copies& copies, std::uint32_t server);

}  // namespace strider::listio
