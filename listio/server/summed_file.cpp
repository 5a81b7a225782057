#include "listio/server/summed_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "foundation/error.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t chunk_blocks = 256;                         // 1 MiB of data
constexpr std::size_t most_in_doubt = 4096, fewer_in_doubt = 2048;  // ranges that are distinguished
constexpr std::size_t few_sums = 256;                               // need no memory of their own

}  // namespace

std::uint64_t OpenPair::data_bytes() const {
  struct stat found{};
  if (::fstat(data->get(), &found) != 0) throw_system_error(errno);
  return static_cast<std::uint64_t>(found.st_size);
}

std::uint64_t OpenPair::read(std::span<iovec> pieces, std::uint64_t offset) const {
  const Transferred got = move(::preadv, *data, pieces, offset, moved);
  if (got.error_number != 0) throw_system_error(got.error_number);
  for (const iovec& piece : pieces) std::memset(piece.iov_base, 0, piece.iov_len);
  return got.bytes;
}

SummedFile::SummedFile(const SumsHeader& header, std::uint64_t data_bytes, SumMemory& memory)
    : header_(header), pages_(std::make_unique<SumPages>(memory)) {
  if (!is_clean()) doubt({0, blocks_of(data_bytes)});
}

SummedFile::SummedFile(const SumsHeader& header, const OpenPair& open, SumMemory& memory)
    : header_(header), pages_(std::make_unique<SumPages>(memory)) {
  write_header(open);
}

void SummedFile::write_header(const OpenPair& open) const { write_whole(*open.sums, listio::write_header(header_), 0); }

void SummedFile::load(const OpenPair& open, std::uint64_t first, std::span<Sum> sums) const {
  pages_->load(*open.sums, first, sums);
}

void SummedFile::load_stored(const OpenPair& open, std::uint64_t first, std::span<Sum> sums) const {
  pages_->load_stored(*open.sums, first, sums);
}

void SummedFile::store(const OpenPair& open, std::uint64_t first, std::span<const Sum> sums) {
  pages_->store(*open.sums, first, sums);
}

void SummedFile::soil(const OpenPair& open, std::uint64_t bytes) {
  ++changes_;
  if (!is_clean() && header_.bytes <= bytes) return;
  const SumsHeader before = header_;
  header_.state = SumsHeader::State::dirty;
  header_.bytes = std::min(header_.bytes, bytes);
  try {
    write_header(open);
    // The mark has to be there before the data change. A flush that fails may have lost checksums too.
    if (const Errno error = open.sum_files.sync_bytes(open.file); error != 0) throw_system_error(error);
  } catch (...) {
    header_ = before;
    throw;
  }
}

void SummedFile::make_clean(const OpenPair& open, std::uint64_t epoch) {
  const SumsHeader before = header_;
  header_.state = SumsHeader::State::clean;
  header_.epoch = epoch;
  header_.bytes = open.data_bytes();
  try {
    write_header(open);
  } catch (...) {
    header_ = before;
    throw;
  }
}

void SummedFile::doubt(const ByteRun& blocks) {
  in_doubt_.add(RangeSet({&blocks, 1}));
  limit_doubt();
}

/// Bytes between ranges are summed again too, so that memory does not grow with them.
void SummedFile::limit_doubt() {
  if (in_doubt_.size() > most_in_doubt) in_doubt_.coarsen(fewer_in_doubt);
}

void SummedFile::doubt(const OpenPair& open, std::uint64_t first, std::uint64_t blocks) {
  const std::uint64_t end = std::min(first + blocks, blocks_of(open.data_bytes()));
  if (first < end) doubt({first, end - first});
}

void SummedFile::settle(std::uint64_t first, std::uint64_t blocks) {
  if (is_sure()) return;
  const ByteRun settled{first, blocks};
  in_doubt_.remove(RangeSet({&settled, 1}));
  limit_doubt();
}

void SummedFile::resum(const OpenPair& open, std::uint64_t first, std::uint64_t blocks) {
  if (is_sure()) return;
  const ByteRun wanted{first, blocks};
  const RangeSet range({&wanted, 1});
  while (const auto found = in_doubt_.overlap(range))
    sum_data(open, found->offset, std::min(found->length, chunk_blocks));
}

void SummedFile::resum_some(const OpenPair& open, std::uint64_t most_blocks) {
  if (!is_sure()) resum(open, in_doubt_.hull().offset, most_blocks);
}

void SummedFile::sum_data(const OpenPair& open, std::uint64_t first, std::uint64_t blocks) {
  std::vector<std::byte> data(blocks * block_bytes);
  iovec piece{data.data(), data.size()}, left = piece;
  open.read({&left, 1}, first * block_bytes);
  std::vector<Sum> sums(blocks);
  sum_blocks({&piece, 1}, sums);
  store(open, first, sums);
  settle(first, blocks);
}

void SummedFile::truncate(const OpenPair& open, std::uint64_t bytes) {
  const std::uint64_t before = open.data_bytes();
  const std::uint64_t last = bytes / block_bytes, rest = bytes % block_bytes;
  soil(open, bytes);
  std::vector<std::byte> block(block_bytes);
  const iovec whole{block.data(), block.size()};
  if (bytes < before && rest != 0) {
    resum(open, last, 1);
    iovec left = whole;
    open.read({&left, 1}, last * block_bytes);
    Sum expected = 0;
    load(open, last, {&expected, 1});
    compare(open, last, {&whole, 1}, {&expected, 1});
  }
  if (::ftruncate(open.data->get(), static_cast<off_t>(bytes)) != 0) throw_system_error(errno);
  if (bytes >= before) return;
  // If this fails half-way, the checksums are computed again.
  doubt({last, blocks_of(before) - last});
  if (::ftruncate(open.sums->get(), static_cast<off_t>(sum_offset(blocks_of(bytes)))) != 0) throw_system_error(errno);
  pages_->cut(blocks_of(bytes));
  if (rest != 0) {
    std::memset(block.data() + rest, 0, block.size() - rest);
    Sum sum = 0;
    sum_blocks({&whole, 1}, {&sum, 1});
    store(open, last, {&sum, 1});
  }
  settle(last, blocks_of(before) - last);
}

void compare(const OpenPair& open, std::uint64_t first, std::span<const iovec> pieces, std::span<const Sum> expected) {
  std::array<Sum, few_sums> few;
  std::vector<Sum> many(expected.size() > few.size() ? expected.size() : 0);
  const std::span<Sum> sums = many.empty() ? std::span(few).first(expected.size()) : std::span(many);
  sum_blocks(pieces, sums);
  const auto [sum, wanted] = std::ranges::mismatch(sums, expected);
  if (sum == sums.end()) return;
  const std::uint64_t offset = (first + static_cast<std::uint64_t>(sum - sums.begin())) * block_bytes;
  char text[64];
  std::snprintf(text, sizeof text, "checksum %08x instead of %08x", *sum, *wanted);
  throw DamagedData("data file " + open.name() + " is damaged at bytes " + std::to_string(offset) + " to " +
                    std::to_string(offset + block_bytes - 1) + ": " + text);
}

}  // namespace strider::listio
