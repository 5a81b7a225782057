#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace strider {

/// The CRC-32C (Castagnoli) of bytes, as iSCSI, ext4 and Btrfs use it; "123456789" has 0xe3069283.
/// With `before`, the checksum of what came before these bytes, that of both together.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// A way to compute it.
struct Crc32cWay {
  const char* name;
  std::uint32_t (*compute)(std::span<const std::byte> bytes, std::uint32_t before);
};
/// Those that this processor has, the fastest first. `crc32c` uses the first; all have the same results.
std::span<const Crc32cWay> crc32c_ways();

}  // namespace strider
