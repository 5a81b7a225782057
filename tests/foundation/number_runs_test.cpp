#include "foundation/number_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "foundation/random.hpp"

namespace strider {
namespace {

using Numbers = std::vector<std::uint32_t>;

/// Lists of blocks, turns, steps back and without order.
std::vector<Numbers> lists() {
  std::vector<Numbers> all{{}, {7}, {7, 7}, {0, 5}, {5, 0}, {0, 1, 1, 1, 2, 2}, {3, 2, 1, 0}, {0, 4, 8, 1, 5, 9}};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Numbers list;
    for (std::uint64_t i = 0; i < seed % 40; ++i) {
      const std::uint64_t random = hash_numbers(seed, i);
      const bool goes_on = random % 3 > 0 && list.size() > 1;
      const std::uint32_t like_before = goes_on ? 2 * list.back() - list[list.size() - 2] : 0;
      list.push_back(goes_on && like_before < 1000 ? like_before : static_cast<std::uint32_t>(random % 11));
    }
    all.push_back(list);
  }
  return all;
}

TEST(NumberRuns, HaveTheNumbersOfTheList) {
  for (const Numbers& list : lists()) {
    const NumberRuns runs = list;
    ASSERT_EQ(runs.all(), list);
    ASSERT_EQ(runs.size(), list.size());
    for (std::size_t i = 0; i < list.size(); ++i) ASSERT_EQ(runs[i], list[i]) << i;
  }
}

TEST(NumberRuns, FindTheFirstPlaceOfANumber) {
  for (const Numbers& list : lists())
    for (std::uint32_t number = 0; number < 40; ++number) {
      const auto place = std::ranges::find(list, number);
      const auto found = NumberRuns(list).find(number);
      ASSERT_EQ(found.has_value(), place != list.end());
      if (found) {
        ASSERT_EQ(static_cast<std::ptrdiff_t>(*found), place - list.begin());
      }
    }
}

TEST(NumberRuns, HaveAllPlacesOfANumberAndTheFirstOfEach) {
  for (const Numbers& list : lists()) {
    Numbers firsts;
    for (std::uint32_t place = 0; place < list.size(); ++place)
      if (std::ranges::find(list, list[place]) - list.begin() == place) firsts.push_back(place);
    ASSERT_EQ(NumberRuns(list).first_places().all(), firsts);
    for (std::uint32_t number = 0; number < 40; ++number) {
      Numbers places;
      for (std::uint32_t place = 0; place < list.size(); ++place)
        if (list[place] == number) places.push_back(place);
      ASSERT_EQ(NumberRuns(list).places_of(number).all(), places);
    }
  }
}

TEST(NumberRuns, OfTheHeadAreThoseOfTheListsHead) {
  for (const Numbers& list : lists())
    for (std::size_t count = 0; count <= list.size(); ++count) {
      const Numbers head(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count));
      ASSERT_EQ(NumberRuns(list).head(count), NumberRuns(head)) << "equal lists are equal";
    }
}

TEST(NumberRuns, AppendedAreThoseOfBothLists) {
  const std::vector<Numbers> all = lists();
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    NumberRuns joined = all[i];
    joined.append(all[i + 1]);
    Numbers expected = all[i];
    expected.insert(expected.end(), all[i + 1].begin(), all[i + 1].end());
    ASSERT_EQ(joined, NumberRuns(expected));
  }
}

TEST(NumberRuns, AtPlacesAreThoseOfTheList) {
  for (const Numbers& list : lists()) {
    Numbers places, expected;
    for (std::uint64_t i = 0; i < 3 * list.size(); ++i) {
      const std::uint64_t random = hash_numbers(list.size(), i);
      places.push_back(static_cast<std::uint32_t>(i % 3 > 0 ? i / 3 : random % list.size()));
      expected.push_back(list[places.back()]);
    }
    ASSERT_EQ(NumberRuns(list).at(places).all(), expected);
  }
}

TEST(NumberRuns, OfRanksInBlocksAndInTurnsNeedMemoryForEachNode) {
  constexpr std::uint32_t nodes = 100, width = 64;
  NumberRuns blocks, turns;
  for (std::uint32_t rank = 0; rank < nodes * width; ++rank) {
    blocks.push_back(rank / width);
    turns.push_back(rank % nodes);
  }
  EXPECT_EQ(blocks.runs().size(), nodes);
  EXPECT_EQ(turns.runs().size(), width);
  EXPECT_EQ(NumberRuns::consecutive(5, 1000).all().back(), 1004);
  EXPECT_EQ(NumberRuns::consecutive(5, 1), NumberRuns{5});
  EXPECT_EQ(NumberRuns::equal(5, 3), (NumberRuns{5, 5, 5}));
}

}  // namespace
}  // namespace strider
