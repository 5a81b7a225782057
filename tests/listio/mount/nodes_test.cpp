#include "listio/mount/nodes.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <random>

#include "foundation/error.hpp"

namespace strider::listio {
namespace {

/// Of a file or directory with this number; each path has its own unless a test says otherwise.
Nodes::Number look_up(Nodes& nodes, const std::string& path, FileId id = 0) {
  return nodes.look_up(path, {id != 0 ? id : std::hash<std::string>()(path) | 1, EntryKind::directory});
}

bool has_no_name(const Nodes& nodes, Nodes::Number number) {
  try {
    nodes.path(number);
  } catch (const IoError& error) {
    return error.details().error_number == ESTALE;
  }
  return false;
}

TEST(NodesTest, APathHasOneNodeWhileTheKernelLooksAtIt) {
  Nodes nodes;
  const auto first = look_up(nodes, "a/b");
  EXPECT_EQ(look_up(nodes, "a/b"), first);
  EXPECT_EQ(nodes.path(first), "a/b");
  nodes.forget(first, 1);
  EXPECT_EQ(nodes.path(first), "a/b");
  nodes.forget(first, 1);
  EXPECT_TRUE(has_no_name(nodes, first));
  EXPECT_NE(look_up(nodes, "a/b"), first) << "a number is never given twice";
  nodes.forget(Nodes::root, 1000);
  EXPECT_EQ(nodes.path(Nodes::root), "");
}

TEST(NodesTest, NamesAndPathsThatServersDoNotTakeAreTooLong) {
  Nodes nodes;
  const auto error_of = [&](Nodes::Number parent, std::size_t bytes) {
    try {
      nodes.child(parent, std::string(bytes, 'n'));
    } catch (const IoError& error) {
      return error.details().error_number;
    }
    return 0;
  };
  EXPECT_EQ(error_of(Nodes::root, 255), 0);
  EXPECT_EQ(error_of(Nodes::root, 256), ENAMETOOLONG);
  const auto deep = look_up(nodes, std::string(4000, 'd'));
  EXPECT_EQ(error_of(deep, 94), 0);
  EXPECT_EQ(error_of(deep, 95), ENAMETOOLONG);
}

TEST(NodesTest, WhatIsFoundElsewhereIsTheSameNode) {
  Nodes nodes;
  const auto directory = look_up(nodes, "d", 2), file = look_up(nodes, "d/f", 4);
  EXPECT_EQ(look_up(nodes, "e", 2), directory);
  EXPECT_EQ(nodes.path(file), "e/f") << "it went with its directory";
  const auto other = look_up(nodes, "e/f", 6);
  EXPECT_NE(other, file);
  EXPECT_TRUE(has_no_name(nodes, file)) << "another one has its path";
  EXPECT_EQ(look_up(nodes, "g", 4), file);
  EXPECT_EQ(nodes.path(file), "g");
  EXPECT_EQ(nodes.path(other), "e/f");
  nodes.move(other, "g");
  EXPECT_EQ(nodes.path(other), "g");
  EXPECT_TRUE(has_no_name(nodes, file));
}

TEST(NodesTest, WhatIsOpenStaysWhenTheKernelForgetsIt) {
  Nodes nodes;
  const auto node = look_up(nodes, "a");
  nodes.open(node);
  nodes.forget(node, 1);
  EXPECT_TRUE(nodes.is_open("a"));
  EXPECT_EQ(nodes.path(node), "a");
  nodes.close(node);
  EXPECT_FALSE(nodes.is_open("a"));
  EXPECT_EQ(nodes.count(), 1) << "the root";
}

TEST(NodesTest, ARenamedDirectoryTakesEverythingBelowIt) {
  Nodes nodes;
  const auto directory = look_up(nodes, "a"), file = look_up(nodes, "a/b/c", 2), other = look_up(nodes, "a.txt"),
             replaced = look_up(nodes, "x/y");
  nodes.rename("a", "x/y");
  EXPECT_EQ(nodes.path(directory), "x/y");
  EXPECT_EQ(nodes.path(file), "x/y/b/c");
  EXPECT_EQ(nodes.path(other), "a.txt");
  EXPECT_TRUE(has_no_name(nodes, replaced));
  EXPECT_EQ(look_up(nodes, "x/y/b/c", 2), file);
  nodes.rename("x/y", "x/y");
  EXPECT_EQ(nodes.path(directory), "x/y");
}

TEST(NodesTest, WhatIsRemovedHasNoNameAndGoesWithTheLastLookup) {
  Nodes nodes;
  const auto node = look_up(nodes, "a");
  nodes.remove("a");
  EXPECT_TRUE(has_no_name(nodes, node));
  EXPECT_EQ(nodes.count(), 2);
  EXPECT_NE(look_up(nodes, "a", 2), node) << "a new file of that name";
  nodes.forget(node, 1);
  EXPECT_EQ(nodes.count(), 2);
}

TEST(NodesTest, ARemovedDirectoryIsNotThereAndNotLookedForAgain) {
  Nodes nodes;
  const auto node = look_up(nodes, "a");
  nodes.remove_directory("a");
  try {
    nodes.child(node, "b");
    FAIL() << "it has no name";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().error_number, ENOENT);
  }
}

TEST(NodesTest, ChildrenOfTheRootHaveNoSlashInFront) {
  Nodes nodes;
  EXPECT_EQ(nodes.child(Nodes::root, "a"), "a");
  EXPECT_EQ(nodes.child(look_up(nodes, "a"), "b"), "a/b");
}

TEST(NodesTest, NothingIsLeftAfterAnyOrderOfCalls) {
  std::mt19937 random(1);
  const auto any_path = [&] {
    std::string path(1, static_cast<char>('a' + random() % 3));
    while (random() % 2 == 0) path += {'/', static_cast<char>('a' + random() % 3)};
    return path;
  };
  const auto any_id = [&] { return random() % 2 == 0 ? FileId{0} : 2 + random() % 5; };
  for (int round = 0; round < 200; ++round) {
    Nodes nodes;
    std::map<Nodes::Number, unsigned> lookups, opens;
    for (int i = 0; i < 100; ++i) {
      const auto from = any_path(), to = any_path();
      switch (random() % 5) {
        case 0: nodes.remove(from); break;
        case 1:
          if (!to.starts_with(from + "/") && !from.starts_with(to + "/")) nodes.rename(from, to);
          break;
        case 2: {
          const auto node = look_up(nodes, from, any_id());
          nodes.open(node);
          ++lookups[node];
          ++opens[node];
          break;
        }
        default: ++lookups[look_up(nodes, from, any_id())];
      }
    }
    for (const auto& [node, count] : opens)
      for (unsigned i = 0; i < count; ++i) nodes.close(node);
    for (const auto& [node, count] : lookups) nodes.forget(node, count);
    EXPECT_EQ(nodes.count(), 1);
  }
}

}  // namespace
}  // namespace strider::listio
