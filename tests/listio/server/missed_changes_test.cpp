#include "listio/server/missed_changes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "foundation/descriptor.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

class MissedChangesTest : public ::testing::Test {
 protected:
  std::vector<FileId> files() {
    DataPage page;
    EXPECT_EQ(missed_->list({}, page), 0);
    std::vector<FileId> files;
    for (const DataPage::DataFile& each : page.files) files.push_back(each.file);
    return files;
  }
  std::vector<ByteRun> take(FileId file) {
    Missed found;
    missed_->take(file, found);
    return found.runs;
  }
  /// A change that the other copy misses, from begin to end.
  void change(FileId file, const ByteRun& run) {
    EXPECT_EQ(missed_->mark(file), 0);
    missed_->add(file, {&run, 1});
  }

  TemporaryFolder place_;
  Descriptor folder_{::open(place_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  std::optional<MissedChanges> missed_{std::in_place, folder_.get()};
  const std::vector<ByteRun> everything_{{0, most_file_bytes}};
};

// proves listio: second-and-missed
TEST_F(MissedChangesTest, MarksAreKeptUntilAllWasTaken) {
  change(5, {0, 1});
  change(5, {0, 1});
  change(0x300, {0, 1});
  missed_.emplace(folder_.get());
  EXPECT_EQ(files(), (std::vector<FileId>{0x300, 5}));
  take(5);
  EXPECT_EQ(missed_->forget(), EAGAIN) << "the other one was not taken";
  take(0x300);
  EXPECT_EQ(missed_->forget(), 0);
  missed_.emplace(folder_.get());
  EXPECT_EQ(files(), std::vector<FileId>{});
  change(5, {0, 1});
  EXPECT_EQ(files(), std::vector<FileId>{5}) << "again";
}

TEST_F(MissedChangesTest, AfterAllBytesTheLastOnesFollow) {
  change(5, {10, 10});
  EXPECT_EQ(take(5), everything_) << "what was missed before is not known";
  EXPECT_EQ(take(5), std::vector<ByteRun>{});
  change(5, {100, 10});
  change(5, {105, 10});
  EXPECT_EQ(take(5), (std::vector<ByteRun>{{100, 15}}));
  missed_->start();
  EXPECT_EQ(take(5), everything_) << "another fill: what the last one took may not have been copied";
  missed_.emplace(folder_.get());
  EXPECT_EQ(take(5), everything_) << "after a restart";
  EXPECT_EQ(missed_->mark_all(5), 0);
  EXPECT_EQ(take(5), everything_);
}

TEST_F(MissedChangesTest, NothingIsForgottenThatWasNotTaken) {
  change(5, {0, 1});
  take(5);
  EXPECT_EQ(missed_->mark(5), 0);
  EXPECT_EQ(missed_->forget(), EAGAIN) << "a change that has not ended";
  EXPECT_EQ(take(5), std::vector<ByteRun>{});
  const ByteRun run{7, 1};
  missed_->add(5, {&run, 1});
  EXPECT_EQ(missed_->forget(), EAGAIN) << "it was not taken";
  EXPECT_EQ(take(5), std::vector<ByteRun>{run});
  EXPECT_EQ(missed_->forget(), 0);
}

TEST_F(MissedChangesTest, OnlyWhatWasNotTakenIsListedOnRequest) {
  change(5, {0, 1});
  change(0x300, {0, 1});
  take(5);
  DataPage page;
  EXPECT_EQ(missed_->list({0, true}, page), 0);
  ASSERT_EQ(page.files.size(), 1U);
  EXPECT_EQ(page.files[0].file, 0x300U);
}

TEST_F(MissedChangesTest, ManyRunsTakeLimitedMemoryAndNoneIsLost) {
  take(5);
  for (std::uint64_t i = 0; i < 10000; ++i) change(5, {i * 3, 1});
  const std::vector<ByteRun> runs = take(5);
  EXPECT_LE(runs.size(), 2048U);
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    while (at < runs.size() && runs[at].end() <= i * 3) ++at;
    ASSERT_LT(at, runs.size());
    EXPECT_LE(runs[at].offset, i * 3);
  }
}

}  // namespace
}  // namespace strider::listio
