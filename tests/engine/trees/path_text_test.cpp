#include "trees/path_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace strider {
namespace {

/// Checks the terminating zero as well.
void expect(const PathText& path, const std::string& text) {
  EXPECT_EQ(path.view(), text);
  EXPECT_EQ(path.size(), text.size());
  EXPECT_STREQ(path.c_str(), text.c_str());
}

TEST(PathText, BeginsEmpty) { expect(PathText{}, ""); }

TEST(PathText, GrowsByTextLettersAndNumbers) {
  PathText path;
  path.append("top");
  path.append('/');
  path.append_number(0);
  path.append('.');
  path.append_number(~std::uint64_t{0});
  expect(path, "top/0.18446744073709551615");
}

TEST(PathText, GoesBackToAnEarlierLength) {
  PathText path;
  path.append("top/file");
  path.cut(3);
  expect(path, "top");
  path.append("/f");
  expect(path, "top/f");
}

TEST(PathText, IsFilledUpToALengthAndNeverShortened) {
  PathText path;
  path.append("f1.2");
  path.fill_up(7, 'x');
  expect(path, "f1.2xxx");
  path.fill_up(7, 'x');
  path.fill_up(3, 'x');
  expect(path, "f1.2xxx");
}

TEST(PathText, HoldsAsMuchAsAPathMay) {
  PathText path;
  path.append(std::string(4000, 'a'));
  path.fill_up(4095, 'b');
  EXPECT_EQ(path.size(), 4095U);
  EXPECT_EQ(path.c_str()[4095], '\0');
}

TEST(PathText, RefusesMoreAndStaysAsItWas) {
  const std::string longest(4095, 'a');
  PathText path;
  path.append(longest);
  EXPECT_THROW(path.append('b'), std::length_error);
  EXPECT_THROW(path.append("b"), std::length_error);
  EXPECT_THROW(path.append_number(1), std::length_error);
  EXPECT_THROW(path.fill_up(4096, 'b'), std::length_error);
  expect(path, longest);
  path.cut(1);
  EXPECT_THROW(path.append(longest), std::length_error);
  expect(path, "a");
}

}  // namespace
}  // namespace strider
