#include "repetitions/sweeper.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "foundation/folder.hpp"
#include "interfaces/posix_directory.hpp"
#include "plan/plan.hpp"
#include "trees/trees.hpp"

namespace strider {
namespace {

using Names = std::set<std::string>;
constexpr Things items{Thing::files, Thing::directories, Thing::hard_links, Thing::symbolic_links};

/// Two ranks that share a tree of two directories, with four items of each: two in each directory.
class SweeperTest : public testing::Test {
 protected:
  SweeperTest() {
    test.number = 1;
    test.clients = 2;
    std::filesystem::create_directories(folder.file("case1.0/b0"));
  }
  Sweeper sweeper(std::uint32_t rank = 0) { return {*tree, directory, assignments, test, rank}; }
  void make(ItemName name, std::uint32_t owner, std::initializer_list<std::uint64_t> numbers) {
    Paths paths(*tree, "case1.0");
    for (const std::uint64_t number : numbers) {
      const std::string path = folder.file(paths.item(name, {owner, number}));
      if (name == ItemName::directory || name == ItemName::renamed_directory) std::filesystem::create_directory(path);
      else std::ofstream(path) << "text";
    }
  }
  /// Below the top.
  Names names() const {
    Names all;
    const std::string top = folder.file("case1.0/");
    if (!std::filesystem::exists(top)) return {"the top is gone"};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top))
      all.insert(entry.path().string().substr(top.size()));
    return all;
  }
  static PhaseOutcome done(std::uint64_t requests) { return {.my_requests = requests}; }

  Folder folder;
  PosixDirectory directory{folder.file("")};
  std::unique_ptr<Tree> tree = balanced({.items = 2, .depth = 1, .fanout = 1});
  FileAssignments assignments{{SharingKind::shared, 1}, 2, {}};
  Case test;
};

TEST_F(SweeperTest, RemovesWhatItsRankMadeAndNothingElse) {
  for (const std::uint32_t owner : {0U, 1U}) {
    make(ItemName::file, owner, {0, 1, 2, 3});
    make(ItemName::hard_link, owner, {0, 1, 2, 3});
    make(ItemName::symbolic_link, owner, {0, 1, 2, 3});
    make(ItemName::directory, owner, {0, 1, 2, 3});
  }
  std::ofstream(folder.file("case1.0/stranger"));
  Sweeper mine = sweeper();
  for (const Operation operation : {Operation::create, Operation::link, Operation::symlink, Operation::mkdir})
    mine.note(operation, done(4));
  mine.remove_items({Thing::files});
  EXPECT_FALSE(names().contains("f0.0"));
  EXPECT_TRUE(names().contains("l0.0"));
  mine.remove_items(items);
  EXPECT_EQ(names(), (Names{"b0", "stranger", "f1.0", "f1.1", "b0/f1.2", "b0/f1.3", "l1.0", "l1.1", "b0/l1.2",
                            "b0/l1.3", "s1.0", "s1.1", "b0/s1.2", "b0/s1.3", "d1.0", "d1.1", "b0/d1.2", "b0/d1.3"}));
}

TEST_F(SweeperTest, DoesNotMindWhatIsGone) {
  make(ItemName::file, 0, {1, 3});
  make(ItemName::directory, 0, {0});
  Sweeper mine = sweeper();
  mine.note(Operation::create, done(4));
  mine.note(Operation::mkdir, done(4));
  EXPECT_NO_THROW(mine.remove_items(items));
  EXPECT_NO_THROW(mine.remove_items(items));
  EXPECT_EQ(names(), Names{"b0"});
  std::filesystem::remove_all(folder.file("case1.0"));
  EXPECT_NO_THROW(mine.remove_items(items));
  for (unsigned level : {1U, 0U}) EXPECT_NO_THROW(mine.remove_level(level));
}

TEST_F(SweeperTest, ReachesTheItemAtWhichAPhaseBrokeOffAndNoFurther) {
  make(ItemName::file, 0, {0, 1, 2, 3});
  Sweeper mine = sweeper();
  mine.note(Operation::create, done(2));
  mine.remove_items(items);
  EXPECT_EQ(names(), (Names{"b0", "b0/f0.3"}));
}

TEST_F(SweeperTest, KnowsNothingOfWhatWasNotMade) {
  make(ItemName::file, 0, {0, 1, 2, 3});
  sweeper().remove_items(items);
  EXPECT_EQ(names().size(), 5U);
}

TEST_F(SweeperTest, FollowsTheOrderOfItsVisits) {
  test.order = OrderKind::backward;
  make(ItemName::file, 0, {0, 1, 2, 3});
  Sweeper mine = sweeper();
  mine.note(Operation::create, done(1));
  mine.remove_items(items);
  EXPECT_EQ(names(), (Names{"b0", "f0.0", "f0.1"})) << "the last two were made first";
}

TEST_F(SweeperTest, LooksForBothNamesAfterARenameThatWasCutShort) {
  make(ItemName::renamed_file, 0, {0, 1});
  make(ItemName::file, 0, {2, 3});
  make(ItemName::renamed_directory, 0, {0, 1});
  make(ItemName::directory, 0, {2, 3});
  Sweeper mine = sweeper();
  mine.note(Operation::create, done(4));
  mine.note(Operation::mkdir, done(4));
  mine.note(Operation::rename, done(2));
  mine.note(Operation::rename_directory, done(2));
  mine.remove_items(items);
  EXPECT_EQ(names(), Names{"b0"});
}

TEST_F(SweeperTest, KnowsTheFilesThatAMixLeft) {
  make(ItemName::file, 0, {4, 5, 6, 7});
  make(ItemName::file, 1, {4, 5, 6, 7});
  Sweeper mine = sweeper();
  mine.note(Operation::create, done(4));
  mine.note(Operation::mix, {.my_requests = 1000, .oldest_file = 4, .existing_files = 3});  // and one at hand
  mine.remove_items(items);
  EXPECT_EQ(names(), (Names{"b0", "f1.4", "f1.5", "b0/f1.6", "b0/f1.7"}));
}

TEST_F(SweeperTest, ClearsTheWayForAMixThatNumbersOn) {
  make(ItemName::file, 0, {0, 1});
  make(ItemName::renamed_file, 0, {2});
  make(ItemName::file, 0, {3});
  Sweeper mine = sweeper();
  mine.note(Operation::create, done(4));
  mine.note(Operation::rename, done(1));
  mine.remove_files_from(1);
  EXPECT_EQ(names(), (Names{"b0", "f0.0"}));
}

TEST_F(SweeperTest, RemovesItsShareOfALevelOfTheTree) {
  std::filesystem::create_directories(folder.file("case1.0/b0/deeper"));
  Sweeper first = sweeper(0), second = sweeper(1);
  first.remove_level(1);  // directory 1 is the other's
  EXPECT_TRUE(names().contains("b0"));
  EXPECT_THROW(second.remove_level(1), IoError) << "it is not empty";
  std::filesystem::remove(folder.file("case1.0/b0/deeper"));
  second.remove_level(1);
  EXPECT_EQ(names(), Names{});
  second.remove_level(0);
  EXPECT_EQ(names(), Names{});
  first.remove_level(0);
  EXPECT_TRUE(folder.content().empty());
}

TEST_F(SweeperTest, WorksInItsRanksOwnTree) {
  assignments = FileAssignments({SharingKind::per_rank, 1}, 2, {});
  std::filesystem::create_directories(folder.file("case1.1"));
  make(ItemName::file, 0, {0});
  std::ofstream(folder.file("case1.1/f0.0"));
  Sweeper mine = sweeper(1);
  mine.note(Operation::create, done(4));
  mine.remove_items(items);
  EXPECT_TRUE(names().contains("f0.0"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("case1.1")));
}

TEST_F(SweeperTest, SaysWhatItCannotRemove) {
  std::filesystem::create_directories(folder.file("case1.0/f0.0/inside"));
  Sweeper mine = sweeper();
  mine.note(Operation::create, done(4));
  try {
    mine.remove_items(items);
    FAIL() << "no error";
  } catch (const IoError& error) {
    EXPECT_NE(error.details().file.find("case1.0/f0.0"), std::string::npos);
  }
}

}  // namespace
}  // namespace strider
