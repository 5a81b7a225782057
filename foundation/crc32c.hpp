#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace strider {

/// The CRC-32C (Castagnoli) of bytes, as iSCSI, ext4 and Btrfs use it; "123456789" has 0xe3069283.
/// With `before`, the checksum of what came before these bytes, that of both together.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace strider
