#pragma once
#include <sys/uio.h>

#include <span>

#include "listio/registration/address_space.hpp"

namespace strider::listio {

/// IoError (EFAULT) that names the first piece which is not mapped or does not allow the access; nothing if all are
/// there. To be asked after `call` found a bad address.
void require_accessible(const char* call, std::span<const iovec> pieces, Access access);

}  // namespace strider::listio
