#include "listio/server/name_entry.hpp"

#include <gtest/gtest.h>

#include <random>

#include "foundation/crc32c.hpp"
#include "listio/layout/byte_run.hpp"

namespace strider::listio {
namespace {

constexpr FileId named_file = 0x0123456789abcdef;
constexpr LayoutWords entry_layout{4, 3, 65536};

/// Why a text is no entry of a volume of 4 servers; empty if it is one.
std::string fault(const std::string& text) {
  const auto parsed = parse_entry(text, 4);
  const auto* const malformed = std::get_if<Malformed>(&parsed);
  return malformed == nullptr ? "" : malformed->reason;
}

/// An entry whose checksum is right, with any content.
std::string sealed(const std::string& words) {
  std::array<char, 32> sum{};
  const std::string text = "strider-listio-file 2 " + words + " ";
  std::snprintf(sum.data(), sum.size(), "crc32c %08x\n", crc32c(std::as_bytes(std::span(text))));
  return text + sum.data();
}

TEST(NameEntryTest, ComesBackAsItWasWritten) {
  for (const LayoutWords& each : {entry_layout, LayoutWords{1, 0, 1}, LayoutWords{4, 0, most_file_bytes}}) {
    const std::string text = write_entry(named_file, each);
    EXPECT_LE(text.size(), most_entry_bytes);
    const auto parsed = parse_entry(text, 4);
    ASSERT_TRUE(std::holds_alternative<NameEntry>(parsed)) << text;
    EXPECT_EQ(std::get<NameEntry>(parsed).file, named_file);
    EXPECT_EQ(std::get<NameEntry>(parsed).layout, each);
    EXPECT_TRUE(std::get<NameEntry>(parsed).has_checksum);
  }
}

// proves listio: old-entries
TEST(NameEntryTest, OfAnOlderReleaseIsRead) {
  const auto parsed = parse_entry("strider-listio-file 1 0123456789abcdef servers 4 first 3 strip 65536\n", 4);
  ASSERT_TRUE(std::holds_alternative<NameEntry>(parsed));
  EXPECT_EQ(std::get<NameEntry>(parsed).file, named_file);
  EXPECT_EQ(std::get<NameEntry>(parsed).layout, entry_layout);
  EXPECT_FALSE(std::get<NameEntry>(parsed).has_checksum);
}

// proves listio: names-folder
TEST(NameEntryTest, EveryChangeOfAByteIsFound) {
  const std::string whole = write_entry(named_file, entry_layout);
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[place] = static_cast<char>(value);
      EXPECT_EQ(fault(changed).empty(), changed == whole) << "byte " << place << " is " << value;
    }
  }
}

TEST(NameEntryTest, EveryOtherLengthIsFound) {
  const std::string whole = write_entry(named_file, entry_layout);
  for (std::size_t length = 0; length < whole.size(); ++length) EXPECT_NE(fault(whole.substr(0, length)), "") << length;
  EXPECT_NE(fault(whole + "\n"), "");
  EXPECT_NE(fault(whole + whole), "");
  EXPECT_NE(fault(std::string(10, '\0') + whole), "");
}

TEST(NameEntryTest, SurvivesAnyBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % (most_entry_bytes + 2), '\0');
    for (char& each : bytes) each = static_cast<char>(random());
    EXPECT_NE(fault(bytes), "");
    // And beginnings of an entry that continue in any way.
    for (const std::string& whole :
         {write_entry(named_file, entry_layout), write_old_entry(named_file, entry_layout)}) {
      std::string begun = whole;
      for (std::size_t place = random() % whole.size(); place < whole.size(); ++place)
        begun[place] = static_cast<char>(random());
      (void)parse_entry(begun, 4);
    }
  }
}

// proves listio: old-entries
TEST(NameEntryTest, FieldsAreBounded) {
  EXPECT_EQ(fault(sealed("0123456789abcdef servers 4 first 3 strip 65536")), "");
  EXPECT_EQ(fault(sealed("0000000000000000 servers 4 first 3 strip 65536")), "its file number is 0");
  EXPECT_EQ(fault(sealed("0123456789abcdef servers 0 first 0 strip 65536")),
            "it names 0 servers, and the volume has 4");
  EXPECT_EQ(fault(sealed("0123456789abcdef servers 4000000000 first 3 strip 65536")),
            "it names 4000000000 servers, and the volume has 4");
  EXPECT_EQ(fault(sealed("0123456789abcdef servers 4 first 4 strip 65536")), "its first server is 4 of 4");
  EXPECT_EQ(fault(sealed("0123456789abcdef servers 4 first 3 strip 0")), "its strips have 0 bytes");
  EXPECT_EQ(fault(sealed("0123456789abcdef servers 4 first 3 strip 9223372036854775808")),
            "its strips have 9223372036854775808 bytes");
  // Numbers are written in one way alone.
  for (const char* other :
       {"0123456789ABCDEF servers 4 first 3 strip 65536", "123456789abcdef servers 4 first 3 strip 65536",
        "0123456789abcdef servers 04 first 3 strip 65536",
        "0123456789abcdef servers 4 first 3 strip 99999999999999999999",
        "0123456789abcdef servers -4 first 3 strip 65536", "0123456789abcdef servers 4 first 3 strip 65536 and more"})
    EXPECT_NE(fault(sealed(other)), "") << other;
  EXPECT_NE(fault("strider-listio-file 1 0123456789abcdef servers 4000000000 first 3 strip 65536\n"), "");
}

TEST(EntryCopyTest, ComesBackAsItWasWritten) {
  for (const std::string& path :
       {std::string("a"), std::string("a/b c\n\xff crc32c 01234567"), std::string(255, 'x')}) {
    const EntryCopy copy{named_file, entry_layout, path};
    const auto parsed = parse_copy(write_copy(copy), 4);
    ASSERT_TRUE(std::holds_alternative<EntryCopy>(parsed)) << path;
    EXPECT_EQ(std::get<EntryCopy>(parsed).file, named_file);
    EXPECT_EQ(std::get<EntryCopy>(parsed).layout, entry_layout);
    EXPECT_EQ(std::get<EntryCopy>(parsed).path, path);
  }
}

TEST(EntryCopyTest, EveryChangeOfAByteAndOfTheLengthIsFound) {
  const std::string whole = write_copy({named_file, entry_layout, "a/b"});
  for (std::size_t place = 0; place < whole.size(); ++place) {
    EXPECT_TRUE(std::holds_alternative<Malformed>(parse_copy(whole.substr(0, place), 4))) << place;
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[place] = static_cast<char>(value);
      EXPECT_EQ(std::holds_alternative<EntryCopy>(parse_copy(changed, 4)), changed == whole) << place << " " << value;
    }
  }
  EXPECT_TRUE(std::holds_alternative<Malformed>(parse_copy(whole, 3))) << "the volume has fewer servers";
  EXPECT_TRUE(std::holds_alternative<Malformed>(parse_copy(write_copy({named_file, entry_layout, "../a"}), 4)));
}

}  // namespace
}  // namespace strider::listio
