#pragma once
#include <cerrno>

namespace strider::listio {

/// Whether an operation failed because a server is gone, or does not answer.
inline bool is_lost_connection(int error_number) {
  return error_number == ECONNRESET || error_number == ECONNREFUSED || error_number == ETIMEDOUT;
}

}  // namespace strider::listio
