#include "foundation/regular_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "foundation/folder.hpp"

namespace strider {
namespace {

class RegularFile : public testing::Test {
 protected:
  /// Why a path is not read; empty if it is.
  static std::string refusal(const std::string& path, std::uint64_t most = 100) {
    try {
      read_regular(path, most);
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }
  Folder folder_;
};

TEST_F(RegularFile, IsReadWhole) {
  const std::string file = folder_.file("list");
  std::ofstream(file) << "some\nlines\n";
  EXPECT_EQ(read_regular(file, 100), "some\nlines\n");
  EXPECT_EQ(irregularity_of(file, 100), "");
}

TEST_F(RegularFile, IsNotReadBeyondALimit) {
  const std::string file = folder_.file("large");
  std::ofstream(file) << "0123456789a";
  EXPECT_EQ(refusal(file, 11), "");
  EXPECT_EQ(refusal(file, 10), "has 11 bytes, but at most 10 are allowed");
}

// Each would wait without an end, or read without one.
TEST_F(RegularFile, WhatIsNoneIsRefusedAtOnce) {
  const std::string fifo = folder_.file("fifo"), link = folder_.file("link");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(::symlink("/dev/zero", link.c_str()), 0);
  EXPECT_EQ(refusal(fifo), "is a FIFO");
  EXPECT_EQ(refusal("/dev/zero"), "is a device");
  EXPECT_EQ(refusal(link), "is a device");
  EXPECT_EQ(refusal(testing::TempDir()), "is a directory");
  EXPECT_EQ(irregularity_of(fifo, 1), "is a FIFO");
  EXPECT_EQ(refusal(folder_.file("absent")), "cannot be read: No such file or directory");
}

TEST_F(RegularFile, OfTheKernelHasNoContents) { EXPECT_EQ(read_regular("/proc/self/status", 100), ""); }

}  // namespace
}  // namespace strider
