#include "listio/server/name_changes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace strider::listio {
namespace {

using Paths = std::vector<std::string>;

Paths take_all(NameChanges& changes) {
  Paths paths;
  for (unsigned turn = 0; turn < NameChanges::turns; ++turn) {
    const std::size_t before = paths.size(), left = changes.left(turn);
    while (const auto path = changes.next(turn)) paths.push_back(*path);
    EXPECT_EQ(paths.size(), before + left);
  }
  return paths;
}

Paths synced(NameChanges& changes) {
  changes.begin_sync();
  return take_all(changes);
}

TEST(NameChangesTest, FilesComeFirstAndDirectoriesThatLostANameLast) {
  NameChanges changes;
  changes.lose("names/a");
  changes.gain("names/b");
  changes.gain("names/c");
  changes.lose("names/c");
  changes.change("names/z");
  EXPECT_EQ(synced(changes), (Paths{"names/z", "names/b", "names/c", "names/a"}));
  EXPECT_EQ(synced(changes), Paths{}) << "each once";
}

TEST(NameChangesTest, PathsFollowTheirDirectoriesAlsoDuringASync) {
  NameChanges changes;
  for (const char* const path : {"names/a", "names/a/x", "names/a/b/y", "names/a0", "names/a-b"}) changes.change(path);
  changes.rename("names/a", "names/n");
  changes.begin_sync();
  changes.change("names/n/new");
  changes.rename("names/n/b", "names/m");
  EXPECT_EQ(take_all(changes), (Paths{"names/a-b", "names/a0", "names/m/y", "names/n", "names/n/x"}));
  EXPECT_EQ(synced(changes), Paths{"names/n/new"}) << "what changed after the begin belongs to the next one";
}

TEST(NameChangesTest, DirectoriesOfNamesCanBeSyncedAlone) {
  NameChanges changes;
  changes.change("names/a/new");
  changes.gain("names/a");
  changes.lose("names");
  changes.lose("entries/12");
  changes.gain("entries/13");
  changes.begin_sync(SyncNamesRequest::Part::directories);
  EXPECT_EQ(take_all(changes), (Paths{"names/a", "entries/12", "names"}));
  EXPECT_EQ(synced(changes), (Paths{"names/a/new", "entries/13"}));
  changes.change("names/replacing");
  changes.hurry("names/replacing");
  changes.hurry("names/unchanged");
  changes.begin_sync(SyncNamesRequest::Part::directories);
  EXPECT_EQ(take_all(changes), Paths{"names/replacing"}) << "data of what it replaced are to be removed";
}

TEST(NameChangesTest, WhatIsGoneIsForgottenAndWhatFailedIsKept) {
  NameChanges changes;
  changes.change("names/a");
  changes.change("names/b");
  changes.begin_sync();
  changes.forget("names/a");
  EXPECT_EQ(take_all(changes), Paths{"names/b"});
  changes.keep("names/b");
  EXPECT_EQ(changes.size(), 1U);
  EXPECT_EQ(synced(changes), Paths{"names/b"});
  EXPECT_EQ(changes.size(), 0U);
}

}  // namespace
}  // namespace strider::listio
