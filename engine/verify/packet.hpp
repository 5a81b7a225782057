#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace strider {

/// Data in the form of IOR's data packets, so that IOR and Strider check each other's files. A byte depends on its file
/// offset alone. A file consists of transfers; word i of a transfer is made of the rank that owns it, the signature, i
/// and the file offset of the transfer. docs/measuring.md has the forms.
struct Packet {
  enum class Type : std::uint8_t { timestamp, offset, incompressible, random };
  Type type = Type::timestamp;
  std::uint32_t signature = 0;       ///< IOR's -G, or the time in seconds at which its repetition began
  std::uint64_t transfer_bytes = 8;  ///< a multiple of 8
  std::uint64_t block_bytes = 8;     ///< consecutive bytes of a rank, a multiple of the transfer
  std::uint32_t tasks = 1;           ///< ranks whose blocks follow each other in the file
  std::uint32_t first_rank = 0;      ///< the one whose block begins the file

  std::uint64_t rank_at(std::uint64_t file_offset) const { return first_rank + file_offset / block_bytes % tasks; }
  /// Whether the word at this offset (a multiple of 8) says to which transfer it belongs.
  bool is_mark(std::uint64_t file_offset) const;
  /// The file offset of the transfer to which such a word belongs, if it is one of a file of this size; the lowest one
  /// where several fit. `file_offset`: where it was found, at the right place of some transfer.
  std::optional<std::uint64_t> transfer_of_mark(std::uint64_t word, std::uint64_t file_offset,
                                                std::uint64_t file_size) const;
  bool operator==(const Packet&) const = default;
};

/// The bytes of such a file from an offset on, piece by piece.
class PacketStream {
 public:
  PacketStream(const Packet& packet, std::uint64_t file_offset);
  /// Fills memory with the next bytes.
  void fill(std::span<std::byte> memory);

 private:
  void begin_transfer(std::uint64_t transfer_offset);
  void fill_part(std::span<std::byte> part);
  void fill_random(std::span<std::byte> part);
  std::uint64_t plain_word(std::uint64_t index) const { return high_ | (low_ + index * growth_); }
  std::uint64_t marked_word(std::uint64_t index) const;

  Packet packet_;
  std::uint64_t transfer_offset_ = 0;  ///< in the file, of the current transfer
  std::uint64_t position_ = 0;         ///< in it, of the next byte
  std::uint64_t high_ = 0, low_ = 0, growth_ = 0;
  std::uint64_t state_ = 0, states_ = 0;  ///< of random data: the last word, and how many came before and with it
};

}  // namespace strider
