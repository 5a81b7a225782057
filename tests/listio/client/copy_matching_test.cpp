#include "listio/client/copy_matching.hpp"

#include <gtest/gtest.h>

#include <random>

#include "listio/server/name_entry.hpp"

namespace strider::listio {
namespace {

constexpr LayoutWords layout{4, 3, 65536};
using Places = std::vector<std::optional<std::size_t>>;

constexpr FileId one = 0x1111222233334444, two = 0x5555666677778888;

std::string entry(FileId file) { return write_entry(file, layout); }

/// The entry with another letter at a place.
std::string entry(FileId file, std::size_t place, char letter) {
  std::string text = entry(file);
  text.at(place) = letter;
  return text;
}

TEST(CopyMatchingTest, ANumberThatIsStillLegibleCountsMoreThanPaths) {
  const std::vector<DamagedEntry> entries{{"moved/a", entry(one, 50, 'x')}, {"moved/b", entry(two, 25, '0')}};
  const std::vector<UnnamedCopy> copies{{two, "moved/a"}, {one, "before/a"}};
  EXPECT_EQ(match_copies(entries, copies), (Places{1, 0}));
}

TEST(CopyMatchingTest, WithoutANumberThePathCountsAndThenTheName) {
  const std::vector<DamagedEntry> entries{{"moved/a", ""}, {"b", std::string(80, '\0')}, {"c", "short"}};
  const std::vector<UnnamedCopy> copies{{one, "b"}, {two, "before/a"}};
  EXPECT_EQ(match_copies(entries, copies), (Places{1, 0, {}}));
}

TEST(CopyMatchingTest, NothingIsGuessed) {
  // Two entries, or two copies, of which each could be the other's.
  EXPECT_EQ(match_copies(std::vector<DamagedEntry>{{"x/a", ""}, {"y/a", ""}}, std::vector<UnnamedCopy>{{one, "z/a"}}),
            (Places{{}, {}}));
  EXPECT_EQ(match_copies(std::vector<DamagedEntry>{{"a", ""}}, std::vector<UnnamedCopy>{{one, "a"}, {two, "a"}}),
            (Places{{}}));
  EXPECT_EQ(match_copies(std::vector<DamagedEntry>{{"a", entry(one, 60, 'x')}, {"b", entry(one, 61, 'x')}},
                         std::vector<UnnamedCopy>{{one, "a"}}),
            (Places{{}, {}}));
  // A legible number that no copy has is that of another file, unless the path is that of a copy.
  const std::vector<DamagedEntry> other{{"x/a", entry(two, 60, 'x')}};
  EXPECT_EQ(match_copies(other, std::vector<UnnamedCopy>{{one, "a"}}), (Places{{}}));
  EXPECT_EQ(match_copies(other, std::vector<UnnamedCopy>{{one, "x/a"}}), (Places{0}));
  EXPECT_EQ(match_copies({}, std::vector<UnnamedCopy>{{one, "a"}}), Places{});
  EXPECT_EQ(match_copies(std::vector<DamagedEntry>{{"a", ""}}, {}), (Places{{}}));
}

TEST(CopyMatchingTest, EveryEntryWithAChangedByteFindsItsCopyAmongMany) {
  std::mt19937_64 random(3);
  std::vector<DamagedEntry> entries;
  std::vector<UnnamedCopy> copies;
  const std::size_t length = entry(one).size();
  for (std::size_t i = 0; i < 3000; ++i) {
    const FileId file = random() | 1;
    copies.push_back({file, "same"});
    const std::size_t place = random() % length;
    std::string text = entry(file);
    text[place] = static_cast<char>(text[place] ^ (1U << random() % 8));
    entries.push_back({"same", text});
  }
  const Places places = match_copies(entries, copies);
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(places[i], i);
}

}  // namespace
}  // namespace strider::listio
