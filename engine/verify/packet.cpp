#include "verify/packet.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "verify/vectors.hpp"

namespace strider {
namespace {

static_assert(std::endian::native == std::endian::little, "words are stored as this processor has them");

constexpr std::uint64_t word_bytes = 8;
constexpr std::uint64_t words_between_marks = 512;
constexpr std::uint64_t random_factor = 0x9e37fffffffc0001ULL;
constexpr unsigned random_shift = 3;

/// Copies the bytes of a word that lie in a part of a transfer, which begins at `position`.
void store_word(std::uint64_t word, std::uint64_t index, std::span<std::byte> part, std::uint64_t position) {
  const std::uint64_t begin = std::max(position, index * word_bytes);
  const std::uint64_t end = std::min(position + part.size(), (index + 1) * word_bytes);
  if (begin >= end) return;
  std::memcpy(part.data() + (begin - position),
              reinterpret_cast<const std::byte*>(&word) + (begin - index * word_bytes), end - begin);
}

/// Words of which each is the sum of the one before and `growth`, below the bits that are always set.
[[gnu::always_inline]] inline void fill_words(std::byte* to, std::uint64_t words, std::uint64_t high, std::uint64_t low,
                                              std::uint64_t growth) {
  for (std::uint64_t w = 0; w < words; ++w) {
    const std::uint64_t word = high | (low + w * growth);
    std::memcpy(to + word_bytes * w, &word, sizeof word);
  }
}

/// A random number of the C library, as IOR draws it.
std::uint64_t draw(unsigned& seed) { return static_cast<std::uint64_t>(::rand_r(&seed)); }

/// Of the words of a transfer: how often its offset is in this one, which is a mark.
constexpr std::uint64_t multiple_of(std::uint64_t index) { return index / words_between_marks + 1; }

}  // namespace

bool Packet::is_mark(std::uint64_t file_offset) const {
  const bool has_marks = type == Type::offset || type == Type::incompressible;
  return has_marks && file_offset % transfer_bytes / word_bytes % words_between_marks == 0;
}

std::optional<std::uint64_t> Packet::transfer_of_mark(std::uint64_t word, std::uint64_t file_offset,
                                                      std::uint64_t file_size) const {
  constexpr std::uint64_t most_tries = 1 << 16;
  const std::uint64_t multiple = multiple_of(file_offset % transfer_bytes / word_bytes);
  const std::uint64_t rank = word >> 32;
  Packet owner = *this;
  if (tasks == 1) owner.first_rank = static_cast<std::uint32_t>(rank);
  if (rank < owner.first_rank || rank - owner.first_rank >= tasks) return std::nullopt;
  const std::uint64_t first = (rank - owner.first_rank) * block_bytes, stride = tasks * block_bytes;
  std::uint64_t tries = 0;
  for (std::uint64_t block = first; block < file_size; block += stride)
    for (std::uint64_t transfer = block; transfer < block + block_bytes; transfer += transfer_bytes, ++tries) {
      if (tries == most_tries) return std::nullopt;
      if (static_cast<std::uint32_t>(transfer * multiple) == static_cast<std::uint32_t>(word)) return transfer;
    }
  return std::nullopt;
}

PacketStream::PacketStream(const Packet& packet, std::uint64_t file_offset)
    : packet_(packet), position_(file_offset % packet.transfer_bytes) {
  begin_transfer(file_offset - position_);
}

void PacketStream::begin_transfer(std::uint64_t transfer_offset) {
  transfer_offset_ = transfer_offset;
  const std::uint64_t rank = packet_.rank_at(transfer_offset);
  auto seed = static_cast<unsigned>(packet_.signature + rank);
  if (packet_.type == Packet::Type::random) {
    seed += static_cast<unsigned>(transfer_offset);
    state_ = draw(seed);
    states_ = 0;
  } else if (packet_.type == Packet::Type::incompressible) {
    const std::uint64_t first = draw(seed);
    high_ = first << 32 | draw(seed);
    low_ = growth_ = 0;
  } else {
    high_ = rank << 32;
    // IOR's signature is a signed number.
    low_ = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(packet_.signature)});
    growth_ = 1;
  }
}

void PacketStream::fill(std::span<std::byte> memory) {
  while (!memory.empty()) {
    if (position_ == packet_.transfer_bytes) {
      position_ = 0;
      begin_transfer(transfer_offset_ + packet_.transfer_bytes);
    }
    const auto part = memory.first(std::min<std::uint64_t>(memory.size(), packet_.transfer_bytes - position_));
    if (packet_.type == Packet::Type::random) fill_random(part);
    else fill_part(part);
    position_ += part.size();
    memory = memory.subspan(part.size());
  }
}

void PacketStream::fill_part(std::span<std::byte> part) {
  const std::uint64_t end = position_ + part.size();
  const std::uint64_t first = (position_ + word_bytes - 1) / word_bytes, last = std::max(first, end / word_bytes);
  store_word(plain_word(position_ / word_bytes), position_ / word_bytes, part, position_);
  if (last > first)
    with_widest_vectors<fill_words>(part.data() + (first * word_bytes - position_), last - first, high_,
                                    low_ + first * growth_, growth_);
  store_word(plain_word(last), last, part, position_);
  if (packet_.type == Packet::Type::timestamp) return;
  constexpr std::uint64_t distance = words_between_marks;
  for (std::uint64_t mark = position_ / word_bytes / distance * distance; mark * word_bytes < end; mark += distance)
    store_word(marked_word(mark), mark, part, position_);
}

/// The first word of each 4096 bytes of a transfer has its offset, times their number, in 32 bits, and the rank.
std::uint64_t PacketStream::marked_word(std::uint64_t index) const {
  return static_cast<std::uint32_t>(transfer_offset_ * multiple_of(index)) | packet_.rank_at(transfer_offset_) << 32;
}

/// Each word follows from the one before, so that those before the part have to be computed as well.
void PacketStream::fill_random(std::span<std::byte> part) {
  const std::uint64_t first = position_ / word_bytes, end = position_ + part.size();
  std::uint64_t word = state_, index = states_;
  const auto step = [&] { word = (word * random_factor) >> random_shift, ++index; };
  while (index <= first) step();
  store_word(word, first, part, position_);
  while ((index + 1) * word_bytes <= end) {
    step();
    std::memcpy(part.data() + ((index - 1) * word_bytes - position_), &word, sizeof word);
  }
  if (index * word_bytes < end) {
    step();
    store_word(word, index - 1, part, position_);
  }
  state_ = word;
  states_ = index;
}

}  // namespace strider
