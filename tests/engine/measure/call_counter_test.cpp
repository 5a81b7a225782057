#include "measure/call_counter.hpp"

#include <gtest/gtest.h>
#include <sys/uio.h>

#include <array>
#include <cstdio>

namespace strider {
namespace {

/// A file that is gone with the test.
class CallCounterTest : public testing::Test {
 protected:
  CallCounterTest() : file_(std::tmpfile()), descriptor_(::fileno(file_)) {}
  ~CallCounterTest() override { std::fclose(file_); }

  void write() {
    EXPECT_EQ(::pwrite(descriptor_, bytes_.data(), bytes_.size(), 0), static_cast<ssize_t>(bytes_.size()));
  }
  void read() { EXPECT_EQ(::pread(descriptor_, bytes_.data(), bytes_.size(), 0), static_cast<ssize_t>(bytes_.size())); }

  std::FILE* file_;
  int descriptor_;
  std::array<char, 100> bytes_{};
};

// proves measuring: call-counts, not-counted
TEST_F(CallCounterTest, CountsNeitherTooManyNorTooFew) {
  CallCounter counter;
  const auto before = counter.now();
  ASSERT_EQ(before.has_value(), ::access("/proc/self/io", R_OK) == 0);
  if (!before) return;
  for (int i = 0; i < 7; ++i) write();
  for (int i = 0; i < 5; ++i) read();
  const CallCount made = *counter.now() - *before;
  EXPECT_EQ(made.read, 5);
  EXPECT_EQ(made.write, 7);
  EXPECT_EQ(made.read_bytes, 5 * bytes_.size());
  EXPECT_EQ(made.write_bytes, 7 * bytes_.size());
}

// proves measuring: own-calls
TEST_F(CallCounterTest, ItsOwnReadingsAreNoCalls) {
  write();
  CallCounter counter;
  const auto before = counter.now();
  if (!before) return;
  for (int i = 0; i < 10; ++i) counter.now();
  read();
  for (int i = 0; i < 10; ++i) counter.now();
  const CallCount made = *counter.now() - *before;
  EXPECT_EQ(made.read, 1);
  EXPECT_EQ(made.read_bytes, bytes_.size());
}

TEST_F(CallCounterTest, AVectorOfPiecesIsOneCall) {
  CallCounter counter;
  const auto before = counter.now();
  if (!before) return;
  const std::array<iovec, 2> pieces{iovec{bytes_.data(), 10}, iovec{bytes_.data() + 50, 20}};
  EXPECT_EQ(::pwritev(descriptor_, pieces.data(), pieces.size(), 0), 30);
  EXPECT_EQ((*counter.now() - *before).write, 1);
}

}  // namespace
}  // namespace strider
