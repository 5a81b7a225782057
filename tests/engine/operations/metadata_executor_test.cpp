// What each operation of metadata does in a real directory: docs/metadata.md, section Operations.
#include "operations/metadata_executor.hpp"

#include <gtest/gtest.h>
#include <sys/xattr.h>

#include "operations/tour.hpp"
#include "operations/work.hpp"

namespace strider {
namespace {

TEST_F(MetadataExecutorTest, MakeTreeMakesTheDirectories) {
  EXPECT_EQ(names(), tree);
  EXPECT_EQ(tour.state("/b0").st_mode, static_cast<mode_t>(S_IFDIR | 0700));
  EXPECT_EQ(tour.tally.requests, 2U) << "the top is one of them";
}

TEST_F(MetadataExecutorTest, CreateMakesFilesAndWritesIntoThem) {
  EXPECT_EQ(tour.run(Operation::create), nothing);
  EXPECT_EQ(names(), tree + files);
  for (const std::string& name : files) {
    EXPECT_EQ(tour.contents(name), "stride");
    EXPECT_EQ(tour.state(name).st_mode, static_cast<mode_t>(S_IFREG | 0600));
  }
  EXPECT_EQ(tour.tally.requests, 4U);
  EXPECT_EQ(tour.tally.bytes, 24U);
}

TEST_F(MetadataExecutorTest, CreateTakesNoFileThatIsThere) {
  tour.write("/b0/f0.2", "mine");
  try {
    tour.execute(Operation::create);
    FAIL() << "the file was taken";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().error_number, EEXIST);
    EXPECT_EQ(error.details().call, "openat");
    EXPECT_NE(error.details().file.find("top/b0/f0.2"), std::string::npos);
  }
  EXPECT_EQ(tour.contents("/b0/f0.2"), "mine");
  EXPECT_EQ(tour.tally.requests, 2U) << "what was done before";
}

TEST_F(MetadataExecutorTest, MknodMakesEmptyFiles) {
  tour.run(Operation::mknod);
  EXPECT_EQ(names(), tree + files);
  EXPECT_EQ(tour.state("/f0.0").st_mode, static_cast<mode_t>(S_IFREG | 0600));
  EXPECT_EQ(tour.state("/f0.0").st_size, 0);
  EXPECT_EQ(tour.run(Operation::stat), nothing);
}

TEST_F(MetadataExecutorTest, OpenKeepsFilesOpenUntilClose) {
  const auto before = open_descriptors();
  tour.test.open_files = 3;
  tour.run(Operation::create);
  tour.run(Operation::open);
  EXPECT_EQ(tour.open_files.size(), 3U);
  EXPECT_EQ(open_descriptors(), before + 3);
  expect_unchanged(Operation::lseek);
  for (const Directory::Handle file : tour.open_files)
    EXPECT_EQ(::lseek(static_cast<int>(file), 0, SEEK_CUR), 6) << "lseek went to the end";
  expect_unchanged(Operation::close);
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(tour.open_files, std::vector<Directory::Handle>(3, Directory::closed));
}

TEST_F(MetadataExecutorTest, StatAccessAndOpenCloseChangeNothing) {
  tour.run(Operation::create);
  const auto before = open_descriptors();
  for (const Operation operation : {Operation::stat, Operation::access, Operation::open_close, Operation::small_read})
    expect_unchanged(operation);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(MetadataExecutorTest, ChmodSetsTwoModesInTurns) {
  tour.run(Operation::create);
  tour.run(Operation::chmod);
  EXPECT_EQ(tour.state("/f0.0").st_mode & 0777, 0640U);
  EXPECT_EQ(tour.state("/f0.1").st_mode & 0777, 0600U);
}

TEST_F(MetadataExecutorTest, UtimeSetsTheTimesToNow) {
  tour.run(Operation::create);
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (const std::string& name : files) std::filesystem::last_write_time(tour.path(name), old);
  tour.run(Operation::utime);
  for (const std::string& name : files)
    EXPECT_GT(std::filesystem::last_write_time(tour.path(name)), old + std::chrono::minutes(30));
}

TEST_F(MetadataExecutorTest, TruncateHalvesAndExpandDoubles) {
  tour.run(Operation::create);
  tour.run(Operation::truncate);
  EXPECT_EQ(tour.contents("/f0.0"), "str");
  EXPECT_EQ(tour.run(Operation::stat), nothing);
  tour.run(Operation::expand);
  EXPECT_EQ(tour.contents("/b0/f0.3"), std::string("str\0\0\0", 6));
  EXPECT_EQ(tour.run(Operation::stat), nothing);
}

TEST_F(MetadataExecutorTest, ExpandMakesEmptyFilesFourKibibytesLarge) {
  tour.run(Operation::mknod);
  tour.run(Operation::expand);
  EXPECT_EQ(tour.state("/f0.1").st_size, 4096);
}

TEST_F(MetadataExecutorTest, SmallWriteWritesTheBeginningOfAFileThatStays) {
  tour.run(Operation::create);
  tour.run(Operation::expand);
  const ino_t before = tour.state("/f0.0").st_ino;
  tour.memory.assign(6, std::byte{'w'});
  EXPECT_EQ(tour.run(Operation::small_write), nothing);
  EXPECT_EQ(tour.contents("/f0.0"), std::string("wwwwww\0\0\0\0\0\0", 12));
  EXPECT_EQ(tour.state("/f0.0").st_ino, before);
  EXPECT_EQ(tour.tally.bytes, 24U);
  EXPECT_EQ(tour.run(Operation::stat), nothing);
}

TEST_F(MetadataExecutorTest, SmallReadReadsWhatIsThere) {
  tour.run(Operation::create);
  tour.memory.assign(6, std::byte{0});
  EXPECT_EQ(tour.run(Operation::small_read), nothing);
  EXPECT_EQ(tour.tally.bytes, 24U);
  EXPECT_EQ(std::memcmp(tour.memory.data(), "stride", 6), 0);
  tour.run(Operation::truncate);
  EXPECT_EQ(tour.run(Operation::small_read), nothing) << "a file that is shorter is read as far as it goes";
  EXPECT_EQ(tour.tally.bytes, 12U);
}

TEST_F(MetadataExecutorTest, SetxattrSetsWhatGetxattrGets) {
  tour.run(Operation::create);
  if (::setxattr(tour.path("/f0.0").c_str(), "user.probe", "x", 1, 0) != 0)
    GTEST_SKIP() << "the file system of " << testing::TempDir() << " has no extended attributes";
  tour.run(Operation::setxattr);
  char value[16];
  EXPECT_EQ(::getxattr(tour.path("/b0/f0.2").c_str(), "user.strider", value, sizeof value), 7);
  expect_unchanged(Operation::getxattr);
  ASSERT_EQ(::setxattr(tour.path("/b0/f0.2").c_str(), "user.strider", "other", 5, 0), 0);
  EXPECT_EQ(tour.run(Operation::getxattr),
            (Words{"top/b0/f0.2: the extended attribute has another value than the one that was set"}));
  ASSERT_EQ(::removexattr(tour.path("/f0.0").c_str(), "user.strider"), 0);
  EXPECT_THROW(tour.execute(Operation::getxattr), IoError);
}

TEST_F(MetadataExecutorTest, RenameGivesAnotherNameAndTheNextOneTheFirstBack) {
  tour.run(Operation::create);
  const ino_t before = tour.state("/f0.0").st_ino;
  tour.run(Operation::rename);
  EXPECT_EQ(names(), tree + Names({"/r0.0", "/r0.1", "/b0/r0.2", "/b0/r0.3"}));
  EXPECT_EQ(tour.state("/r0.0").st_ino, before);
  tour.run(Operation::rename);
  EXPECT_EQ(names(), tree + files);
}

TEST_F(MetadataExecutorTest, AllOthersFollowARename) {
  tour.run(Operation::create);
  tour.run(Operation::rename);
  for (const Operation operation :
       {Operation::stat, Operation::access, Operation::chmod, Operation::utime, Operation::open_close,
        Operation::small_write, Operation::small_read, Operation::truncate, Operation::expand, Operation::open,
        Operation::lseek, Operation::close, Operation::link, Operation::symlink, Operation::readlink,
        Operation::readdir, Operation::readdir_stat, Operation::unlink})
    EXPECT_EQ(tour.run(operation), nothing) << name_of(operation);
}

TEST_F(MetadataExecutorTest, LinkMakesASecondName) {
  tour.run(Operation::create);
  tour.run(Operation::link);
  EXPECT_EQ(names(), tree + files + Names({"/l0.0", "/l0.1", "/b0/l0.2", "/b0/l0.3"}));
  EXPECT_EQ(tour.state("/l0.0").st_ino, tour.state("/f0.0").st_ino);
  EXPECT_EQ(tour.run(Operation::stat), nothing) << "two links are right now";
}

TEST_F(MetadataExecutorTest, SymlinkLeadsToTheFileBesideIt) {
  tour.run(Operation::create);
  tour.run(Operation::symlink);
  EXPECT_EQ(names(), tree + files + Names({"/s0.0", "/s0.1", "/b0/s0.2", "/b0/s0.3"}));
  EXPECT_EQ(std::filesystem::read_symlink(tour.path("/b0/s0.2")), "f0.2");
  EXPECT_EQ(tour.contents("/b0/s0.2"), "stride");
  expect_unchanged(Operation::readlink);
  tour.run(Operation::rename);
  expect_unchanged(Operation::readlink);  // it leads to the name by which it was made
}

TEST_F(MetadataExecutorTest, UnlinkRemovesTheFilesAndNothingElse) {
  tour.run(Operation::create);
  tour.run(Operation::link);
  tour.run(Operation::mkdir);
  tour.run(Operation::unlink);
  EXPECT_EQ(names(),
            tree + Names({"/l0.0", "/l0.1", "/b0/l0.2", "/b0/l0.3", "/d0.0", "/d0.1", "/b0/d0.2", "/b0/d0.3"}));
  EXPECT_EQ(tour.run(Operation::readdir), nothing);
}

TEST_F(MetadataExecutorTest, DirectoriesAsItemsComeChangeTheirNameAndGo) {
  const Names directories{"/d0.0", "/d0.1", "/b0/d0.2", "/b0/d0.3"};
  EXPECT_EQ(tour.run(Operation::mkdir), nothing);
  EXPECT_EQ(names(), tree + directories);
  EXPECT_EQ(tour.state("/d0.0").st_mode, static_cast<mode_t>(S_IFDIR | 0700));
  expect_unchanged(Operation::stat_directory);
  tour.run(Operation::rename_directory);
  EXPECT_EQ(names(), tree + Names({"/e0.0", "/e0.1", "/b0/e0.2", "/b0/e0.3"}));
  expect_unchanged(Operation::stat_directory);
  tour.run(Operation::rename_directory);
  EXPECT_EQ(names(), tree + directories);
  tour.run(Operation::rmdir);
  EXPECT_EQ(names(), tree);
}

TEST_F(MetadataExecutorTest, ChdirGoesIntoEachAndBackAtTheEnd) {
  const auto home = std::filesystem::current_path();
  tour.run(Operation::mkdir);
  const auto before = open_descriptors();
  tour.execute(Operation::chdir);
  EXPECT_EQ(std::filesystem::current_path(), std::filesystem::canonical(tour.path("/b0/d0.3"))) << "the last one";
  tour.execute(Operation::chdir);
  tour.directory.go_back();
  EXPECT_EQ(std::filesystem::current_path(), home);
  EXPECT_EQ(open_descriptors(), before + 1) << "the way back, once";
}

TEST_F(MetadataExecutorTest, RemoveTreeRemovesEachDirectoryAfterThoseInIt) {
  tour.run(Operation::remove_tree);
  EXPECT_TRUE(tour.folder.content().empty());
}

TEST_F(MetadataExecutorTest, ReaddirCountsAllEntriesOfEachDirectory) {
  for (const Operation made : {Operation::create, Operation::mkdir, Operation::link, Operation::symlink}) {
    tour.run(made);
    expect_unchanged(Operation::readdir);
    EXPECT_EQ(tour.tally.requests, 2U) << "one for each directory of the tree";
    expect_unchanged(Operation::readdir_stat);
  }
}

// Whose items, in which order, until when.

/// The paths that stat is called on: each has another size than is expected.
Words paths_of_stat(Tour& tour) {
  tour.run(Operation::make_tree);
  tour.run(Operation::mknod);
  tour.population.file_bytes = 1;
  return tour.run(Operation::stat);
}

TEST(OperatesOn, GoToTheItemsOfTheRankWhosePlaceIsTaken) {
  Tour tour({.items = 2}, {3, 5});
  tour.work.place = {0, 1};
  tour.run(Operation::make_tree);
  tour.work.place = {3, 5};
  tour.run(Operation::mknod);
  EXPECT_TRUE(tour.exists("/f3.0"));
  EXPECT_TRUE(tour.exists("/f3.1"));
}

TEST(OperatesOn, FollowTheOrder) {
  Tour forward({.items = 3}), backward({.items = 3}, {}, OrderKind::backward);
  const auto wrong = [](const char* path) { return std::string(path) + ": the size is 0 instead of 1"; };
  EXPECT_EQ(paths_of_stat(forward), (Words{wrong("top/f0.0"), wrong("top/f0.1"), wrong("top/f0.2")}));
  EXPECT_EQ(paths_of_stat(backward), (Words{wrong("top/f0.2"), wrong("top/f0.1"), wrong("top/f0.0")}));
}

TEST(OperatesOn, GoToTheFilesThatAMixLeftAndToAllDirectories) {
  Tour tour({.items = 2});
  tour.run(Operation::make_tree);
  tour.population.complete(Operation::create, *tour.tree, 2, false);
  tour.population.mixed = true;
  tour.population.first_file = 7;
  for (const char* name : {"/f0.7", "/f0.8"}) tour.write(name, "");
  EXPECT_EQ(tour.run(Operation::stat), nothing);
  EXPECT_EQ(tour.run(Operation::mkdir), nothing);
  EXPECT_TRUE(tour.exists("/d0.0"));
  EXPECT_TRUE(tour.exists("/d0.1"));
  EXPECT_EQ(tour.run(Operation::rmdir), nothing);
}

TEST(OperatesOn, KeepTheFirstFindingsInWordsAndCountTheRest) {
  Tour tour({.items = 9});
  EXPECT_EQ(paths_of_stat(tour).size(), Findings::kept);
  EXPECT_EQ(tour.findings.count(), 9U);
}

TEST(OperatesOn, StopAtADeadlineAndGoOnFromThere) {
  Tour tour({.items = 5});
  tour.run(Operation::make_tree);
  tour.work.operation = Operation::create;
  Pace pace(tour.timer);
  MetadataExecutor executor(tour.work, tour.timer, tour.tally = {}, tour.watch, tour.findings);
  EXPECT_EQ(executor.run(5, long_ago, pace), Stop::deadline);
  EXPECT_TRUE(tour.exists("/f0.0"));
  EXPECT_FALSE(tour.exists("/f0.1"));
  EXPECT_EQ(executor.run(3, 0, pace), Stop::finished);
  EXPECT_TRUE(tour.exists("/f0.2"));
  EXPECT_FALSE(tour.exists("/f0.3"));
  EXPECT_EQ(tour.tally.requests, 3U);
}

}  // namespace
}  // namespace strider
