#include "foundation/whole_transfer.hpp"

#include <unistd.h>

#include <array>

namespace strider {

Transferred read_to_end(int descriptor, std::string& text, std::uint64_t most_bytes) {
  std::array<char, 16384> part;
  return transfer_whole(most_bytes, [&](std::uint64_t done) {
    const std::int64_t moved =
        moved_or_error(::read(descriptor, part.data(), std::min<std::uint64_t>(part.size(), most_bytes - done)));
    if (moved > 0) text.append(part.data(), static_cast<std::size_t>(moved));
    return moved;
  });
}

IoError stopped_transfer(IoError::What what) {
  if (what.error_number != 0) return IoError(std::move(what));
  return IoError(std::move(what), "the call moved no bytes: the file ends here");
}

}  // namespace strider
