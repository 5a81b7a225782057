// What servers sync, also of what another one, which has ended before, has left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>

#include "listio/server/data_store.hpp"
#include "listio/server/names.hpp"
#include "service.hpp"

namespace {
std::atomic<int> fsyncs, syncfs_calls;
std::atomic<int> fails_in;  // so many calls of fsync or fdatasync
int result_of(long call, int descriptor) {
  if (fails_in == 0 || --fails_in > 0) return static_cast<int>(::syscall(call, descriptor));
  errno = EIO;
  return -1;
}
}  // namespace

// In the place of the C library's.
extern "C" int fsync(int descriptor) {
  ++fsyncs;
  return result_of(SYS_fsync, descriptor);
}
extern "C" int fdatasync(int descriptor) { return result_of(SYS_fdatasync, descriptor); }
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

Errno create(Names& names, const std::string& path, Entry& entry) {
  return names.open({path, Creation::exclusive, 0600, {1, 0, 65536}}, entry);
}

// proves listio: only-fsync, names-durable, create-durable
TEST_F(SyncTest, OfNamesIsOfWhatHasChanged) {
  Names names(folder_.get(), 1);
  ASSERT_EQ(names.sync(), 0);
  Entry entry;
  Orphan orphan;
  const auto syncs_of = [&](const auto& action) {
    EXPECT_EQ(action(), 0);
    fsyncs = 0;
    EXPECT_EQ(names.sync(), 0);
    return fsyncs.load();
  };
  EXPECT_EQ(syncs_of([] { return 0; }), 0);
  EXPECT_EQ(syncs_of([&] { return names.make_directory("a", 0700); }), 2) << "it, and the root";
  EXPECT_EQ(syncs_of([&] { return create(names, "a/one", entry); }), 5)
      << "entry and its directory; copy, its folder, which is new, and the folder of these";
  EXPECT_EQ(syncs_of([&] { return names.set({"a/one", 0640, SetEntryRequest::keep_time}); }), 1);
  EXPECT_EQ(syncs_of([&] { return names.rename("a/one", "two", orphan); }), 4)
      << "both directories; copy, which has the new path, and its folder";
  EXPECT_EQ(syncs_of([&] { return names.unlink("two", orphan); }), 2) << "directory; the copy's folder";
  EXPECT_EQ(syncs_of([&] { return names.make_link("link", "a"); }), 1);
  EXPECT_EQ(syncs_of([&] {
              EXPECT_EQ(create(names, "a/three", entry), 0);
              EXPECT_EQ(names.rename("a", "b", orphan), 0);
              EXPECT_EQ(names.unlink("b/three", orphan), 0);
              return names.remove_directory("b");
            }),
            3)
      << "what is gone has none: the root, the copy's folder and the folder of these";
  EXPECT_EQ(syncfs_calls, 0);
}

// proves listio: names-limit
TEST_F(SyncTest, VeryManyChangesAreSyncedUnasked) {
  Names names(folder_.get(), 1);
  ASSERT_EQ(names.sync(), 0);
  fsyncs = 0;
  for (int i = 0; i < 100'000 && fsyncs == 0; ++i) ASSERT_EQ(names.make_directory("d" + std::to_string(i), 0700), 0);
  EXPECT_GT(fsyncs, 90'000);
}

// proves listio: stop-durable, first-sync-all
TEST_F(SyncTest, NamesOfAServerThatWasKilledAreSyncedOnce) {
  Entry entry;
  {
    Names names(folder_.get(), 1);
    ASSERT_EQ(names.make_directory("made", 0700), 0);
    ASSERT_EQ(create(names, "made/file", entry), 0);
  }
  fsyncs = 0;
  ASSERT_EQ(Names(folder_.get(), 1).sync(), 0);
  EXPECT_EQ(fsyncs, 2) << "it ended in order: the mark of this is removed and written";
  ASSERT_EQ(::unlinkat(folder_.get(), "names-stable", 0), 0);
  Names names(folder_.get(), 1);
  fsyncs = 0;
  EXPECT_EQ(names.sync(), 0);
  EXPECT_EQ(fsyncs, 7) << "copy, two folders; entry, two directories; the server's folder";
  EXPECT_EQ(names.sync(), 0);
  EXPECT_EQ(fsyncs, 7);
}

// proves listio: failed-sync-again
TEST_F(SyncTest, OnceFailedIsNeverPretendedToHaveWorkedLater) {
  std::array<std::byte, 10> data{};
  const std::array<ByteRun, 1> runs{ByteRun{0, data.size()}};
  for (const bool is_checked : {false, true}) {
    const auto store = is_checked ? make_checked_store(folder_.get(), {}, 0) : make_file_store(folder_.get());
    const FileId file = is_checked ? 7 : 8, other = file + 2;
    for (const FileId each : {file, other}) ASSERT_EQ(store->write(each, runs, data), 0);
    fails_in = 1;
    EXPECT_EQ(store->sync(file), EIO);
    EXPECT_EQ(store->sync(file), EIO) << "the kernel has dropped what it could not write";
    EXPECT_EQ(store->sync(other), 0);
    EXPECT_EQ(store->remove(file), 0);
    ASSERT_EQ(store->write(file, runs, data), 0);
    EXPECT_EQ(store->sync(file), 0);
    fails_in = is_checked ? 3 : 2;
    EXPECT_EQ(store->sync(file), EIO) << "the folder";
    EXPECT_EQ(store->sync(other), EIO) << "which is that of other files too";
  }
  Names names(folder_.get(), 1);
  ASSERT_EQ(names.make_directory("a", 0700), 0);
  fails_in = 1;
  EXPECT_EQ(names.sync(), EIO);
  EXPECT_EQ(names.sync(), EIO);
}

/// Checksums that the same flush had to write may be lost with it.
// proves listio: failed-flush-writes
TEST_F(SyncTest, AWriteFailsOnceTheFlushBeforeItHasFailed) {
  constexpr FileId file = 7, other = 9;
  std::array<std::byte, 10> data{};
  const std::array<ByteRun, 1> runs{ByteRun{0, data.size()}};
  const auto store = make_checked_store(folder_.get(), {}, 0);
  const auto write = [&](FileId each, int value) {
    data.fill(static_cast<std::byte>(value));
    return store->write(each, runs, data);
  };
  for (const FileId each : {file, other}) {
    ASSERT_EQ(write(each, 1), 0);
    ASSERT_EQ(store->sync(each), 0);
  }
  fails_in = 1;
  EXPECT_EQ(write(file, 2), EIO);
  EXPECT_EQ(write(file, 3), EIO) << "the next flush succeeds, whatever the last one has lost";
  EXPECT_EQ(store->truncate(file, 5), EIO);
  EXPECT_EQ(store->sync(file), EIO);
  auto extent = DataStore::Extent::whole;
  EXPECT_EQ(store->read(file, runs, data, extent), 0);
  EXPECT_EQ(data[0], std::byte{1}) << "nothing was changed";
  EXPECT_EQ(write(other, 2), 0);
  EXPECT_EQ(store->remove(file), 0);
  EXPECT_EQ(write(file, 2), 0);
  EXPECT_EQ(store->sync(file), 0);
}

// proves listio: unlink-rename, unlink-durable
TEST(RemovalTest, DataGoAfterTheirNamesAreGoneForGood) {
  constexpr int files = 20;
  const Service service(1);
  const auto data_files = [&] {
    int count = 0;
    for (const auto& each : std::filesystem::recursive_directory_iterator(service.folder() + "/server-0/data"))
      count += each.is_regular_file() ? 1 : 0;
    return count;
  };
  Client client(service.volume(), {});
  const std::array<std::byte, 10> data{};
  for (int i = 0; i < files; ++i) client.write(client.open(std::to_string(i), Creation::exclusive), data, 0);
  client.sync_names();
  for (int i = 0; i < files; ++i) {
    const int left = data_files(), syncs = fsyncs;
    client.unlink(std::to_string(i));
    const bool is_gone = data_files() < left;
    EXPECT_TRUE(is_gone || i > 0) << "the first one goes at once";
    EXPECT_GE(fsyncs, is_gone ? syncs + 2 : syncs) << "the directory, and the folder of the copy";
  }
  client.finish_removals();
  EXPECT_EQ(data_files(), 0);
  EXPECT_FALSE(client.removals_are_waiting());
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
