#include "listio/registration/grouping.hpp"

#include <gtest/gtest.h>

namespace strider::listio {
namespace {

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

Range pages(std::uint64_t first, std::uint64_t count) { return {first * page_bytes(), (first + count) * page_bytes()}; }

TEST(SortedPages, AreWholeAndInOrder) {
  const std::vector<Range> pieces{
      {page_bytes() * 7 + 5, page_bytes() * 7 + 6}, {10, 10}, {page_bytes() - 1, page_bytes() + 1}};
  EXPECT_EQ(sorted_pages(pieces), (std::vector<Range>{pages(0, 2), pages(7, 1)}));
}

TEST(CoveredPages, CountEachPageOnce) {
  EXPECT_EQ(covered_pages(std::vector<Range>{pages(0, 5), pages(1, 2), pages(4, 3), pages(9, 1)}), 8);
}

// proves listio: ogr
TEST(Grouping, MergesOverHolesThatAreWorthIt) {
  const std::vector<Range> sorted{pages(0, 1), pages(3, 1), pages(7, 1)};
  EXPECT_EQ(group(sorted, 2, no_limit), (std::vector<Group>{{pages(0, 4), 0, 2}, {pages(7, 1), 2, 3}}));
  EXPECT_EQ(group(sorted, 3, no_limit), (std::vector<Group>{{pages(0, 8), 0, 3}}));
  EXPECT_EQ(group(sorted, 1, no_limit).size(), 3);
}

TEST(Grouping, MergesPiecesThatShareAPageOrTouch) {
  const std::vector<Range> sorted{pages(0, 4), pages(1, 1), pages(3, 2), pages(5, 1)};
  EXPECT_EQ(group(sorted, 0, no_limit), (std::vector<Group>{{pages(0, 6), 0, 4}}));
}

TEST(Grouping, KeepsToTheLongestRegion) {
  const std::vector<Range> sorted{pages(0, 2), pages(2, 2), pages(4, 9)};
  EXPECT_EQ(group(sorted, 0, 4 * page_bytes()), (std::vector<Group>{{pages(0, 4), 0, 2}, {pages(4, 9), 2, 3}}));
}

// proves listio: ogr-on-fault, ogr-wrong-answer
TEST(CutHoles, LeavesTheSpanOfThePiecesInEachPart) {
  const std::vector<Range> sorted{pages(1, 1), pages(3, 1), pages(6, 1)};
  const auto cut = cut_holes(sorted, {pages(1, 6), 0, 3}, std::vector<Range>{pages(0, 5), pages(6, 10)});
  EXPECT_TRUE(cut.complete);
  EXPECT_EQ(cut.groups, (std::vector<Group>{{pages(1, 3), 0, 2}, {pages(6, 1), 2, 3}}));
}

TEST(CutHoles, APartWithoutPiecesIsNoGroup) {
  const std::vector<Range> sorted{pages(1, 1), pages(8, 1)};
  const auto cut = cut_holes(sorted, {pages(1, 8), 0, 2}, std::vector<Range>{pages(0, 2), pages(4, 1), pages(7, 3)});
  EXPECT_TRUE(cut.complete);
  EXPECT_EQ(cut.groups, (std::vector<Group>{{pages(1, 1), 0, 1}, {pages(8, 1), 1, 2}}));
}

TEST(CutHoles, NamesThePieceThatIsNotThere) {
  const std::vector<Range> sorted{pages(1, 1), pages(3, 2), pages(6, 1)};
  const Group whole{pages(1, 6), 0, 3};
  EXPECT_EQ(cut_holes(sorted, whole, std::vector<Range>{pages(0, 4), pages(5, 5)}).missing, 1) << "half of it is";
  EXPECT_EQ(cut_holes(sorted, whole, std::vector<Range>{pages(0, 5)}).missing, 2);
  EXPECT_EQ(cut_holes(sorted, whole, std::vector<Range>{}).missing, 0);
  EXPECT_FALSE(cut_holes(sorted, whole, std::vector<Range>{}).complete);
}

}  // namespace
}  // namespace strider::listio
