#include "foundation/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>

#include "foundation/error.hpp"
#include "foundation/folder.hpp"

namespace strider {
namespace {

bool is_open(int number) { return ::fcntl(number, F_GETFD) != -1; }
Descriptor null_device() { return Descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC)); }

TEST(DescriptorTest, ClosesItself) {
  int number = -1;
  {
    const Descriptor descriptor = null_device();
    number = descriptor.get();
    ASSERT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(DescriptorTest, HasOneOwner) {
  Descriptor first = null_device();
  const int number = first.get();
  Descriptor second(std::move(first));
  EXPECT_FALSE(first);
  EXPECT_EQ(second.get(), number);
  second = null_device();
  EXPECT_FALSE(is_open(number)) << "the one that was there before is closed";
}

TEST(DescriptorTest, IsClosedOnce) {
  Descriptor descriptor = null_device();
  EXPECT_EQ(descriptor.close(), 0);
  EXPECT_FALSE(descriptor);
  EXPECT_EQ(descriptor.close(), 0);
}

TEST(OpenFileTest, NamesTheFileThatCannotBeOpened) {
  try {
    OpenFile(Descriptor(::open("/dev/null/none", O_RDONLY)), "/dev/null/none");
    FAIL() << "it was opened";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().call, "open");
    EXPECT_EQ(error.details().file, "/dev/null/none");
    EXPECT_EQ(error.details().error_number, ENOTDIR);
  }
}

TEST(OpenFileTest, KnowsItsSizeAndSyncs) {
  const Folder folder;
  const std::string path = folder.file("file");
  OpenFile file(Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)), path);
  ASSERT_EQ(::ftruncate(file.get(), 12345), 0);
  EXPECT_EQ(file.size(), 12345U);
  EXPECT_NO_THROW(file.sync());
  EXPECT_NO_THROW(file.close());
}

TEST(OpenFileTest, SaysWhatCannotBeSynced) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor other(ends[1]);
  const OpenFile pipe(Descriptor(ends[0]), "pipe");
  EXPECT_THROW(pipe.sync(), IoError);
}

}  // namespace
}  // namespace strider
