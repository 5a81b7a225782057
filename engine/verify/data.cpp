#include "verify/data.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/random.hpp"

namespace strider {
namespace {

static_assert(std::endian::native == std::endian::little, "file data is defined as little-endian words");

constexpr std::uint64_t step = 0x9e3779b97f4a7c15ULL;
constexpr std::uint64_t factor = 0xd6e8feb86659fd93ULL;

/// x with factor * x = 1 modulo 2^64 (Newton's iteration doubles the number of right bits).
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}
static_assert(step * inverse(step) == 1 && factor * inverse(factor) == 1);

constexpr std::uint64_t scramble(std::uint64_t x) {
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

std::uint64_t load(const std::byte* from) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

FileData::FileData(const Identity& identity)
    : key_(hash_numbers(identity.data_seed, identity.workload, identity.file, identity.generation)) {}

std::uint64_t FileData::word(std::uint64_t index) const { return scramble(key_ + index * step); }

std::byte FileData::at(std::uint64_t file_offset) const {
  return static_cast<std::byte>(word(file_offset / 8) >> (8 * (file_offset % 8)));
}

std::uint64_t FileData::offset_of(std::uint64_t word) const { return (unscramble(word) - key_) * inverse(step) * 8; }

void FileData::fill(std::span<std::byte> memory, std::uint64_t file_offset) const {
  std::size_t i = 0;
  while (i < memory.size() && (file_offset + i) % 8 != 0) memory[i] = at(file_offset + i), ++i;
  std::uint64_t counter = key_ + (file_offset + i) / 8 * step;
  for (; i + 8 <= memory.size(); i += 8, counter += step) {
    const std::uint64_t value = scramble(counter);
    std::memcpy(memory.data() + i, &value, sizeof value);
  }
  for (; i < memory.size(); ++i) memory[i] = at(file_offset + i);
}

std::optional<std::uint64_t> FileData::first_mismatch(std::span<const std::byte> memory,
                                                      std::uint64_t file_offset) const {
  std::size_t i = 0;
  for (; i < memory.size() && (file_offset + i) % 8 != 0; ++i)
    if (memory[i] != at(file_offset + i)) return i;
  std::uint64_t counter = key_ + (file_offset + i) / 8 * step;
  constexpr std::size_t words_at_once = 64;  // one branch for many words keeps the comparison in vector registers
  for (; i + 8 * words_at_once <= memory.size(); i += 8 * words_at_once) {
    std::uint64_t difference = 0;
    for (std::size_t w = 0; w < words_at_once; ++w)
      difference |= load(memory.data() + i + 8 * w) ^ scramble(counter + w * step);
    if (difference != 0) break;
    counter += words_at_once * step;
  }
  for (; i + 8 <= memory.size(); i += 8, counter += step)
    if (load(memory.data() + i) != scramble(counter)) break;
  for (; i < memory.size(); ++i)
    if (memory[i] != at(file_offset + i)) return i;
  return std::nullopt;
}

std::uint64_t digest(std::span<const std::byte> memory, std::uint64_t file_offset) {
  std::uint64_t sum = 0, counter = 0;
  std::size_t i = 0;
  for (; i + 8 <= memory.size(); i += 8) sum += scramble(load(memory.data() + i) + (counter += step));
  if (i < memory.size()) {
    std::uint64_t rest = 0;
    std::memcpy(&rest, memory.data() + i, memory.size() - i);
    sum += scramble(rest + (counter += step));
  }
  return hash_numbers(sum, file_offset, memory.size());
}

}  // namespace strider
