#include "listio/server/sums.hpp"

#include <algorithm>

#include "foundation/crc32c.hpp"
#include "listio/protocol/bytes.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t magic = 0x736d757374736c73;  // "slstsums"
constexpr std::uint32_t version = 2;

Sum sum_of_zeros() {
  static const Sum sum = crc32c(std::array<std::byte, block_bytes>{});
  return sum;
}

}  // namespace

void sum_blocks(std::span<const iovec> pieces, std::span<Sum> sums) {
  const Sum zeros = sum_of_zeros();
  std::size_t piece = 0, done = 0;  // bytes of the piece
  for (Sum& sum : sums) {
    std::uint32_t value = 0;
    for (std::uint64_t left = block_bytes; left > 0;) {
      if (done == pieces[piece].iov_len) {
        ++piece;
        done = 0;
        continue;
      }
      const std::size_t part = std::min<std::uint64_t>(left, pieces[piece].iov_len - done);
      value = crc32c({static_cast<const std::byte*>(pieces[piece].iov_base) + done, part}, value);
      done += part;
      left -= part;
    }
    sum = value ^ zeros;
  }
}

std::array<std::byte, SumsHeader::size> write_header(const SumsHeader& header) {
  ByteWriter out;
  out.number(magic).number(version).raw(header.volume).number(header.number).number(header.file);
  out.number(static_cast<std::uint32_t>(block_bytes)).number(static_cast<std::uint32_t>(header.state));
  out.number(header.epoch).number(header.bytes);
  const std::vector<std::byte> fields = out.take();
  const std::vector<std::byte> sum = ByteWriter().number(crc32c(fields)).take();
  std::array<std::byte, SumsHeader::size> bytes{};
  const auto end = std::ranges::copy(fields, bytes.begin()).out;
  std::ranges::copy(sum, end);
  return bytes;
}

std::optional<SumsHeader> read_header(std::span<const std::byte> bytes) {
  if (bytes.size() != SumsHeader::size) return {};
  ByteReader in(bytes);
  const bool is_one = in.number<std::uint64_t>() == magic && in.number<std::uint32_t>() == version;
  SumsHeader header;
  std::ranges::copy(in.raw(header.volume.size()), header.volume.begin());
  header.number = in.number<std::uint32_t>();
  header.file = in.number<FileId>();
  in.number<std::uint32_t>();
  header.state = static_cast<SumsHeader::State>(in.number<std::uint32_t>());
  header.epoch = in.number<std::uint64_t>();
  header.bytes = in.number<std::uint64_t>();
  // All other bytes are 0.
  return is_one && std::ranges::equal(write_header(header), bytes) ? std::optional(header) : std::nullopt;
}

}  // namespace strider::listio
