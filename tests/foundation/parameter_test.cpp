#include "foundation/parameter.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace strider {
namespace {

TEST(Settings, GiveBackWhatWasSet) {
  Settings settings;
  settings.set("transfer", std::uint64_t{4096});
  settings.set("direct", true);
  settings.set("deadline", 2.5);
  settings.set("access", std::string("collective"));
  settings.set("hints", TextMap{{"key", "value"}});
  EXPECT_EQ(settings.number("transfer"), 4096U);
  EXPECT_TRUE(settings.flag("direct"));
  EXPECT_EQ(settings.seconds("deadline"), 2.5);
  EXPECT_EQ(settings.text("access"), "collective");
  EXPECT_EQ(settings.map("hints").at("key"), "value");
}

TEST(Settings, ANumberThatIsNotSetHasAStandIn) {
  Settings settings;
  settings.set("block", Value{});
  EXPECT_FALSE(settings.has("block"));
  EXPECT_EQ(settings.number_or("block", 7), 7U);
  EXPECT_EQ(settings.number_or("never named", 8), 8U);
}

TEST(Settings, AskingForWhatIsNotThereIsAProgrammersMistake) {
  Settings settings;
  settings.set("transfer", std::uint64_t{1});
  EXPECT_THROW(settings.number("size"), std::logic_error);
  EXPECT_THROW(settings.flag("transfer"), std::logic_error);
}

TEST(Choices, AreSplitAtBars) {
  EXPECT_EQ(split_choices("none|end|each"), (std::vector<std::string_view>{"none", "end", "each"}));
  EXPECT_EQ(split_choices("one"), (std::vector<std::string_view>{"one"}));
  EXPECT_TRUE(split_choices("").empty());
}

TEST(Kinds, HaveTheNamesOfTheFormat) {
  EXPECT_EQ(name_of(Kind::bytes), "bytes");
  EXPECT_EQ(name_of(Kind::sharing), "sharing");
  EXPECT_EQ(name_of(Kind::repetitions), "repetitions");
}

}  // namespace
}  // namespace strider
