#include "verify/data.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "foundation/random.hpp"
#include "verify/vectors.hpp"

namespace strider {
namespace {

static_assert(std::endian::native == std::endian::little, "file data is defined as little-endian words");

constexpr std::uint64_t step = seed_step;
constexpr std::uint64_t factor = 0xd6e8feb86659fd93ULL;

/// x with factor * x = 1 modulo 2^64 (Newton's iteration doubles the number of right bits).
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}
static_assert(step * inverse(step) == 1 && factor * inverse(factor) == 1);

[[gnu::always_inline]] constexpr std::uint64_t scramble(std::uint64_t x) {
  x ^= x >> 32;
  x *= factor;
  return x ^ (x >> 29);
}
constexpr std::uint64_t unscramble(std::uint64_t x) {
  x ^= (x >> 29) ^ (x >> 58);
  x *= inverse(factor);
  return x ^ (x >> 32);
}
static_assert(unscramble(scramble(0x0123456789abcdefULL)) == 0x0123456789abcdefULL);

[[gnu::always_inline]] inline std::uint64_t load(const std::byte* from) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// The word of index i, and the byte at an offset, of the data that has this key.
[[gnu::always_inline]] inline std::uint64_t word_of(std::uint64_t key, std::uint64_t i) {
  return scramble(key + i * step);
}
[[gnu::always_inline]] inline std::byte byte_of(std::uint64_t key, std::uint64_t file_offset) {
  return static_cast<std::byte>(word_of(key, file_offset / 8) >> (8 * (file_offset % 8)));
}

[[gnu::always_inline]] inline void fill_memory(std::uint64_t key, std::span<std::byte> memory,
                                               std::uint64_t file_offset) {
  std::size_t i = 0;
  while (i < memory.size() && (file_offset + i) % 8 != 0) memory[i] = byte_of(key, file_offset + i), ++i;
  const std::uint64_t first_word = (file_offset + i) / 8;
  const std::size_t words = (memory.size() - i) / 8;
  for (std::size_t w = 0; w < words; ++w) {
    const std::uint64_t value = word_of(key, first_word + w);
    std::memcpy(memory.data() + i + 8 * w, &value, sizeof value);
  }
  for (i += 8 * words; i < memory.size(); ++i) memory[i] = byte_of(key, file_offset + i);
}

/// Whether words are what the data has there, from the word with this counter on.
[[gnu::always_inline]] inline std::uint64_t difference_of(std::uint64_t counter, const std::byte* from,
                                                          std::size_t words) {
  std::uint64_t difference = 0;
  for (std::size_t w = 0; w < words; ++w) difference |= load(from + 8 * w) ^ scramble(counter + w * step);
  return difference;
}

/// Position of the first byte that is not what the data has there; the size of `memory` if there is none.
[[gnu::always_inline]] inline std::size_t compare_memory(std::uint64_t key, std::span<const std::byte> memory,
                                                         std::uint64_t file_offset) {
  std::size_t i = 0;
  for (; i < memory.size() && (file_offset + i) % 8 != 0; ++i)
    if (memory[i] != byte_of(key, file_offset + i)) return i;
  std::uint64_t counter = key + (file_offset + i) / 8 * step;
  constexpr std::size_t words_at_once = 64;  // one branch for many words keeps the comparison in vector registers
  for (; i + 8 * words_at_once <= memory.size(); i += 8 * words_at_once) {
    if (difference_of(counter, memory.data() + i, words_at_once) != 0) break;
    counter += words_at_once * step;
  }
  for (; i + 8 <= memory.size(); i += 8, counter += step)
    if (load(memory.data() + i) != scramble(counter)) break;
  while (i < memory.size() && memory[i] == byte_of(key, file_offset + i)) ++i;
  return i;
}

/// The sum in the definition of the digest, over a part of the bytes; `counter`: that of the word before.
[[gnu::always_inline]] inline std::uint64_t sum_of_words(std::span<const std::byte> memory, std::uint64_t counter) {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 8 <= memory.size(); i += 8) sum += scramble(load(memory.data() + i) + (counter += step));
  if (i < memory.size()) {
    std::uint64_t rest = 0;
    std::memcpy(&rest, memory.data() + i, memory.size() - i);
    sum += scramble(rest + (counter += step));
  }
  return sum;
}

struct Progress {
  std::size_t right = 0;
  std::uint64_t sum = 0;
};

/// Compares, sums up and spoils block by block, each while it is in the first-level cache.
template <FileData::Sum summing, FileData::Then then>
[[gnu::always_inline]] inline Progress examine_memory(std::uint64_t key, std::span<std::byte> memory,
                                                      std::uint64_t file_offset) {
  constexpr std::size_t block_words = 512;
  Progress done;
  while (done.right < memory.size()) {
    const std::span<std::byte> block =
        memory.subspan(done.right).first(std::min(memory.size() - done.right, 8 * block_words));
    const std::uint64_t offset = file_offset + done.right, digested = done.right / 8 * step;
    std::uint64_t sum = 0;
    if (offset % 8 == 0 && block.size() == 8 * block_words) {
      // With a constant number of words, the compiler makes one loop of vectors of this.
      const std::uint64_t counter = key + offset / 8 * step;
      std::uint64_t difference = 0;
      for (std::size_t w = 0; w < block_words; ++w) {
        const std::uint64_t word = load(block.data() + 8 * w);
        difference |= word ^ scramble(counter + w * step);
        if constexpr (summing == FileData::Sum::digested) sum += scramble(word + digested + (w + 1) * step);
      }
      if (difference != 0) {
        done.right += compare_memory(key, block, offset);
        return done;
      }
    } else {
      if (const std::size_t right = compare_memory(key, block, offset); right < block.size()) {
        done.right += right;
        return done;
      }
      if constexpr (summing == FileData::Sum::digested) sum = sum_of_words(block, digested);
    }
    if constexpr (then == FileData::Then::spoil) std::memset(block.data(), static_cast<int>(spoilt_byte), block.size());
    done.sum += sum;
    done.right += block.size();
  }
  return done;
}

/// Compares with data in IOR's form. Calls `right(begin, bytes)` for each block without a wrong byte; returns the
/// position of the first one.
template <typename Right>
std::size_t compare_packet(const Packet& packet, std::span<const std::byte> memory, std::uint64_t file_offset,
                           const Right& right) {
  std::array<std::byte, 4096> expected;
  PacketStream stream(packet, file_offset);
  std::size_t begin = 0;
  while (begin < memory.size()) {
    const auto block = memory.subspan(begin).first(std::min(memory.size() - begin, expected.size()));
    stream.fill(std::span(expected).first(block.size()));
    if (std::memcmp(block.data(), expected.data(), block.size()) != 0)
      return begin + static_cast<std::size_t>(std::ranges::mismatch(block, expected).in1 - block.begin());
    right(begin, block.size());
    begin += block.size();
  }
  return begin;
}

[[gnu::noinline]] void fill_packet(const Packet& packet, std::span<std::byte> memory, std::uint64_t file_offset) {
  PacketStream(packet, file_offset).fill(memory);
}

/// Out of line, as the function above, so that Strider's own data costs no more.
[[gnu::noinline]] Progress examine_packet(const Packet& packet, std::span<std::byte> memory, std::uint64_t file_offset,
                                          FileData::Sum sum, FileData::Then then) {
  Progress done;
  done.right = compare_packet(packet, memory, file_offset, [&](std::size_t begin, std::size_t bytes) {
    const auto block = memory.subspan(begin, bytes);
    if (sum == FileData::Sum::digested)
      done.sum += with_widest_vectors<sum_of_words>(std::span<const std::byte>(block), begin / 8 * step);
    if (then == FileData::Then::spoil) spoil(block);
  });
  return done;
}

[[gnu::always_inline]] inline std::uint64_t count_in_memory(const std::byte* a, const std::byte* b, std::size_t bytes) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < bytes;) {  // sums of few bytes fit narrow integers, many of which fit a register
    std::uint8_t some = 0;
    for (const std::size_t end = std::min(bytes, i + 255); i < end; ++i)
      some = static_cast<std::uint8_t>(some + (a[i] != b[i]));
    count += some;
  }
  return count;
}

}  // namespace

FileData::FileData(const Identity& identity)
    : key_(hash_numbers(identity.data_seed, identity.workload, identity.file, identity.generation)),
      packet_(identity.packet) {
  if (identity.pass > 0) key_ = hash_numbers(key_, identity.pass);
}

std::byte FileData::at(std::uint64_t file_offset) const {
  if (!packet_) [[likely]]
    return byte_of(key_, file_offset);
  std::array<std::byte, 1> byte{};
  fill(byte, file_offset);
  return byte[0];
}

std::uint64_t FileData::offset_of_seed(std::uint64_t seed) const { return (seed - key_) * inverse(step) * 8; }

void FileData::fill(std::span<std::byte> memory, std::uint64_t file_offset) const {
  if (packet_) [[unlikely]]
    return fill_packet(*packet_, memory, file_offset);
  with_widest_vectors<fill_memory>(key_, memory, file_offset);
}

std::optional<std::uint64_t> FileData::first_mismatch(std::span<const std::byte> memory,
                                                      std::uint64_t file_offset) const {
  const std::size_t position = packet_ ? compare_packet(*packet_, memory, file_offset, [](std::size_t, std::size_t) {})
                                       : with_widest_vectors<compare_memory>(key_, memory, file_offset);
  return position < memory.size() ? std::optional<std::uint64_t>(position) : std::nullopt;
}

FileData::Examined FileData::examine(std::span<std::byte> memory, std::uint64_t file_offset, Sum sum, Then then) const {
  const auto finish = [&](const Progress& progress) -> Examined {
    return {progress.right, sum == Sum::none ? 0 : hash_numbers(progress.sum, file_offset, memory.size())};
  };
  if (packet_) [[unlikely]]
    return finish(examine_packet(*packet_, memory, file_offset, sum, then));
  const auto done = [&]<Sum summing>() {
    return then == Then::spoil ? with_widest_vectors<examine_memory<summing, Then::spoil>>(key_, memory, file_offset)
                               : with_widest_vectors<examine_memory<summing, Then::keep>>(key_, memory, file_offset);
  };
  return finish(sum == Sum::none ? done.template operator()<Sum::none>() : done.template operator()<Sum::digested>());
}

std::uint64_t seed_of(std::uint64_t word) { return unscramble(word); }

void spoil(std::span<std::byte> memory) { std::ranges::fill(memory, spoilt_byte); }

std::uint64_t count_different(std::span<const std::byte> a, std::span<const std::byte> b) {
  return with_widest_vectors<count_in_memory>(a.data(), b.data(), a.size());
}

std::uint64_t digest(std::span<const std::byte> memory, std::uint64_t file_offset) {
  return hash_numbers(with_widest_vectors<sum_of_words>(memory, std::uint64_t{0}), file_offset, memory.size());
}

}  // namespace strider
