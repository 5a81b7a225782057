#include "listio/mount/file_system.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "client_calls.hpp"
#include "foundation/error.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

class FileSystemTest : public testing::Test {
 protected:
  /// A new file that is open on the mount.
  std::uint64_t open_new(const std::string& path) {
    const File file = client.open(path, Creation::exclusive);
    const FileStat found = client.stat(path);
    return system.opened(file, system.nodes.look_up(path, FileSystem::identity_of(found)), found);
  }
  std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const auto& each : client.read_directory("")) found.push_back(each.name);
    return found;
  }

  Service service{2};
  Client client{service.volume()};
  FileSystem system{client, {}};
};

TEST_F(FileSystemTest, ARenameThatFailsLeavesAnOpenTargetItsName) {
  const std::uint64_t target = open_new("target");
  EXPECT_THROW(system.rename("missing", "target"), IoError);
  EXPECT_EQ(names(), std::vector<std::string>{"target"});
  EXPECT_EQ(system.nodes.path(system.handle(target).node), "target");
  system.closed(target);
  EXPECT_EQ(names(), std::vector<std::string>{"target"});
}

TEST_F(FileSystemTest, WhatIsReplacedWhileOpenGoesWithItsLastClose) {
  const std::uint64_t one = open_new("target"), source = open_new("source");
  const std::uint64_t two = system.opened(system.handle(one).file, system.handle(one).node, {});
  system.rename("source", "target");
  EXPECT_EQ(names().size(), 2);
  system.closed(one);
  EXPECT_EQ(names().size(), 2);
  system.closed(two);
  EXPECT_EQ(names(), std::vector<std::string>{"target"});
  EXPECT_EQ(client.stat("target").id, system.handle(source).file.id);
}

TEST_F(FileSystemTest, WhatIsRemovedWhileOpenIsHiddenAndGoesWithItsLastClose) {
  const std::uint64_t file = open_new("file");
  system.unlink("file");
  ASSERT_EQ(names().size(), 1);
  EXPECT_TRUE(FileSystem::is_aside(names().front()));
  system.closed(file);
  EXPECT_TRUE(names().empty());
  EXPECT_EQ(client.check().data_files, 0);
}

TEST_F(FileSystemTest, ARenameOntoItselfChangesNothing) {
  const std::uint64_t file = open_new("file");
  system.rename("file", "file");
  EXPECT_EQ(names(), std::vector<std::string>{"file"});
  EXPECT_EQ(system.nodes.path(system.handle(file).node), "file");
}

class LostChangesTest : public FileSystemTest {
 protected:
  /// The first call on the lost connection fails.
  void restart(std::uint32_t server) {
    service.stop(server);
    service.start(server);
    EXPECT_THROW(client.status(server), IoError);
    client.status(server);
  }
  std::uint64_t open_again(std::uint64_t handle) {
    return system.opened(system.handle(handle).file, system.handle(handle).node, {});
  }
  void write(std::uint64_t handle) { client.write(system.handle(handle).file, std::vector<std::byte>(131072), 0); }
  int sync(std::uint64_t handle) {
    return error_of([&] { system.sync_file(system.handle(handle)); });
  }
  int sync_names(std::uint64_t& losses) {
    return error_of([&] { system.sync_names(losses); });
  }
};

// proves listio: mount-lost-changes
TEST_F(LostChangesTest, EachOpenHandleReportsLostDataOnce) {
  const std::uint64_t one = open_new("file"), two = open_again(one), other = open_new("other");
  EXPECT_EQ(sync(one), 0);
  write(one);
  restart(1);
  EXPECT_EQ(sync(two), EIO);
  const std::uint64_t later = open_again(one);
  EXPECT_EQ(sync(one), EIO) << "it has written";
  for (const std::uint64_t each : {one, two, later, other}) EXPECT_EQ(sync(each), 0);
}

// proves listio: mount-lost-changes
TEST_F(LostChangesTest, EachOpenFileAndDirectoryReportsLostNamesOnce) {
  const std::uint64_t one = open_new("file"), two = open_new("other");
  std::uint64_t directory = system.name_losses();
  EXPECT_EQ(sync(one), 0);
  client.make_directory("directory");
  restart(0);
  EXPECT_EQ(sync(one), EIO);
  EXPECT_EQ(sync(two), EIO);
  EXPECT_EQ(sync_names(directory), EIO);
  EXPECT_EQ(sync(open_new("later")), 0);
  for (const std::uint64_t each : {one, two}) EXPECT_EQ(sync(each), 0);
  EXPECT_EQ(sync_names(directory), 0);
}

// proves listio: mount-lost-changes
TEST_F(LostChangesTest, ADirectoryThatFindsLostNamesTellsFiles) {
  const std::uint64_t file = open_new("file");
  std::uint64_t directory = system.name_losses();
  restart(0);
  EXPECT_EQ(sync_names(directory), EIO);
  EXPECT_EQ(sync(file), EIO);
  EXPECT_EQ(sync(file), 0);
}

}  // namespace
}  // namespace strider::listio
