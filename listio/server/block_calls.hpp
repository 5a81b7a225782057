#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "listio/layout/byte_run.hpp"
#include "listio/server/sums.hpp"

namespace strider::listio {

/// A block that a list has only a part of, in memory of its own: `bytes` has room for all of it.
struct PartBlock {
  std::uint64_t block = 0;
  std::byte* bytes = nullptr;
};

/// Contiguous blocks of a file that a list reads or writes. All their bytes have a place in memory: in the list's own
/// buffer, or in that of a block that the list has only a part of.
struct BlockCall {
  std::uint64_t first = 0, blocks = 0;
  std::uint64_t begin = 0, end = 0;  ///< first byte of the list, and end of the last one
  std::uint64_t own_bytes = 0;       ///< of the list
  std::span<iovec> pieces;
  std::span<PartBlock> parts;

  std::uint64_t end_block() const { return first + blocks; }
  /// The pieces without bytes before `begin` and after `end`. Shortens them.
  std::span<iovec> own_pieces() const;
};

/// The system calls for a list of runs of a data file in whole blocks: runs sorted by offset, those in the same or in
/// neighbouring blocks in one call.
class BlockCalls {
 public:
  /// The bytes of `runs` are in `buffer`, one run after the other, from its begin; it has to be long enough. Runs must
  /// not overlap.
  BlockCalls(std::span<const ByteRun> runs, std::span<std::byte> buffer);
  std::span<BlockCall> calls() { return calls_; }

  /// Whether no byte is in two runs.
  static bool are_apart(std::span<const ByteRun> runs);

 private:
  void add(const ByteRun& run, std::byte* memory);
  /// The bytes of a block, in part or whole, that no run has.
  void fill(std::uint64_t begin, std::uint64_t end);
  void put(std::byte* memory, std::uint64_t bytes);
  /// What follows the last run in its block.
  void close();

  std::unique_ptr<std::byte[]> memory_;  ///< of blocks in part
  std::byte* free_ = nullptr;
  std::vector<iovec> pieces_;
  std::vector<PartBlock> parts_;
  std::vector<BlockCall> calls_;
};

}  // namespace strider::listio
