#include "listio/mount/file_system.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "foundation/error.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

class FileSystemTest : public testing::Test {
 protected:
  /// A new file that is open on the mount.
  std::uint64_t open_new(const std::string& path) {
    return system.opened(client.open(path, Creation::exclusive), system.nodes.look_up(path));
  }
  std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const auto& each : client.read_directory("")) found.push_back(each.name);
    return found;
  }

  const Service service{2};
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
  const std::uint64_t two = system.opened(system.handle(one).file, system.handle(one).node);
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

}  // namespace
}  // namespace strider::listio
