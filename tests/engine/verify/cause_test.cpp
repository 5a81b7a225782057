#include "verify/cause.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace strider {
namespace {

TEST(Cause, HasTheNamesOfTheFormat) {
  EXPECT_EQ(name_of(Cause::missing_end), "missing end");
  EXPECT_EQ(name_of(Cause::outside), "outside");
  EXPECT_EQ(name_of(Cause::hole), "hole");
  EXPECT_EQ(name_of(Cause::unread), "unread");
  EXPECT_EQ(name_of(Cause::zero), "zero");
  EXPECT_EQ(name_of(Cause::stale), "stale");
  EXPECT_EQ(name_of(Cause::torn), "torn");
  EXPECT_EQ(name_of(Cause::misplaced), "misplaced");
  EXPECT_EQ(name_of(Cause::shifted), "shifted");
  EXPECT_EQ(name_of(Cause::byte_order), "byte order");
  EXPECT_EQ(name_of(Cause::flipped), "flipped");
  EXPECT_EQ(name_of(Cause::foreign), "foreign");
}

TEST(Cause, IsSaidInWordsWithItsNumber) {
  EXPECT_EQ(text_of({Cause::shifted, 0, 8, 1}), "data shifted by +1 byte");
  EXPECT_EQ(text_of({Cause::shifted, 0, 8, -4}), "data shifted by -4 bytes");
  EXPECT_EQ(text_of({Cause::flipped, 0, 1, 1}), "1 flipped bit");
  EXPECT_EQ(text_of({Cause::flipped, 0, 2, 3}), "3 flipped bits");
  EXPECT_EQ(text_of({Cause::byte_order, 0, 8, 4}), "byte-swapped data (words of 4 bytes)");
  EXPECT_EQ(text_of({Cause::misplaced, 0, 8, 4096}), "misplaced data (belongs to offset 4096)");
  EXPECT_EQ(text_of({Cause::stale, 0, 8, 1}), "stale data (1 write old)");
  EXPECT_EQ(text_of({Cause::torn, 0, 8, -2}), "torn data (a part is 2 repetitions old)");
  EXPECT_EQ(text_of({Cause::foreign, 0, 8, 0}), "foreign data");
  EXPECT_EQ(text_of({Cause::foreign, 0, 8, 1}), "foreign data (of another run or case)");
}

TEST(Cause, EachHasWordsOfItsOwn) {
  std::set<std::string> texts;
  for (int cause = 0; cause <= static_cast<int>(Cause::foreign); ++cause)
    texts.insert(text_of({static_cast<Cause>(cause), 0, 1, 2}));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(Cause::foreign) + 1);
}

}  // namespace
}  // namespace strider
