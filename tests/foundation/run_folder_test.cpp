#include "foundation/run_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
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

}  // namespace
}  // namespace strider
