#include "foundation/run_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "foundation/error.hpp"
#include "foundation/folder.hpp"

namespace strider {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A run's folder with a marker, and a directory beside it that is none of the run's business.
class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() : own_(folder_.file("strider-r1")), outside_(folder_.file("outside")) {
    fs::create_directories(own_ / "sub");
    fs::create_directories(outside_);
    write_text(own_ / ".strider", R"({"run": "r1", "host": "h"})");
    write_text(outside_ / "file", "precious");
  }
  RunFolder opened(const std::string& run = "r1") const { return {own_.string(), run, RunFolder::Marker::required}; }
  void expect_refused(RunFolder& folder, const std::string& path) {
    try {
      folder.open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
      ADD_FAILURE() << path << " was opened";
    } catch (const IoError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("outside of the folder of this run")) << error.what();
    }
    EXPECT_EQ(text_of(outside_ / "file"), "precious");
    EXPECT_EQ(std::distance(fs::directory_iterator(outside_), fs::directory_iterator()), 1);
  }

  Folder folder_;
  fs::path own_, outside_;
};

TEST_F(RunFolderTest, OpensAndRemovesWhatIsInIt) {
  RunFolder folder = opened();
  const std::string file = own_ / "file";
  folder.open(file, O_RDWR | O_CREAT, 0600);
  EXPECT_TRUE(fs::exists(file));
  fs::create_symlink("../file", own_ / "sub/inside");
  folder.open(own_ / "sub/inside", O_RDONLY);
  folder.remove(file);
  folder.remove(file);
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(RunFolderTest, FollowsNoLinkOutOfIt) {
  RunFolder folder = opened();
  fs::create_symlink(outside_ / "file", own_ / "file");
  expect_refused(folder, own_ / "file");
  fs::create_symlink(outside_, own_ / "directory");
  expect_refused(folder, own_ / "directory/new");
  fs::create_symlink("/proc/self/cwd", own_ / "magic");
  expect_refused(folder, own_ / "magic/new");
}

TEST_F(RunFolderTest, FollowsNoLinkAtAllInADirectoryOfOthers) {
  RunFolder folder{own_.string(), "", RunFolder::Marker::foreign};
  write_text(own_ / "precious", "precious");
  fs::create_symlink("precious", own_ / "file");
  fs::create_directory_symlink("sub", own_ / "directory");
  folder.open(own_ / "precious", O_RDONLY);
  expect_refused(folder, own_ / "file");
  expect_refused(folder, own_ / "directory/new");
  EXPECT_EQ(text_of(own_ / "precious"), "precious");
}

TEST_F(RunFolderTest, OpensNothingBesideIt) {
  RunFolder folder = opened();
  expect_refused(folder, outside_ / "file");
  expect_refused(folder, own_ / "../outside/file");
  expect_refused(folder, own_.string() + "-other/file");
}

TEST_F(RunFolderTest, GoesOnBelowTheDirectoryThatItOpenedFirst) {
  RunFolder folder = opened();
  folder.check();
  const fs::path moved = folder_.file("moved");
  fs::rename(own_, moved);
  fs::create_directory_symlink(outside_, own_);
  folder.open(own_ / "file", O_RDWR | O_CREAT | O_TRUNC, 0600);
  EXPECT_TRUE(fs::exists(moved / "file"));
  EXPECT_EQ(text_of(outside_ / "file"), "precious");
  EXPECT_THROW(folder.check(), IoError) << "its path leads elsewhere";
  folder.remove(own_ / "file");
  EXPECT_FALSE(fs::exists(moved / "file"));
  EXPECT_EQ(text_of(outside_ / "file"), "precious");
}

TEST_F(RunFolderTest, IsThatOfTheRunByItsMarker) {
  RunFolder other = opened("r2");
  EXPECT_THROW(other.check(), IoError);
  expect_refused(other, own_ / "file");
  RunFolder any(own_.string(), "r2", RunFolder::Marker::unknown);
  EXPECT_NO_THROW(any.check());
}

TEST_F(RunFolderTest, IsOpenedAgainAfterItWasReleased) {
  RunFolder folder = opened();
  folder.check();
  folder.release();
  fs::rename(own_, folder_.file("moved"));
  fs::create_directory_symlink(outside_, own_);
  expect_refused(folder, own_ / "file");
}

/// The identity of a directory as its starter on this host finds it.
FolderIdentity identity_of(const fs::path& directory, const std::string& host) {
  struct stat found{};
  EXPECT_EQ(::stat(directory.c_str(), &found), 0);
  return {found.st_uid, found.st_ino, found.st_dev, host};
}

std::string this_host() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return std::string(name) + "/" + boot;
}

TEST_F(RunFolderTest, IsTheDirectoryThatTheRunWasGiven) {
  const auto accepts = [&](const FolderIdentity& identity) {
    RunFolder folder(own_.string(), "r1", RunFolder::Marker::required, identity);
    try {
      folder.check();
      return true;
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find("not the one that the run was given"), std::string::npos);
      return false;
    }
  };
  const FolderIdentity here = identity_of(own_, this_host()), there = identity_of(own_, "n2/another");
  EXPECT_TRUE(accepts(here));
  EXPECT_TRUE(accepts(there));
  EXPECT_TRUE(accepts({})) << "an engine that was started by hand";
  FolderIdentity changed = here;
  *changed.inode += 1;
  EXPECT_FALSE(accepts(changed));
  changed = here;
  *changed.owner += 1;
  EXPECT_FALSE(accepts(changed));
  changed = here;
  *changed.device += 1;
  EXPECT_FALSE(accepts(changed));
  changed.host = there.host;
  EXPECT_TRUE(accepts(changed)) << "hosts number devices themselves";
  changed.inode = *here.inode + 1;
  EXPECT_FALSE(accepts(changed));
}

TEST_F(RunFolderTest, MayHaveNoKnownOwnerOnAHostWithoutUserNames) {
  if (::geteuid() != 0) GTEST_SKIP() << "machine: only root gives files away";
  const FolderIdentity there = identity_of(own_, "n2/another"), here = identity_of(own_, this_host());
  ASSERT_EQ(::chown(own_.c_str(), 65534, 65534), 0);
  RunFolder folder(own_.string(), "r1", RunFolder::Marker::required, there);
  EXPECT_NO_THROW(folder.check());
  RunFolder known(own_.string(), "r1", RunFolder::Marker::required, here);
  EXPECT_THROW(known.check(), IoError);
  ASSERT_EQ(::chown(own_.c_str(), 1, 1), 0);
  RunFolder other(own_.string(), "r1", RunFolder::Marker::required, there);
  EXPECT_THROW(other.check(), IoError);
}

TEST_F(RunFolderTest, CopiedWithItsMarkerIsAnotherDirectory) {
  const FolderIdentity identity = identity_of(own_, this_host());
  fs::rename(own_, folder_.file("moved"));
  fs::create_directories(own_);
  fs::copy_file(folder_.file("moved") + "/.strider", own_ / ".strider");
  RunFolder folder(own_.string(), "r1", RunFolder::Marker::required, identity);
  EXPECT_THROW(folder.check(), IoError);
}

TEST_F(RunFolderTest, FilesToWriteHaveOneNameAndAreNoLinks) {
  RunFolder folder = opened();
  const auto refusal = [&](const std::string& name) -> std::string {
    try {
      folder.require_own_file(own_ / name);
    } catch (const IoError& error) {
      EXPECT_EQ(error.details().file, own_ / name);
      EXPECT_NE(error.remedy(), "");
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("new"), "");
  write_text(own_ / "file", "mine");
  EXPECT_EQ(refusal("file"), "");
  fs::create_hard_link(own_ / "file", own_ / "twin");
  EXPECT_NE(refusal("file").find("2 names (hard links)"), std::string::npos);
  fs::create_symlink("twin", own_ / "inside");
  EXPECT_NE(refusal("inside").find("symbolic link"), std::string::npos);
  fs::create_symlink("nothing", own_ / "dangling");
  EXPECT_NE(refusal("dangling").find("symbolic link"), std::string::npos);
  fs::create_directory_symlink(outside_, own_ / "out");
  EXPECT_NE(refusal("out/file").find("leads out"), std::string::npos);
  EXPECT_NE(refusal("sub").find("not a regular file"), std::string::npos);
  ASSERT_EQ(::mkfifo((own_ / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal("pipe").find("not a regular file"), std::string::npos);
}

TEST(FolderIdentity, IsReadFromText) {
  const FolderIdentity all = FolderIdentity::parse("1000:42:64769:n1/boot:id");
  EXPECT_EQ(all.owner, 1000U);
  EXPECT_EQ(all.inode, 42U);
  EXPECT_EQ(all.device, 64769U);
  EXPECT_EQ(all.host, "n1/boot:id");
  const FolderIdentity none = FolderIdentity::parse(":::");
  EXPECT_FALSE(none.owner || none.inode || none.device);
  for (const char* wrong : {"x:::", "1:-2::", "1:2:3x:"}) EXPECT_THROW(FolderIdentity::parse(wrong), InputError);
}

}  // namespace
}  // namespace strider
