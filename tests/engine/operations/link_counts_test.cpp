#include "operations/link_counts.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace strider {
namespace {

/// What is found to be wrong of files 0, 1, … with these numbers of links, of which 2 is right.
std::vector<std::string> wrong_of(const std::vector<std::uint64_t>& numbers) {
  LinkCounts counts;
  std::vector<std::string> wrong;
  for (std::size_t file = 0; file < numbers.size(); ++file)
    counts.look(std::to_string(file).c_str(), numbers[file], 2, [&](const LinkCounts::Wrong& found) {
      wrong.push_back(found.file + ": " + std::to_string(found.found) + " of " + std::to_string(found.expected));
    });
  return wrong;
}

using Words = std::vector<std::string>;

TEST(LinkCounts, ASystemThatSaysZeroForEveryFileCountsNone) { EXPECT_EQ(wrong_of({0, 0, 0}), Words{}); }

TEST(LinkCounts, AnotherNumberIsWrong) { EXPECT_EQ(wrong_of({2, 1, 2, 3}), (Words{"1: 1 of 2", "3: 3 of 2"})); }

TEST(LinkCounts, AZeroIsWrongWhereOtherFilesHaveANumber) {
  EXPECT_EQ(wrong_of({2, 0, 2, 0}), (Words{"1: 0 of 2", "3: 0 of 2"}));
}

TEST(LinkCounts, AZeroIsWrongWhereOnlyLaterFilesHaveANumber) {
  EXPECT_EQ(wrong_of({0, 0, 2}), (Words{"0: 0 of 2"}));
  EXPECT_EQ(wrong_of({0, 1}), (Words{"0: 0 of 2", "1: 1 of 2"}));
}

}  // namespace
}  // namespace strider
