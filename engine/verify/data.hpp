#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "verify/packet.hpp"

namespace strider {

/// Generations are numbered over the repetitions of a case, so that the data of one is in no other: repetition r begins
/// with generation r times this, more than a repetition has phases.
constexpr std::uint64_t generations_per_repetition = std::uint64_t{1} << 20;

/// The key + i·step of a word of file data, see below. Neighbours differ by `seed_step`, whatever the key.
constexpr std::uint64_t seed_step = 0x9e3779b97f4a7c15ULL;
std::uint64_t seed_of(std::uint64_t word);

/// What is in a file: the 8-byte little-endian word at file offset 8·i is mix(key + i·step), a bijection of the index,
/// so that a word found in the wrong place shows where it belongs. The key is a hash of what identifies the data. Or it
/// is data in IOR's form, the same in each generation and pass.
class FileData {
 public:
  struct Identity {
    std::uint64_t data_seed = 0;                  ///< differs in every run
    std::uint64_t workload = 0;                   ///< the same for cases that differ only in their interface
    std::uint64_t file = 0;                       ///< number of the file within the case
    std::uint64_t generation = 0;                 ///< how often the file has been (re)written, over repetitions
    std::uint64_t pass = 0;                       ///< of a phase that writes its requests again and again
    std::optional<Packet> packet = std::nullopt;  ///< the data is this instead
  };
  explicit FileData(const Identity& identity);
  explicit FileData(const Packet& packet) : packet_(packet) {}
  static FileData of_key(std::uint64_t key) { return FileData(key); }

  void fill(std::span<std::byte> memory, std::uint64_t file_offset) const;
  /// Position of the first wrong byte, or nothing.
  std::optional<std::uint64_t> first_mismatch(std::span<const std::byte> memory, std::uint64_t file_offset) const;
  std::byte at(std::uint64_t file_offset) const;
  std::uint64_t key() const { return key_; }
  const std::optional<Packet>& packet() const { return packet_; }
  /// The file offset (multiple of 8) at which this data holds `word`, wherever that is.
  std::uint64_t offset_of(std::uint64_t word) const { return offset_of_seed(seed_of(word)); }
  std::uint64_t offset_of_seed(std::uint64_t seed) const;

  /// What an examination does besides comparing.
  enum class Then : std::uint8_t { keep, spoil };
  enum class Sum : std::uint8_t { digested, none };
  struct Examined {
    std::uint64_t right_bytes = 0;  ///< before the first wrong one
    std::uint64_t digest = 0;       ///< of all bytes, if they are right and it was asked for
  };
  /// Compares memory with this data, digests and spoils it, all in one pass. From the first block with a wrong byte on
  /// memory is left as it was; what is spoilt before was right.
  Examined examine(std::span<std::byte> memory, std::uint64_t file_offset, Sum sum, Then then) const;

 private:
  explicit FileData(std::uint64_t key) : key_(key) {}
  std::uint64_t key_ = 0;
  std::optional<Packet> packet_;
};

/// Fills memory with what no read leaves behind by chance: a read that transfers nothing leaves n bytes of it, which
/// are right with a probability of 256^-n.
constexpr std::byte spoilt_byte{0xdb};
void spoil(std::span<std::byte> memory);

/// Number of bytes that differ.
std::uint64_t count_different(std::span<const std::byte> a, std::span<const std::byte> b);

/// Digest of bytes read at an offset; a rank's digest is the sum (modulo 2^64) of its requests' digests, so that it
/// does not depend on the order of completion. Definition: docs/measuring.md.
std::uint64_t digest(std::span<const std::byte> memory, std::uint64_t file_offset);

}  // namespace strider
