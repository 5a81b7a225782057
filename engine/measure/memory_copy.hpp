#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strider {

/// Bytes of all last-level caches of this node together, from sysfs below `root`; nothing where it does not say.
std::optional<std::uint64_t> last_level_cache_bytes(const std::string& root = "");

/// How large the two buffers of each rank are for a copy that caches cannot serve, with `ranks` ranks of the node at
/// work.
struct CopySize {
  std::uint64_t buffer_bytes = 0;
  /// All buffers of the node together are more than its caches hold.
  bool exceeds_caches = false;
};
CopySize copy_size(std::uint32_t ranks, std::optional<std::uint64_t> cache_bytes, std::uint64_t available_bytes);

/// Copies from one buffer to the other, a piece at a time.
class MemoryCopy {
 public:
  explicit MemoryCopy(std::uint64_t buffer_bytes);
  /// Copies the next piece; how many bytes that were.
  std::uint64_t copy_piece();

 private:
  std::vector<std::byte> from_, to_;
  std::size_t position_ = 0;
};

}  // namespace strider
