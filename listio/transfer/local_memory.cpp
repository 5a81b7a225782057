#include "listio/transfer/local_memory.hpp"

#include <cerrno>
#include <string>

#include "foundation/error.hpp"

namespace strider::listio {

void require_accessible(const char* call, std::span<const iovec> pieces, Access access) {
  AddressSpace memory;
  for (const iovec& piece : pieces) {
    const auto begin = reinterpret_cast<std::uintptr_t>(piece.iov_base);
    if (memory.is_accessible({begin, begin + piece.iov_len}, access)) continue;
    throw IoError({call, "memory", begin, piece.iov_len, EFAULT},
                  std::to_string(piece.iov_len) + " bytes of the memory list are not mapped, or may not be accessed",
                  "check the pieces of the memory list");
  }
}

}  // namespace strider::listio
