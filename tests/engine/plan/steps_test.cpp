#include "plan/steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "trees/trees.hpp"

namespace strider {
namespace {

using Operations = std::vector<Operation>;
using Words = std::vector<std::string>;

constexpr std::pair<Thing, const char*> thing_names[] = {
    {Thing::tree, "tree"},
    {Thing::files, "files"},
    {Thing::directories, "directories"},
    {Thing::hard_links, "hard links"},
    {Thing::symbolic_links, "symbolic links"},
    {Thing::attributes, "attributes"},
    {Thing::open_files, "open files"},
};

/// The steps in words: an operation by its name, in brackets where it prepares; "- things" where some are swept.
Words steps(const Operations& operations) {
  Words words;
  for (const Step& step : steps_of(operations)) {
    const std::string name(name_of(step.operation));
    switch (step.kind) {
      case Step::Kind::measured: words.push_back(name); break;
      case Step::Kind::preparation: words.push_back("(" + name + ")"); break;
      case Step::Kind::sweep: {
        std::string& text = words.emplace_back("-");
        for (const auto& [thing, thing_name] : thing_names)
          if (step.swept.has(thing)) text += std::string(" ") + thing_name;
      }
    }
  }
  return words;
}

TEST(Steps, MakeTheTreeFirst) {
  EXPECT_EQ(steps({Operation::create, Operation::stat, Operation::unlink}),
            (Words{"(make-tree)", "create", "stat", "unlink"}));
}

TEST(Steps, MakeNothingThatTheCaseMakesItself) {
  EXPECT_EQ(steps({Operation::make_tree, Operation::create, Operation::unlink, Operation::remove_tree}),
            (Words{"make-tree", "create", "unlink", "remove-tree"}));
}

TEST(Steps, MakeWhatAnOperationWorksOn) {
  EXPECT_EQ(steps({Operation::stat}), (Words{"(make-tree)", "(create)", "stat"}));
  EXPECT_EQ(steps({Operation::readdir}), (Words{"(make-tree)", "readdir"}));
  EXPECT_EQ(steps({Operation::rmdir}), (Words{"(make-tree)", "(mkdir)", "rmdir"}));
  EXPECT_EQ(steps({Operation::lseek}), (Words{"(make-tree)", "(create)", "(open)", "lseek"}));
  EXPECT_EQ(steps({Operation::readlink}), (Words{"(make-tree)", "(create)", "(symlink)", "readlink"}));
  EXPECT_EQ(steps({Operation::getxattr}), (Words{"(make-tree)", "(create)", "(setxattr)", "getxattr"}));
}

TEST(Steps, MakeAgainWhatWasRemoved) {
  EXPECT_EQ(steps({Operation::unlink, Operation::stat}),
            (Words{"(make-tree)", "(create)", "unlink", "(create)", "stat"}));
  EXPECT_EQ(steps({Operation::close, Operation::lseek}),
            (Words{"(make-tree)", "(create)", "(open)", "close", "(open)", "lseek"}));
}

TEST(Steps, SweepWhatAnOperationMustNotMeet) {
  EXPECT_EQ(steps({Operation::create, Operation::create}), (Words{"(make-tree)", "create", "- files", "create"}));
  EXPECT_EQ(steps({Operation::mkdir, Operation::mkdir}), (Words{"(make-tree)", "mkdir", "- directories", "mkdir"}));
  EXPECT_EQ(steps({Operation::open, Operation::unlink}),
            (Words{"(make-tree)", "(create)", "open", "- open files", "unlink"}));
  EXPECT_EQ(steps({Operation::create, Operation::mkdir, Operation::remove_tree}),
            (Words{"(make-tree)", "create", "mkdir", "- files directories", "remove-tree"}));
}

TEST(Steps, SweepATreeWithAllThatIsInIt) {
  EXPECT_EQ(steps({Operation::create, Operation::mkdir, Operation::make_tree}),
            (Words{"(make-tree)", "create", "mkdir", "- tree files directories", "make-tree"}));
}

TEST(Steps, SweepAttributesWithTheirFiles) {
  EXPECT_EQ(steps({Operation::setxattr, Operation::create, Operation::getxattr}),
            (Words{"(make-tree)", "(create)", "setxattr", "- files attributes", "create", "(setxattr)", "getxattr"}));
  EXPECT_EQ(steps({Operation::setxattr, Operation::unlink, Operation::getxattr}),
            (Words{"(make-tree)", "(create)", "setxattr", "unlink", "(create)", "(setxattr)", "getxattr"}));
}

TEST(Steps, PreparingNewFilesMeetsNoLinksOfOldOnes) {
  EXPECT_EQ(steps({Operation::link, Operation::unlink, Operation::stat}),
            (Words{"(make-tree)", "(create)", "link", "unlink", "- hard links", "(create)", "stat"}));
  EXPECT_EQ(steps({Operation::symlink, Operation::create, Operation::readlink}),
            (Words{"(make-tree)", "(create)", "symlink", "- files symbolic links", "create", "(symlink)", "readlink"}));
}

TEST(Steps, AMixMeetsNoLinksAndLeavesAttributesOfSomeFilesOnly) {
  EXPECT_EQ(steps({Operation::link, Operation::symlink, Operation::setxattr, Operation::mix, Operation::getxattr}),
            (Words{"(make-tree)", "(create)", "link", "symlink", "setxattr", "- hard links symbolic links", "mix",
                   "(setxattr)", "getxattr"}));
}

std::vector<Operation> metadata_operations() {
  std::vector<Operation> result;
  for (const OperationEntry& entry : all_operations())
    if (is_metadata(entry.operation)) result.push_back(entry.operation);
  return result;
}

/// What is there, as a file system would have it.
class World {
 public:
  void take(const Step& step) {
    if (step.kind == Step::Kind::sweep) return sweep(step.swept);
    const MetadataOperation& operation = entry_of(step.operation).metadata;
    EXPECT_EQ(present_.both(operation.needs), operation.needs) << "something is missing";
    EXPECT_TRUE(present_.both(operation.avoids).empty()) << "something is in the way";
    present_.remove(operation.removes);
    present_.add(operation.makes);
    for (const auto& [thing, name] : thing_names)
      EXPECT_TRUE(!present_.has(thing) || present_.both(holders_of(thing)) == holders_of(thing)) << name;
  }

 private:
  /// What a thing cannot be without. Links outlive the files that they were made of.
  static Things holders_of(Thing thing) {
    switch (thing) {
      case Thing::attributes:
      case Thing::open_files: return {Thing::tree, Thing::files};
      case Thing::tree: return {};
      default: return {Thing::tree};
    }
  }
  void sweep(Things things) {
    EXPECT_FALSE(things.empty());
    EXPECT_EQ(present_.both(things), things) << "what is swept is there";
    present_.remove(things);
  }
  Things present_;
};

TEST(Steps, LeaveNoOperationWithoutWhatItNeedsWhateverTheirSequence) {
  const Operations all = metadata_operations();
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    Operations operations(1 + random() % 12);
    for (Operation& operation : operations) operation = all[random() % all.size()];
    SCOPED_TRACE(testing::PrintToString(steps(operations)));
    World world;
    Operations measured;
    for (const Step& step : steps_of(operations)) {
      world.take(step);
      if (step.kind == Step::Kind::measured) measured.push_back(step.operation);
    }
    ASSERT_EQ(measured, operations) << "each operation is measured once, in the order of the case";
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(Steps, PrepareOnlyWhatIsNotThere) {
  const Operations all = metadata_operations();
  for (const Operation first : all)
    for (const Operation second : all) {
      const Words both = steps({first, second}), alone = steps({first});
      ASSERT_TRUE(std::equal(alone.begin(), alone.end(), both.begin())) << "what comes later changes nothing before it";
      EXPECT_LE(both.size(), alone.size() + 5) << name_of(first) << ", " << name_of(second);
    }
}

TEST(Sizes, AreThoseThatOperationsLeave) {
  EXPECT_EQ(size_after(Operation::create, 7, 100), 100U);
  EXPECT_EQ(size_after(Operation::mknod, 7, 100), 0U);
  EXPECT_EQ(size_after(Operation::small_write, 7, 100), 100U);
  EXPECT_EQ(size_after(Operation::small_write, 700, 100), 700U) << "the rest stays";
  EXPECT_EQ(size_after(Operation::truncate, 101, 100), 50U);
  EXPECT_EQ(size_after(Operation::expand, 101, 100), 202U);
  EXPECT_EQ(size_after(Operation::expand, 0, 100), 4096U);
  EXPECT_EQ(size_after(Operation::stat, 101, 100), 101U);
}

TEST(OperatesOn, AreItemsDirectoriesOrWhatTheCaseSays) {
  const auto tree = balanced({.items = 10, .depth = 1, .fanout = 2});
  Case test;
  test.open_files = 4;
  const auto count_of = [&](Operation operation) { return operations_of(test, *tree, operation, {1, 2}); };
  EXPECT_EQ(count_of(Operation::create), 30U);
  EXPECT_EQ(count_of(Operation::mkdir), 30U);
  EXPECT_EQ(count_of(Operation::readdir), 1U) << "rank 1 of 2 has one of three directories";
  for (const Operation operation : {Operation::open, Operation::lseek, Operation::close})
    EXPECT_EQ(count_of(operation), 4U);
  EXPECT_EQ(count_of(Operation::mix), 30U);
  test.mix_operations = 1000;
  EXPECT_EQ(count_of(Operation::mix), 1000U);
  test.open_files = 100;
  EXPECT_EQ(count_of(Operation::open), 30U);
}

}  // namespace
}  // namespace strider
