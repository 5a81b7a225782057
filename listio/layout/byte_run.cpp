#include "listio/layout/byte_run.hpp"

#include <string>

#include "foundation/bounds.hpp"
#include "foundation/error.hpp"

namespace strider::listio {

std::uint64_t checked_bytes(std::span<const ByteRun> runs, std::uint64_t most_bytes, std::string_view what) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ByteRun& run = runs[i];
    if (!ends_within(run.offset, run.length, most_bytes) || !ends_within(bytes, run.length, most_bytes))
      throw InputError(std::string(what),
                       std::string(what) + ": run " + std::to_string(i) + " (offset " + std::to_string(run.offset) +
                           ", length " + std::to_string(run.length) + ") exceeds the limit of " +
                           std::to_string(most_bytes) + " bytes",
                       "check the source of the offsets and lengths of the list");
    bytes += run.length;
  }
  return bytes;
}

}  // namespace strider::listio
