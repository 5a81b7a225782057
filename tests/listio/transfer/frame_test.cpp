#include "listio/transfer/frame.hpp"

#include <gtest/gtest.h>

namespace strider::listio {
namespace {

constexpr std::size_t version_at = 8;

TEST(GreetingTest, ComesBackAsItWasWritten) {
  const Greeting greeting{"cma", 17, 0x1000, 99, {std::byte{1}, std::byte{2}}};
  std::string refusal;
  const std::optional<Greeting> read = read_greeting(write_greeting(greeting), refusal);
  ASSERT_TRUE(read) << refusal;
  EXPECT_EQ(read->transport, "cma");
  EXPECT_EQ(read->process, 17);
  EXPECT_EQ(read->probe_address, 0x1000);
  EXPECT_EQ(read->probe, 99);
  EXPECT_EQ(read->extension, greeting.extension);
}

TEST(GreetingTest, AnotherVersionIsRefusedWithBothAndTheRemedy) {
  for (const int version : {1, 2, 4}) {
    std::vector<std::byte> bytes = write_greeting({.transport = "tcp", .extension = {}});
    bytes[version_at] = static_cast<std::byte>(version);
    std::string refusal;
    EXPECT_FALSE(read_greeting(bytes, refusal));
    EXPECT_EQ(refusal, "speaks version " + std::to_string(version) +
                           " of the transport, but this side version 3; use the same release of Strider on both sides");
  }
}

// Otherwise a peer of another version would not even find out that it is one.
TEST(GreetingTest, ItsFrameIsTheSameInEveryVersion) {
  const FrameHead head = write_head({.kind = Frame::Kind::greeting, .length = 300});
  constexpr std::array<unsigned char, Frame::head_bytes> expected{1, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,
                                                                  0, 0, 0, 0, 44, 1, 0, 0, 0, 0, 0, 0};
  for (std::size_t i = 0; i < head.size(); ++i) EXPECT_EQ(std::to_integer<unsigned char>(head[i]), expected[i]) << i;
}

TEST(FrameTest, OnlyDataArePaddedAndNotByMuch) {
  const auto is_read = [](const Frame& frame) { return read_head(write_head(frame)).has_value(); };
  EXPECT_TRUE(is_read({.kind = Frame::Kind::put, .length = 8, .padding = Frame::most_padding}));
  EXPECT_FALSE(is_read({.kind = Frame::Kind::put, .length = 8, .padding = Frame::most_padding + 1}));
  EXPECT_FALSE(is_read({.kind = Frame::Kind::message, .length = 8, .padding = 1}));
}

}  // namespace
}  // namespace strider::listio
