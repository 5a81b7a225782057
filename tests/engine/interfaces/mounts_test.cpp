#include "interfaces/mounts.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "foundation/error.hpp"

namespace strider {
namespace {

constexpr const char* table =
    "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "22 21 0:40 / /mnt/gluster rw,relatime shared:7 master:2 - fuse.glusterfs server:/volume rw\n"
    "23 21 0:41 /part /mnt/with\\040blank rw - nfs4 host:/export rw\n"
    "25 21 0:43 / /mnt/blank\\0401 rw - xfs /dev/sdb rw\n"
    "24 21 0:42 / /mnt/gluster rw - fuse.ceph-fuse ceph-fuse rw\n";

TEST(Mounts, ThePathBelongsToTheDeepestMountAndOfTwoThereToTheLater) {
  EXPECT_EQ(mount_in(table, "/home/me").type, "ext4");
  EXPECT_EQ(mount_in(table, "/mnt/gluster/folder").type, "fuse.ceph-fuse");
  EXPECT_EQ(mount_in(table, "/mnt/gluster2").type, "ext4");
}

TEST(Mounts, NamesAreReadWithTheirBlanks) {
  const Mount mount = mount_in(table, "/mnt/with blank/folder");
  EXPECT_EQ(mount.point, "/mnt/with blank");
  EXPECT_EQ(mount.root, "/part");
  EXPECT_EQ(mount.source, "host:/export");
  EXPECT_EQ(mount_in(table, "/mnt/blank 1/folder").type, "xfs") << "a digit after the three of a blank";
}

class InsideTest : public ::testing::Test {
 protected:
  InsideTest() { std::filesystem::create_directories(top_ / "run"); }
  ~InsideTest() override { std::filesystem::remove_all(top_); }
  std::filesystem::path top_ = std::filesystem::canonical(std::filesystem::temp_directory_path()) /
                               ("strider-inside-" + std::to_string(::getpid()));
};

TEST_F(InsideTest, TheMountPointIsTheRoot) {
  const std::string run = top_ / "run";
  EXPECT_EQ(InsidePaths(run, top_, "")(run + "/file"), "/run/file");
  EXPECT_EQ(InsidePaths(run, top_, "/")(run + "/file"), "/run/file");
  EXPECT_EQ(InsidePaths(run, top_, "/part/")(run + "/file"), "/part/run/file");
  EXPECT_EQ(InsidePaths(run, run, "")(run + "/file"), "/file");
}

TEST_F(InsideTest, ATargetElsewhereIsRefused) { EXPECT_THROW(InsidePaths(top_, top_ / "run", "/"), IoError); }

}  // namespace
}  // namespace strider
