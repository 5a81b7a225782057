#include "foundation/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace strider {
namespace {

TEST(Text, OfAllScriptsIsAllowed) {
  EXPECT_EQ(forbidden_character(""), "");
  EXPECT_EQ(forbidden_character("plain ~!@#$%^&*(){}"), "");
  EXPECT_EQ(forbidden_character("Größe, размер, 大きさ, حجم, 🚀"), "");
}

TEST(Text, WhatEndsOrHidesANameIsForbidden) {
  using namespace std::string_literals;
  const std::pair<std::string, std::string> cases[] = {
      {"/any/file\0"s, "U+0000"}, {"a\nb", "U+000A"},     {"a\tb", "U+0009"},      {"\x1b[2J", "U+001B"},
      {"\x7f", "U+007F"},         {"\u0085", "U+0085"},   {"\u009b31m", "U+009B"}, {"a\u202egpj.exe", "U+202E"},
      {"\u2066", "U+2066"},       {"x\u2028y", "U+2028"}, {"x\u2029y", "U+2029"},  {"\u200f", "U+200F"},
      {"\u061c", "U+061C"},
  };
  for (const auto& [text, name] : cases) EXPECT_EQ(forbidden_character(text), name);
}

TEST(Text, WhatIsNoUtf8IsForbidden) {
  for (const char* bytes : {"\xff", "\xc0\x80", "a\xc3", "\x80", "\xe2\x82", "\xf5\x80\x80\x80"})
    EXPECT_NE(forbidden_character(bytes), "") << bytes;
  EXPECT_EQ(forbidden_character("\xed\xa0\x80"), "U+D800");
}

TEST(Text, LongOnesAreCutBetweenCharacters) {
  EXPECT_EQ(in_quotes("short"), "\"short\"");
  std::string text(79, 'a');
  text += "öö";
  EXPECT_EQ(in_quotes(text), '"' + std::string(79, 'a') + "…\" (83 bytes)");
}

}  // namespace
}  // namespace strider
