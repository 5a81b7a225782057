#include "operations/population.hpp"

#include <gtest/gtest.h>

#include "trees/trees.hpp"

namespace strider {
namespace {

/// Ten files and directories of each rank; files of 100 bytes.
class PopulationTest : public testing::Test {
 protected:
  void complete(Operation operation) { population.complete(operation, *tree, tree->items(), false); }
  void cut(Operation operation, std::uint64_t completed) { population.complete(operation, *tree, completed, true); }
  std::unique_ptr<Tree> tree = balanced({.items = 10, .file_size = 100});
  Population population;
};

TEST_F(PopulationTest, BeginsEmptyAndGrows) {
  EXPECT_TRUE(population.present.empty());
  complete(Operation::make_tree);
  complete(Operation::create);
  complete(Operation::mkdir);
  EXPECT_EQ(population.present, (Things{Thing::tree, Thing::files, Thing::directories}));
  EXPECT_EQ(population.files, 10U);
  EXPECT_EQ(population.directories, 10U);
  complete(Operation::unlink);
  EXPECT_EQ(population.present, (Things{Thing::tree, Thing::directories}));
}

TEST_F(PopulationTest, KnowsHowLargeFilesAreAndHowMuchOfThemWasWritten) {
  complete(Operation::create);
  EXPECT_EQ(population.file_bytes, 100U);
  complete(Operation::expand);
  EXPECT_EQ(population.file_bytes, 200U);
  EXPECT_EQ(population.written_bytes, 100U);
  complete(Operation::truncate);
  complete(Operation::truncate);
  EXPECT_EQ(population.file_bytes, 50U);
  EXPECT_EQ(population.written_bytes, 50U);
  complete(Operation::expand);
  EXPECT_EQ(population.written_bytes, 50U) << "what was cut off does not come back";
  complete(Operation::small_write);
  EXPECT_EQ(population.file_bytes, 100U);
  EXPECT_EQ(population.written_bytes, 100U);
  complete(Operation::mknod);
  EXPECT_EQ(population.file_bytes, 0U);
  EXPECT_EQ(population.written_bytes, 0U);
  complete(Operation::expand);
  EXPECT_EQ(population.file_bytes, 4096U);
  EXPECT_EQ(population.written_bytes, 0U);
}

TEST_F(PopulationTest, GivesTheFirstNameBackWithEverySecondRename) {
  complete(Operation::create);
  EXPECT_EQ(population.file_name(), ItemName::file);
  complete(Operation::rename);
  EXPECT_EQ(population.file_name(), ItemName::renamed_file);
  complete(Operation::rename);
  EXPECT_EQ(population.file_name(), ItemName::file);
  complete(Operation::rename);
  complete(Operation::unlink);
  EXPECT_EQ(population.file_name(), ItemName::file) << "so that new ones have their first name";
  complete(Operation::mkdir);
  complete(Operation::rename_directory);
  EXPECT_EQ(population.directory_name(), ItemName::renamed_directory);
  complete(Operation::rmdir);
  EXPECT_EQ(population.directory_name(), ItemName::directory);
}

TEST_F(PopulationTest, RemembersByWhichNameLinksWereMade) {
  complete(Operation::create);
  complete(Operation::rename);
  complete(Operation::symlink);
  complete(Operation::rename);
  EXPECT_TRUE(population.renamed_when_linked);
  EXPECT_EQ(population.file_name(), ItemName::file);
  complete(Operation::unlink);
  EXPECT_TRUE(population.renamed_when_linked) << "links outlive their files";
  complete(Operation::symlink);
  EXPECT_FALSE(population.renamed_when_linked);
}

// proves measuring: later-phases
TEST_F(PopulationTest, LeavesOutWhatNotEveryRankCameToBeforeADeadline) {
  cut(Operation::create, 7);
  EXPECT_EQ(population.files, 7U);
  EXPECT_FALSE(population.whole);
  cut(Operation::rename, 4);
  EXPECT_EQ(population.files, 4U);
  EXPECT_TRUE(population.renamed_files);
  cut(Operation::rename, 6);
  EXPECT_EQ(population.files, 4U);
  cut(Operation::mkdir, 3);
  EXPECT_EQ(population.directories, 3U);
  EXPECT_EQ(population.files, 4U);
  cut(Operation::rename_directory, 2);
  EXPECT_EQ(population.directories, 2U);
  complete(Operation::create);
  EXPECT_EQ(population.files, 10U) << "new files, of all ranks";
  EXPECT_FALSE(population.whole);
}

TEST_F(PopulationTest, LosesNothingByPhasesThatOnlyLook) {
  complete(Operation::create);
  complete(Operation::mkdir);
  for (const OperationEntry& entry : all_operations()) {
    if (!is_metadata(entry.operation) || entry.metadata.population == MetadataOperation::Population::changes) continue;
    cut(entry.operation, 1);
    EXPECT_EQ(population.files, 10U) << entry.name;
    EXPECT_EQ(population.directories, 10U) << entry.name;
    EXPECT_TRUE(population.whole) << entry.name;
  }
}

TEST_F(PopulationTest, OpeningAndClosingChangesNoFile) {
  complete(Operation::create);
  cut(Operation::open, 4);
  EXPECT_EQ(population.files, 10U);
  EXPECT_TRUE(population.present.has(Thing::open_files));
  cut(Operation::close, 2);
  EXPECT_EQ(population.files, 10U);
  EXPECT_FALSE(population.present.has(Thing::open_files));
}

/// As a mix leaves it.
void mix(Population& population) {
  population.mixed = true;
  population.first_file = 123;
  population.files = 11;
}

TEST_F(PopulationTest, NumbersNewFilesFromTheBeginningOnceThoseOfAMixAreGone) {
  for (const bool swept : {false, true}) {
    complete(Operation::create);
    mix(population);
    if (swept) population.remove({Thing::files});
    else complete(Operation::unlink);
    EXPECT_FALSE(population.mixed);
    EXPECT_EQ(population.first_file, 0U) << "already when the next ones are created";
    complete(Operation::create);
    EXPECT_EQ(population.files, 10U);
  }
}

TEST_F(PopulationTest, CountsNoLinksThatAMixHasLeft) {
  complete(Operation::create);
  mix(population);
  complete(Operation::symlink);
  complete(Operation::unlink);
  EXPECT_TRUE(population.mixed) << "each rank has its own number of links";
  population.remove({Thing::symbolic_links});
  EXPECT_FALSE(population.mixed);
}

TEST_F(PopulationTest, KeepsTheFilesOfAMixWhereOtherThingsAreRemoved) {
  complete(Operation::create);
  mix(population);
  population.remove({Thing::directories, Thing::attributes, Thing::hard_links});
  EXPECT_TRUE(population.mixed);
  EXPECT_EQ(population.first_file, 123U);
  EXPECT_EQ(population.files, 11U);
}

}  // namespace
}  // namespace strider
