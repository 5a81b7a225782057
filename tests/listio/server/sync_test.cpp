// What servers sync of what another one, which has ended before, has left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "listio/server/data_store.hpp"
#include "listio/server/names.hpp"
#include "service.hpp"

namespace {
std::atomic<int> fsyncs, syncfs_calls;
}

// In the place of the C library's.
extern "C" int fsync(int descriptor) {
  ++fsyncs;
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
extern "C" int syncfs(int descriptor) noexcept {
  ++syncfs_calls;
  return static_cast<int>(::syscall(SYS_syncfs, descriptor));
}

namespace strider::listio {
namespace {

class SyncTest : public testing::Test {
 protected:
  TemporaryFolder place_;
  Descriptor folder_{::open(place_.path().c_str(), O_RDONLY | O_DIRECTORY)};
};

TEST_F(SyncTest, NamesOfAServerThatHasEndedAreSyncedOnce) {
  Entry entry;
  ASSERT_EQ(Names(folder_.get(), 1).make_directory("made", 0700), 0);
  Names names(folder_.get(), 1);
  syncfs_calls = 0;
  EXPECT_EQ(names.sync(), 0);
  EXPECT_EQ(syncfs_calls, 1);
  EXPECT_EQ(names.sync(), 0);
  EXPECT_EQ(syncfs_calls, 1);
  ASSERT_EQ(names.make_directory("another", 0700), 0);
  EXPECT_EQ(names.sync(), 0);
  EXPECT_EQ(syncfs_calls, 2);
}

TEST_F(SyncTest, FoldersOfAServerThatHasEndedAreSyncedOnce) {
  const FileId file = 7;
  std::array<std::byte, 10> data{};
  const std::array<ByteRun, 1> runs{ByteRun{0, data.size()}};
  ASSERT_EQ(make_file_store(folder_.get())->write(file, runs, data), 0);
  const std::unique_ptr<DataStore> store = make_file_store(folder_.get());
  fsyncs = 0;
  EXPECT_EQ(store->sync(file), 0);
  EXPECT_EQ(fsyncs, 2) << "its folder, and the folder of folders";
  EXPECT_EQ(store->sync(file), 0);
  EXPECT_EQ(fsyncs, 3) << "its folder";
  ASSERT_EQ(store->write(file + 1, runs, data), 0);
  EXPECT_EQ(fsyncs, 3) << "writing syncs nothing";
  EXPECT_EQ(store->sync(file + 1), 0);
  EXPECT_EQ(fsyncs, 5) << "its folder, which is new";
}

}  // namespace
}  // namespace strider::listio
