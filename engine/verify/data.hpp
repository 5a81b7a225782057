#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace strider {

/// What is in a file: the 8-byte little-endian word at file offset 8·i is mix(key + i·step), a bijection of the index,
/// so that a word found in the wrong place tells where it belongs. The key is a hash of what identifies the data.
class FileData {
 public:
  struct Identity {
    std::uint64_t data_seed = 0;   ///< differs in every run
    std::uint64_t workload = 0;    ///< the same for cases that differ only in their interface
    std::uint64_t file = 0;        ///< number of the file within the case
    std::uint64_t generation = 0;  ///< how often the file has been (re)written, over repetitions
  };
  explicit FileData(const Identity& identity);

  void fill(std::span<std::byte> memory, std::uint64_t file_offset) const;
  /// Position of the first wrong byte, or nothing.
  std::optional<std::uint64_t> first_mismatch(std::span<const std::byte> memory, std::uint64_t file_offset) const;
  std::byte at(std::uint64_t file_offset) const;
  /// The file offset (multiple of 8) at which this data holds `word`, wherever that is.
  std::uint64_t offset_of(std::uint64_t word) const;

 private:
  std::uint64_t key_;
};

/// Changes a byte of every 512, so that a read that brings nothing does not leave the right data behind.
void spoil(std::span<std::byte> memory);

/// Digest of bytes read at an offset; a rank's digest is the sum (modulo 2^64) of its requests' digests, so that it
/// does not depend on the order of completion. Definition: docs/measuring.md.
std::uint64_t digest(std::span<const std::byte> memory, std::uint64_t file_offset);

}  // namespace strider
