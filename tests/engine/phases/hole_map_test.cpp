#include "phases/hole_map.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "foundation/folder.hpp"

namespace strider {
namespace {

constexpr std::uint64_t data_begin = 1 << 20, data_bytes = 4096, file_bytes = 2 << 20;
constexpr Capabilities by_kernel{.storage = Storage::kept};

/// A hole, a page of data, a hole.
class HoleMapTest : public testing::Test {
 protected:
  void SetUp() override {
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
    const std::string data(data_bytes, 'x');
    EXPECT_EQ(::ftruncate(file.get(), file_bytes), 0);
    EXPECT_EQ(::pwrite(file.get(), data.data(), data.size(), data_begin), static_cast<ssize_t>(data_bytes));
    EXPECT_EQ(::fsync(file.get()), 0);
    if (::lseek(file.get(), 0, SEEK_DATA) == 0) GTEST_SKIP() << "machine: this file system knows no holes";
  }
  Folder folder;
  std::string path = folder.file("sparse");
};

TEST_F(HoleMapTest, KnowsWhereThereIsNoData) {
  HoleMap map(by_kernel, path);
  EXPECT_TRUE(map.is_hole(0, data_begin));
  EXPECT_TRUE(map.is_hole(4096, 8192));
  EXPECT_FALSE(map.is_hole(0, data_begin + 1));
  EXPECT_FALSE(map.is_hole(data_begin, data_begin + data_bytes));
  EXPECT_TRUE(map.is_hole(data_begin + data_bytes, file_bytes));
  EXPECT_TRUE(map.is_hole(4096, 8192)) << "back again";
}

TEST_F(HoleMapTest, CallsZerosHolesOnlyWhereTheyAre) {
  HoleMap map(by_kernel, path);
  Mismatch mismatch;
  mismatch.causes.resize(3);
  mismatch.causes[0] = {.cause = Cause::zero, .file_offset = 4096, .bytes = 100};
  mismatch.causes[1] = {.cause = Cause::zero, .file_offset = data_begin, .bytes = 100};
  mismatch.causes[2] = {.cause = Cause::foreign, .file_offset = 8192, .bytes = 100};
  const Mismatch explained = map.explain(mismatch);
  EXPECT_EQ(explained.causes[0].cause, Cause::hole);
  EXPECT_EQ(explained.causes[1].cause, Cause::zero);
  EXPECT_EQ(explained.causes[2].cause, Cause::foreign);
}

TEST_F(HoleMapTest, SaysNothingWhereTheKernelDoesNotSeeTheFile) {
  Capabilities own_format = by_kernel;
  own_format.format = FileFormat::own;
  EXPECT_FALSE(HoleMap(own_format, path).is_hole(0, data_begin));
}

}  // namespace
}  // namespace strider
