#include "verify/packet.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <vector>

#include "verify/data.hpp"
#include "verify/examiner.hpp"

namespace strider {
namespace {

using Type = Packet::Type;
constexpr std::array types{Type::timestamp, Type::offset, Type::incompressible, Type::random};

/// Two ranks share a file: blocks of two transfers.
Packet shared(Type type, std::uint32_t signature = 1234567) {
  return {.type = type, .signature = signature, .transfer_bytes = 8192, .block_bytes = 16384, .tasks = 2};
}

/// The documented form: the words of a transfer of a rank.
std::vector<std::uint64_t> words_of(const Packet& packet, std::uint64_t transfer_offset, std::uint64_t rank) {
  const auto counted = [&](std::uint64_t i) {
    return rank << 32 | (static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(packet.signature)}) + i);
  };
  std::vector<std::uint64_t> words(packet.transfer_bytes / 8);
  auto seed = static_cast<unsigned>(packet.signature + rank);
  if (packet.type == Type::random) {
    seed += static_cast<unsigned>(transfer_offset);
    auto last = static_cast<std::uint64_t>(rand_r(&seed));
    for (std::uint64_t& word : words) word = last = last * 0x9e37fffffffc0001 / 8;
    return words;
  }
  const auto high = static_cast<std::uint64_t>(rand_r(&seed)), low = static_cast<std::uint64_t>(rand_r(&seed));
  for (std::uint64_t i = 0; i < words.size(); ++i) {
    const std::uint64_t mark = rank << 32 | (transfer_offset * (i / 512 + 1) & 0xffffffff);
    const bool is_mark = i % 512 == 0 && packet.type != Type::timestamp;
    words[i] = is_mark ? mark : packet.type == Type::incompressible ? high << 32 | low : counted(i);
  }
  return words;
}

std::vector<std::byte> file_of(const Packet& packet, std::uint64_t bytes) {
  std::vector<std::byte> file;
  for (std::uint64_t offset = 0; offset < bytes; offset += packet.transfer_bytes) {
    const std::uint64_t rank = packet.first_rank + offset / packet.block_bytes % packet.tasks;
    const auto words = words_of(packet, offset, rank);
    const auto* begin = reinterpret_cast<const std::byte*>(words.data());
    file.insert(file.end(), begin, begin + packet.transfer_bytes);
  }
  return file;
}

std::vector<std::byte> filled(const Packet& packet, std::uint64_t offset, std::size_t length) {
  std::vector<std::byte> memory(length);
  FileData(packet).fill(memory, offset);
  return memory;
}

// proves measuring: packet-words, packet-timestamp, packet-offset, packet-incompressible, packet-random
// proves measuring: packet-seed, packet-same, packet-exchange
TEST(Packet, FillsFilesAsDocumented) {
  for (const Type type : types)
    for (const std::uint32_t signature : {0U, 1U, 1234567U, 0x7fffffffU, 0xffffffffU, 0x80000000U})
      EXPECT_EQ(filled(shared(type, signature), 0, 98304), file_of(shared(type, signature), 98304))
          << static_cast<int>(type) << ", " << signature;
}

TEST(Packet, FillsTheFileOfARankAsDocumented) {
  for (const Type type : types) {
    const Packet own{.type = type, .signature = 77, .transfer_bytes = 40, .block_bytes = 120, .first_rank = 5};
    EXPECT_EQ(filled(own, 0, 1200), file_of(own, 1200)) << static_cast<int>(type);
  }
}

/// Of files that IOR 4.1 wrote with -t 8k -b 16k -s 3 -G 1234567 on two ranks: words of the second rank's first
/// transfer.
// proves measuring: packet-words, packet-timestamp, packet-offset, packet-incompressible, packet-random
TEST(Packet, IsWhatIorWrites) {
  struct Written {
    Type type;
    std::array<std::uint64_t, 2> first, at_4096;
  };
  constexpr std::uint64_t drawn = 0x292ace4974281439;
  constexpr std::array<Written, 4> of_ior{{
      {Type::timestamp, {0x10012d687, 0x10012d688}, {0x10012d887, 0x10012d888}},
      {Type::offset, {0x100006000, 0x10012d688}, {0x10000c000, 0x10012d888}},
      {Type::incompressible, {0x100006000, drawn}, {0x10000c000, drawn}},
      {Type::random, {0x1c1ac026d96fcda1, 0x0e96eb4cf45d79b4}, {0x1b554ccb856db7f2, 0x1022e6e294b4b6fe}},
  }};
  for (const Written& written : of_ior) {
    std::array<std::uint64_t, 2> words{};
    const auto memory = std::as_writable_bytes(std::span(words));
    FileData(shared(written.type)).fill(memory, 24576);
    EXPECT_EQ(words, written.first) << static_cast<int>(written.type);
    FileData(shared(written.type)).fill(memory, 24576 + 4096);
    EXPECT_EQ(words, written.at_4096) << static_cast<int>(written.type);
  }
}

TEST(Packet, AByteDependsOnItsOffsetAlone) {
  for (const Type type : types) {
    const Packet packet = shared(type);
    const std::vector<std::byte> whole = filled(packet, 0, 40000);
    for (const std::uint64_t offset : {0UL, 1UL, 7UL, 8UL, 4090UL, 4096UL, 8185UL, 8191UL, 16383UL, 16384UL, 24577UL})
      for (const std::size_t length : {0UL, 1UL, 5UL, 8UL, 13UL, 4096UL, 9000UL}) {
        const std::vector<std::byte> piece = filled(packet, offset, length);
        ASSERT_TRUE(std::equal(piece.begin(), piece.end(), whole.begin() + static_cast<std::ptrdiff_t>(offset)))
            << static_cast<int>(type) << ": " << offset << '+' << length;
      }
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(FileData(packet).at(8150 + i), whole[8150 + i]);
  }
}

// proves measuring: packet-verified
TEST(Packet, AWrongBitIsFoundWhereItIs) {
  for (const Type type : types) {
    const FileData data(shared(type));
    for (const std::size_t position : {0UL, 8UL, 4095UL, 4096UL, 8192UL, 20000UL, 20982UL}) {
      std::vector<std::byte> memory = filled(shared(type), 101, 20983);
      ASSERT_EQ(data.first_mismatch(memory, 101), std::nullopt);
      memory[position] ^= std::byte{4};
      EXPECT_EQ(data.first_mismatch(memory, 101), position);
      EXPECT_EQ(data.examine(memory, 101, FileData::Sum::digested, FileData::Then::keep).right_bytes, position);
    }
  }
}

TEST(Packet, AnExaminationDigestsAndSpoilsAllBytes) {
  for (const Type type : types) {
    std::vector<std::byte> memory = filled(shared(type), 8000, 30001);
    const std::uint64_t expected = digest(memory, 8000);
    const auto found = FileData(shared(type)).examine(memory, 8000, FileData::Sum::digested, FileData::Then::spoil);
    EXPECT_EQ(found.right_bytes, memory.size());
    EXPECT_EQ(found.digest, expected);
    EXPECT_EQ(memory, std::vector<std::byte>(30001, spoilt_byte));
  }
}

/// What is said of a read of two transfers of a file, in which bytes were replaced.
std::vector<Damage> causes_of(const Packet& packet, std::uint64_t offset, std::vector<std::byte> memory) {
  Examiner examiner({.packet = packet}, 4, 98304);
  examiner.examine(memory, {offset, 0, memory.size()});
  EXPECT_EQ(examiner.mismatches(), 1U);
  return examiner.first_mismatches().empty() ? std::vector<Damage>{} : examiner.first_mismatches()[0].causes;
}

TEST(Packet, AFlippedBitIsNamed) {
  for (const Type type : types) {
    std::vector<std::byte> memory = filled(shared(type), 16384, 16384);
    memory[5001] ^= std::byte{1};
    EXPECT_EQ(causes_of(shared(type), 16384, memory), (std::vector<Damage>{{Cause::flipped, 16384 + 5001, 1, 1}}));
  }
}

TEST(Packet, LostDataIsNamed) {
  for (const Type type : types) {
    std::vector<std::byte> memory = filled(shared(type), 16384, 16384);
    std::fill_n(memory.begin() + 4096, 4096, std::byte{0});
    const std::vector<Damage> causes = causes_of(shared(type), 16384, memory);
    ASSERT_EQ(causes.size(), 1U) << static_cast<int>(type);
    EXPECT_EQ(causes[0].cause, Cause::zero);
  }
}

// proves measuring: packet-misplaced, packet-value
TEST(Packet, ATransferInTheWrongPlaceShowsWhereItBelongs) {
  for (const Type type : {Type::offset, Type::incompressible}) {
    std::vector<std::byte> memory = filled(shared(type), 16384, 16384);
    const std::vector<std::byte> other = filled(shared(type), 65536 + 8192, 8192);
    std::copy(other.begin(), other.end(), memory.begin() + 8192);
    const std::vector<Damage> causes = causes_of(shared(type), 16384, memory);
    ASSERT_EQ(causes.size(), 1U) << static_cast<int>(type);
    EXPECT_EQ(causes[0].cause, Cause::misplaced);
    EXPECT_EQ(causes[0].value - static_cast<std::int64_t>(causes[0].file_offset), 73728 - 24576);
  }
}

// proves measuring: packet-misplaced
TEST(Packet, TheFileOfAnotherRankIsMisplaced) {
  for (const Type type : {Type::offset, Type::incompressible}) {
    const Packet mine{.type = type, .signature = 3, .transfer_bytes = 4096, .block_bytes = 8192, .first_rank = 1};
    Packet other = mine;
    other.first_rank = 2;
    const std::vector<Damage> causes = causes_of(mine, 4096, filled(other, 4096, 4096));
    ASSERT_EQ(causes.size(), 1U) << static_cast<int>(type);
    EXPECT_EQ(causes[0].cause, Cause::misplaced);
    EXPECT_EQ(causes[0].value, static_cast<std::int64_t>(causes[0].file_offset));
  }
}

// proves measuring: packet-no-stale, packet-foreign-1
TEST(Packet, DataWithAnotherSignatureIsOfAnotherRun) {
  for (const Type type : {Type::timestamp, Type::offset})
    for (const std::uint32_t signature : {1234570U, 5U, 0xfffffff0U}) {
      const std::vector<Damage> causes = causes_of(shared(type), 16384, filled(shared(type, signature), 16384, 16384));
      ASSERT_FALSE(causes.empty());
      EXPECT_EQ(causes[0].cause, Cause::foreign) << signature;
      EXPECT_EQ(causes[0].value, 1) << signature;
    }
}

/// IOR's words of this kind say neither offset nor signature.
// proves measuring: packet-no-stale, packet-foreign
TEST(Packet, WordsThatSayNothingOfTheirOriginAreForeign) {
  const std::vector<Damage> causes =
      causes_of(shared(Type::random), 16384, filled(shared(Type::random, 9), 16384, 16384));
  ASSERT_FALSE(causes.empty());
  EXPECT_EQ(causes[0].cause, Cause::foreign);
  EXPECT_EQ(causes[0].value, 0);
}

}  // namespace
}  // namespace strider
