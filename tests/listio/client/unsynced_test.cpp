// A server that is started again may have lost unsynced data: a sync reports it.
#include "listio/client/unsynced.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

class UnsyncedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client.connect();
    other.connect();
  }
  /// The first call on a connection that is lost fails, of any kind.
  void restart(std::uint32_t server) {
    service.stop(server);
    service.start(server);
    for (Client* const each : {&client, &other}) {
      EXPECT_THROW(each->status(server), IoError);
      each->status(server);
    }
  }
  void write(Client& by, const File& file) { by.write(file, bytes, 0); }
  /// The error with which a call fails, which has to be EIO; empty if it succeeds.
  static std::string problem_of(const std::function<void()>& call) {
    try {
      call();
      return "";
    } catch (const IoError& error) {
      EXPECT_EQ(error.details().error_number, EIO) << error.what();
      return error.what();
    }
  }
  std::string problem_of_sync(const File& file) {
    return problem_of([&] { client.sync(file); });
  }

  Service service{2};
  Client client{service.volume()}, other{service.volume()};
  std::vector<std::byte> bytes{131072, std::byte{7}};
};

// proves listio: eio-after-restart, sync-after-eio
TEST_F(UnsyncedTest, ASyncNamesTheServerThatMayHaveLostData) {
  const File file = client.open("file", Creation::if_missing);
  client.sync(file);
  write(client, file);
  restart(1);
  EXPECT_NE(problem_of_sync(file).find("server 1 (" + service.volume().servers[1] + ") was started again"),
            std::string::npos);
  write(client, file);
  EXPECT_EQ(problem_of_sync(file), "") << "what was written since is there";
}

// proves listio: eio-after-restart
TEST_F(UnsyncedTest, ASyncNamesTheFirstServerThatMayHaveLostChanges) {
  const File file = client.open("file", Creation::if_missing);
  write(client, file);
  restart(1);
  restart(0);
  EXPECT_NE(problem_of_sync(file).find("server 0 ("), std::string::npos);
  EXPECT_EQ(problem_of_sync(file), "");
}

TEST_F(UnsyncedTest, AWriteCountsAsSoonAsItIsFoundDone) {
  const File file = client.open("file", Creation::if_missing);
  client.sync(file);
  const iovec memory{bytes.data(), bytes.size()};
  const ByteRun run{0, bytes.size()};
  const Client::Ticket ticket = client.start_write_list(file, {&memory, 1}, {&run, 1});
  while (!client.is_done(ticket)) {
  }
  restart(1);
  EXPECT_NE(problem_of_sync(file), "");
  client.wait(ticket);
  EXPECT_EQ(problem_of_sync(file), "") << "it counts once";
}

// proves listio: eio-after-restart
TEST_F(UnsyncedTest, ATruncationMayBeLostAsWell) {
  const File file = client.open("file", Creation::if_missing);
  client.sync(file);
  client.truncate(file, 100);
  restart(1);
  EXPECT_NE(problem_of_sync(file), "");
}

// proves listio: eio-after-restart
TEST_F(UnsyncedTest, OtherFilesAndWhatWasSyncedAreNotDoubted) {
  const File file = client.open("file", Creation::if_missing), second = client.open("other", Creation::if_missing);
  write(client, file);
  write(client, second);
  client.sync(file);
  restart(1);
  client.read(file, bytes, 0);
  EXPECT_EQ(problem_of_sync(file), "");
  EXPECT_NE(problem_of_sync(second), "");
}

// proves listio: eio-after-restart
TEST_F(UnsyncedTest, ASyncNamesTheServerThatMayHaveLostNames) {
  client.make_directory("directory");
  restart(0);
  EXPECT_NE(problem_of([&] { client.sync_names(); }).find("server 0 ("), std::string::npos);
  EXPECT_EQ(problem_of([&] { client.sync_names(); }), "");
  const File file = client.open("directory/file", Creation::if_missing);
  restart(0);
  EXPECT_NE(problem_of_sync(file), "") << "its name may be lost";
}

// proves listio: eio-names
TEST_F(UnsyncedTest, ANameThatAnotherClientMadeMayBeLost) {
  other.open("file", Creation::if_missing);
  const File file = client.open("file");
  restart(0);
  write(client, file);
  EXPECT_NE(problem_of_sync(file).find("server 0 ("), std::string::npos);
  EXPECT_EQ(problem_of_sync(file), "") << "once";
}

// proves listio: eio-names
TEST_F(UnsyncedTest, ANameThatWasSyncedOrFoundSinceIsNotDoubted) {
  other.open("file", Creation::if_missing);
  const File file = client.open("file");
  client.sync(file);
  restart(0);
  write(client, file);
  EXPECT_EQ(problem_of_sync(file), "");
  client.open("file");
  restart(0);
  client.open("file");
  EXPECT_EQ(problem_of_sync(file), "");
}

// proves listio: own-changes
TEST_F(UnsyncedTest, EachClientHearsOfItsOwnChangesAlone) {
  const File file = client.open("file", Creation::if_missing);
  client.sync(file);
  write(client, file);
  restart(1);
  EXPECT_EQ(problem_of([&] { other.sync(file); }), "");
  EXPECT_NE(problem_of_sync(file), "");
}

TEST_F(UnsyncedTest, WhoWroteHearsAfterTheSyncOfAnother) {
  const File file = client.open("file", Creation::if_missing);
  client.sync(file);
  const auto confirm_after_sync_of_other = [&] {
    const UnsyncedChanges changes = client.take_unsynced(file);
    other.send_sync(file);
    return problem_of([&] { client.confirm_sync(file, changes); });
  };
  write(client, file);
  EXPECT_EQ(confirm_after_sync_of_other(), "");
  write(client, file);
  restart(1);
  EXPECT_NE(confirm_after_sync_of_other(), "");
  EXPECT_EQ(confirm_after_sync_of_other(), "") << "once";
}

TEST_F(UnsyncedTest, WhatIsWrittenDuringASyncCountsForTheNext) {
  const File file = client.open("file", Creation::if_missing);
  const UnsyncedChanges changes = client.take_unsynced(file);
  other.send_sync(file);
  write(client, file);
  EXPECT_EQ(problem_of([&] { client.confirm_sync(file, changes); }), "");
  restart(1);
  EXPECT_NE(problem_of_sync(file), "");
}

TEST_F(UnsyncedTest, WhatASyncCouldNotFlushCountsForTheNext) {
  const File file = client.open("file", Creation::if_missing);
  client.sync(file);
  write(client, file);
  service.stop(1);
  EXPECT_THROW(client.sync(file), IoError);
  service.start(1);
  EXPECT_NE(problem_of_sync(file), "");
}

TEST_F(UnsyncedTest, ASyncOfAllConfirmsNamesToo) {
  const File file = client.open("file", Creation::if_missing);
  const UnsyncedChanges changes = client.take_unsynced(file);
  restart(0);
  client.send_sync(file);
  EXPECT_NE(problem_of([&] { client.confirm_sync(file, changes); }), "") << "its name may be lost";
}

/// The name may be back: then a file without its data would be.
// proves listio: unsynced-removal
TEST_F(UnsyncedTest, DataStayIfTheRemovalOfTheirNameMayBeLost) {
  // The first removal is synced at once, others wait for a while.
  for (int i = 0; !client.removals_are_waiting(); ++i) {
    ASSERT_LT(i, 1000);
    const std::string path = "file " + std::to_string(i);
    write(client, client.open(path, Creation::if_missing));
    client.unlink(path);
  }
  restart(0);
  client.finish_removals();
  EXPECT_EQ(client.check().orphans.size(), 2U) << "one on each server";
}

/// More files than are distinguished, changed before a restart.
class UnsyncedFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before.calls.resize(1);
    after.calls.resize(1);
    before.calls[0].process = 1;
    after.calls[0].process = 2;
    for (FileId file = 1; file <= Unsynced::most_files + 1; ++file) unsynced.changed(file, before);
  }

  std::optional<std::uint32_t> lost(FileId file, const Operation& synced) {
    return Unsynced::find_lost(unsynced.take(file).data, synced);
  }

  Operation before, after;
  Unsynced unsynced;
};

TEST_F(UnsyncedFilesTest, WhereTheyAreTooManyAllAreInDoubt) {
  EXPECT_EQ(lost(1, before), std::nullopt);
  EXPECT_EQ(lost(2, after), 0U);
  EXPECT_EQ(lost(Unsynced::most_files + 1, after), 0U);
}

TEST_F(UnsyncedFilesTest, WhereTheyAreTooManyEachIsInDoubtOnce) {
  EXPECT_EQ(lost(2, after), 0U);
  unsynced.changed(2, after);
  EXPECT_EQ(lost(2, after), std::nullopt) << "only what was changed since";
  EXPECT_EQ(lost(3, after), 0U) << "another file";
}

TEST_F(UnsyncedFilesTest, WhatIsPutBackIsInDoubtAgain) {
  unsynced.put_back(2, unsynced.take(2));
  EXPECT_EQ(lost(2, after), 0U);
}

TEST_F(UnsyncedFilesTest, WhereTooManyNamesAreFoundAllAreInDoubt) {
  for (FileId file = 1; file <= Unsynced::most_files + 1; ++file) unsynced.found_name(file, before.calls[0]);
  EXPECT_EQ(Unsynced::find_lost(unsynced.take_names().names, after), 0U);
  EXPECT_EQ(Unsynced::find_lost(unsynced.take(Unsynced::most_files + 1).names, after), 0U);
}

TEST_F(UnsyncedFilesTest, AFileIsInDoubtAgainWhenItsNewChangesAreNotToldApart) {
  EXPECT_EQ(lost(2, before), std::nullopt);
  unsynced.changed(2, before);
  const FileId others = 10 * Unsynced::most_files;
  for (FileId file = others; file <= others + Unsynced::most_files; ++file) unsynced.changed(file, before);
  EXPECT_EQ(lost(2, after), 0U);
}

}  // namespace
}  // namespace strider::listio
