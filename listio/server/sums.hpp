#pragma once
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// Blocks that `bytes` bytes from the begin of a file fill, the last one maybe in part.
constexpr std::uint64_t blocks_of(std::uint64_t bytes) { return (bytes + block_bytes - 1) / block_bytes; }

/// The checksum of a block: its CRC-32C, and 0 for a block of zeros, so that holes need no checksums, and checksums
/// that are lost do not fit data.
using Sum = std::uint32_t;

/// The checksums of whole blocks that lie in `pieces`, one after the other, with any cuts of the pieces.
void sum_blocks(std::span<const iovec> pieces, std::span<Sum> sums);

/// The first 4096 bytes of a file of checksums, after which there is the checksum of each block (4 bytes,
/// little-endian).
struct SumsHeader {
  enum class State : std::uint32_t {
    clean = 1,  ///< all checksums are those of the data file, which has `bytes` bytes
    dirty = 2,  ///< there may have been writes since; the data file has at least `bytes` bytes
  };
  static constexpr std::size_t size = 4096;

  VolumeId volume{};
  std::uint32_t number = 0;  ///< of the server
  FileId file = 0;
  State state = State::dirty;
  std::uint64_t epoch = 0;  ///< start of the volume that wrote it
  std::uint64_t bytes = 0;

  bool operator==(const SumsHeader&) const = default;
};

/// With its own checksum. All that is not 0 is in the first 512 bytes, which storage writes as a whole or not at all.
std::array<std::byte, SumsHeader::size> write_header(const SumsHeader& header);
/// None if it is damaged.
std::optional<SumsHeader> read_header(std::span<const std::byte> bytes);

/// Where the checksum of a block is in its file.
constexpr std::uint64_t sum_offset(std::uint64_t block) { return SumsHeader::size + block * sizeof(Sum); }

}  // namespace strider::listio
