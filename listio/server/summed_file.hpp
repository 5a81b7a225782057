#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "listio/layout/range_set.hpp"
#include "listio/server/block_calls.hpp"
#include "listio/server/numbered_files.hpp"
#include "listio/server/sum_pages.hpp"
#include "listio/server/sums.hpp"

namespace strider::listio {

/// A data file and the file of its checksums, open.
struct OpenPair {
  OpenFiles::Handle data, sums;
  const NumberedFiles& data_files;
  NumberedFiles& sum_files;
  FileId file = 0;
  Moved& moved;

  /// Of the data file, for messages.
  std::string name() const { return data_files.name_of(file); }
  std::uint64_t data_bytes() const;
  /// Bytes beyond the end read as 0. Returns how many bytes there were.
  std::uint64_t read(std::span<iovec> pieces, std::uint64_t offset) const;
};

/// A server's state of a data file and its checksums. All functions throw std::system_error with the number of the
/// call that failed, and DamagedData. For one thread at a time, const ones for several.
class SummedFile {
 public:
  /// As its header was found. Of a dirty one all checksums are in doubt: writes of a process that ended may be missing.
  SummedFile(const SumsHeader& header, std::uint64_t data_bytes, SumMemory& memory);
  /// A new one, without data.
  SummedFile(const SumsHeader& header, const OpenPair& open, SumMemory& memory);

  bool is_clean() const { return header_.state == SumsHeader::State::clean; }
  /// Whether no checksum is in doubt.
  bool is_sure() const { return in_doubt_.empty(); }
  /// How often it was changed.
  std::uint64_t changes() const { return changes_; }

  void write_header(const OpenPair& open) const;

  /// Checksums of blocks from `first` on; by several threads at once.
  void load(const OpenPair& open, std::uint64_t first, std::span<Sum> sums) const;
  /// The same as they are on the storage, those excepted that were not flushed yet.
  void load_stored(const OpenPair& open, std::uint64_t first, std::span<Sum> sums) const;
  void store(const OpenPair& open, std::uint64_t first, std::span<const Sum> sums);
  /// Takes room for checksums, on the storage and in memory, so that data are not changed if theirs find none.
  void reserve(const OpenPair& open, std::uint64_t first, std::uint64_t blocks) {
    pages_->prepare(*open.sums, first, blocks);
  }

  /// Writes checksums that are in memory alone.
  void flush(const OpenPair& open) { pages_->flush(*open.sums); }
  /// Whether checksums are in memory; after `flush`, `forget` frees it.
  bool keeps_sums() const { return !pages_->is_empty(); }
  void forget() { pages_->drop(); }

  /// The data file is about to be changed, and will have at least `bytes` bytes of those that are durable.
  void soil(const OpenPair& open, std::uint64_t bytes);
  /// All data and checksums are on stable storage, after `flush` and a sync of both. Its own writes are to be made
  /// durable too.
  void make_clean(const OpenPair& open, std::uint64_t epoch);

  /// Checksums may not fit data any more. Bytes beyond the end of the data file have none.
  void doubt(const OpenPair& open, std::uint64_t first, std::uint64_t blocks);
  /// The checksums of these blocks are those of their data.
  void settle(std::uint64_t first, std::uint64_t blocks);
  /// Sums data whose checksums are in doubt: in a range, or the first ones of the file, at most so many blocks.
  void resum(const OpenPair& open, std::uint64_t first, std::uint64_t blocks);
  void resum_some(const OpenPair& open, std::uint64_t most_blocks);

  /// Cuts or extends both files.
  void truncate(const OpenPair& open, std::uint64_t bytes);

 private:
  void doubt(const ByteRun& blocks);
  void limit_doubt();
  void sum_data(const OpenPair& open, std::uint64_t first, std::uint64_t blocks);

  SumsHeader header_;
  std::unique_ptr<SumPages> pages_;
  std::uint64_t changes_ = 0;
  RangeSet in_doubt_;  ///< blocks
};

/// Throws DamagedData unless the checksums of these blocks are as expected.
void compare(const OpenPair& open, std::uint64_t first, std::span<const iovec> pieces, std::span<const Sum> expected);

}  // namespace strider::listio
