// Names, the copies of their entries, and repairs.
#include "listio/server/names.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "corruption.hpp"
#include "listio/server/small_files.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

constexpr std::uint32_t servers = 4;
constexpr LayoutWords layout{4, 3, 65536};

class NamesTest : public testing::Test {
 protected:
  FileId create(const std::string& path) {
    Entry entry;
    EXPECT_EQ(names_.open({path, Creation::exclusive, 0640, layout}, entry), 0) << path;
    return entry.file;
  }
  std::string file(const std::string& path) const { return place_.path() + "/names/" + path; }
  std::string copy(FileId file) const {
    const std::string digits = digits_of(file);
    return place_.path() + "/entries/" + digits.substr(14) + "/" + digits;
  }
  static void damage(const std::string& path, std::uint64_t place = 30) {
    std::fstream stream(path, std::ios::in | std::ios::out);
    stream.seekg(static_cast<std::streamoff>(place));
    const char letter = static_cast<char>(stream.get() ^ 1);
    stream.seekp(static_cast<std::streamoff>(place));
    stream.put(letter);
  }
  EntryCheck check(const std::string& path) {
    EntryCheck check;
    EXPECT_EQ(names_.check_entry(path, check), 0) << path;
    return check;
  }
  CopyCheck check(FileId file) {
    CopyCheck check;
    EXPECT_EQ(names_.check_copy(file, check), 0);
    return check;
  }
  Errno repair(NameRepair repair, FileId file, const std::string& path, std::string* now = nullptr) {
    NamesState state;
    EXPECT_EQ(names_.state(state), 0);
    LinkText text;
    const Errno error = names_.repair({repair, state.generation, file, path}, text);
    if (now != nullptr) *now = text.text;
    return error;
  }
  std::uint64_t set_aside() const {
    NamesState state;
    EXPECT_EQ(names_.state(state), 0);
    return state.set_aside;
  }

  TemporaryFolder place_;
  Descriptor folder_{::open(place_.path().c_str(), O_RDONLY | O_DIRECTORY)};
  Names names_{folder_.get(), servers};
};

// proves listio: entries-folder
TEST_F(NamesTest, AFileHasACopyOfItsEntryAsLongAsAName) {
  Orphan orphan;
  ASSERT_EQ(names_.make_directory("a", 0700), 0);
  const FileId first = create("a/one"), second = create("two");
  EXPECT_EQ(check("a/one").copy, CopyState::whole);
  CopyCheck found = check(first);
  EXPECT_EQ(found.state, CopyState::whole);
  EXPECT_TRUE(found.is_named);
  EXPECT_EQ(found.path, "a/one");
  EXPECT_EQ(found.layout, layout);

  ASSERT_EQ(names_.rename("a/one", "two", orphan), 0);
  EXPECT_EQ(orphan.file, second);
  EXPECT_EQ(check(second).state, CopyState::missing) << "it was replaced";
  EXPECT_EQ(check(first).path, "two") << "the copy follows";
  EXPECT_EQ(names_.rename("two", "none/two", orphan), ENOENT);
  EXPECT_EQ(names_.rename("two", "a", orphan), EISDIR);
  EXPECT_TRUE(check(first).is_named) << "nothing was renamed";

  ASSERT_EQ(names_.unlink("two", orphan), 0);
  EXPECT_EQ(check(first).state, CopyState::missing);
  DataPage page;
  ASSERT_EQ(names_.list_copies(0, page), 0);
  EXPECT_TRUE(page.files.empty());
}

// proves listio: check-moving-directories
TEST_F(NamesTest, ADirectoryThatIsRenamedIsCounted) {
  Orphan orphan;
  NamesState before, after;
  ASSERT_EQ(names_.make_directory("a", 0700), 0);
  const FileId id = create("a/one");
  ASSERT_EQ(names_.state(before), 0);
  ASSERT_EQ(names_.rename("a/one", "a/two", orphan), 0);
  ASSERT_EQ(names_.state(after), 0);
  EXPECT_EQ(after.generation, before.generation) << "its copy says where a file is";
  ASSERT_EQ(names_.rename("a", "b", orphan), 0);
  ASSERT_EQ(names_.state(after), 0);
  EXPECT_NE(after.generation, before.generation);
  EXPECT_FALSE(check(id).is_named);
  LinkText now;
  EXPECT_EQ(names_.repair({NameRepair::restore, before.generation, id, ""}, now), EAGAIN);
  EXPECT_EQ(check("b/two").copy, CopyState::whole);
}

// proves listio: mount-moved-elsewhere
TEST_F(NamesTest, AFileOrDirectoryIsFoundByItsNumberWhereverItIs) {
  Orphan orphan;
  const auto number_of = [&](const std::string& path) {
    Entry entry;
    EXPECT_EQ(names_.stat(path, entry), 0) << path;
    return entry.file;
  };
  const auto place_of = [&](FileId file, EntryKind kind) {
    std::string path;
    const Errno error = names_.locate({file, kind}, path);
    return error == ENOENT ? "nowhere" : path;
  };
  ASSERT_EQ(names_.make_directory("a", 0700), 0);
  ASSERT_EQ(names_.make_directory("a/b", 0700), 0);
  const FileId file = create("a/b/file"), outer = number_of("a"), inner = number_of("a/b");
  ASSERT_EQ(names_.rename("a", "c", orphan), 0);
  ASSERT_EQ(names_.make_directory("a", 0700), 0);
  EXPECT_NE(number_of("a"), outer);
  EXPECT_EQ(place_of(outer, EntryKind::directory), "c");
  EXPECT_EQ(place_of(inner, EntryKind::directory), "c/b");
  EXPECT_EQ(place_of(file, EntryKind::file), "c/b/file");
  EXPECT_EQ(names_.set({"a", 0750, SetEntryRequest::keep_time, outer}), ESTALE);
  EXPECT_EQ(names_.set({"c", 0750, SetEntryRequest::keep_time, outer}), 0);
  EXPECT_EQ(place_of(file, EntryKind::directory), "nowhere");
  ASSERT_EQ(names_.unlink("c/b/file", orphan), 0);
  EXPECT_EQ(place_of(file, EntryKind::file), "nowhere");
  ASSERT_EQ(names_.remove_directory("c/b"), 0);
  ASSERT_EQ(names_.make_directory("c/b", 0700), 0);
  EXPECT_NE(number_of("c/b"), inner) << "of another directory, which may have the inode of the removed one";
}

// proves listio: damaged-name-kept
TEST_F(NamesTest, ADamagedEntryIsNeitherRemovedNorReplaced) {
  Orphan orphan;
  Entry entry;
  create("one");
  create("two");
  damage(file("one"));
  EXPECT_EQ(names_.unlink("one", orphan), EUCLEAN);
  EXPECT_EQ(names_.rename("one", "three", orphan), EUCLEAN);
  EXPECT_EQ(names_.rename("two", "one", orphan), EUCLEAN);
  EXPECT_EQ(names_.open({"one", Creation::if_missing, 0640, layout}, entry), EUCLEAN);
  EXPECT_EQ(names_.damage_of("one"), "name entry of one is damaged: its checksum is not that of its text");
  EXPECT_EQ(names_.stat("two", entry), 0);
  EXPECT_EQ(check("one").state, EntryState::damaged);
}

TEST_F(NamesTest, AnyCorruptByteOfAnEntryIsFoundAndNamed) {
  std::mt19937 random(11);
  const FileId id = create("one"), other = create("two");
  const auto bytes = std::filesystem::file_size(file("one"));
  for (int left = corruptions(250); left > 0; --left) {
    const std::uint64_t place = random() % bytes;
    const auto change = static_cast<unsigned>(1 + random() % 255);
    corrupt(file("one"), place, change);
    Entry entry;
    ASSERT_EQ(names_.stat("one", entry), EUCLEAN) << place << " by " << change;
    ASSERT_EQ(names_.damage_of("one").find("name entry of one is damaged: "), 0U) << place << " by " << change;
    ASSERT_EQ(names_.stat("two", entry), 0);
    ASSERT_EQ(entry.file, other);
    corrupt(file("one"), place, change);
    ASSERT_EQ(names_.stat("one", entry), 0);
    ASSERT_EQ(entry.file, id);
  }
}

TEST_F(NamesTest, AnyCorruptByteOfACopyIsFoundAndLeavesTheName) {
  std::mt19937 random(12);
  const FileId id = create("one");
  const auto bytes = std::filesystem::file_size(copy(id));
  for (int left = corruptions(250); left > 0; --left) {
    const std::uint64_t place = random() % bytes;
    const auto change = static_cast<unsigned>(1 + random() % 255);
    corrupt(copy(id), place, change);
    ASSERT_EQ(check("one").copy, CopyState::damaged) << place << " by " << change;
    ASSERT_EQ(check(id).state, CopyState::damaged) << place << " by " << change;
    Entry entry;
    ASSERT_EQ(names_.stat("one", entry), 0);
    ASSERT_EQ(entry.file, id);
    corrupt(copy(id), place, change);
    ASSERT_EQ(check(id).state, CopyState::whole);
  }
}

TEST_F(NamesTest, AnEntryIsRewrittenFromItsCopy) {
  const FileId id = create("one"), other = create("two");
  ASSERT_EQ(names_.set({"one", 0604, 1'600'000'000'000'000'000}), 0);
  damage(file("one"));
  EXPECT_EQ(repair(NameRepair::rewrite_entry, other, "one"), EEXIST) << "two has a name";
  EXPECT_EQ(repair(NameRepair::rewrite_entry, id, "two"), EEXIST) << "two is whole";
  EXPECT_EQ(repair(NameRepair::rewrite_entry, id + 1, "one"), ENOENT) << "no such copy";
  ASSERT_EQ(repair(NameRepair::rewrite_entry, id, "one"), 0);
  Entry entry;
  ASSERT_EQ(names_.stat("one", entry), 0);
  EXPECT_EQ(entry.file, id);
  EXPECT_EQ(entry.layout, layout);
  EXPECT_EQ(entry.mode, 0604);
  EXPECT_EQ(check("one").copy, CopyState::whole);
}

// proves listio: repair-copy
TEST_F(NamesTest, ACopyIsRewrittenFromItsEntry) {
  const FileId id = create("one");
  damage(copy(id));
  EXPECT_EQ(check("one").copy, CopyState::damaged);
  EXPECT_EQ(check(id).state, CopyState::damaged);
  ASSERT_EQ(repair(NameRepair::rewrite_copy, 0, "one"), 0);
  EXPECT_EQ(check("one").copy, CopyState::whole);
  std::filesystem::remove(copy(id));
  EXPECT_EQ(check("one").copy, CopyState::missing);
  ASSERT_EQ(repair(NameRepair::rewrite_copy, 0, "one"), 0);
  EXPECT_TRUE(check(id).is_named);
}

TEST_F(NamesTest, AnEntryOfAnOlderReleaseGetsAChecksumAndACopy) {
  std::ofstream(file("old")) << write_old_entry(7, layout);
  EXPECT_EQ(check("old").state, EntryState::unchecked);
  EXPECT_EQ(check("old").copy, CopyState::missing);
  ASSERT_EQ(repair(NameRepair::rewrite_copy, 0, "old"), 0);
  EXPECT_EQ(check("old").state, EntryState::whole);
  EXPECT_EQ(check("old").entry.file, 7);
  EXPECT_TRUE(check(FileId{7}).is_named);
}

// proves listio: repair-damaged-copy
TEST_F(NamesTest, WhatNothingExplainsIsPutAside) {
  const FileId id = create("one");
  EXPECT_EQ(repair(NameRepair::set_aside_entry, 0, "one"), EEXIST) << "it is whole";
  EXPECT_EQ(repair(NameRepair::set_aside_copy, id, ""), EEXIST) << "it is whole";
  EXPECT_EQ(set_aside(), 0);
  std::ofstream(file("one"), std::ios::trunc) << "what was there";
  std::string now;
  ASSERT_EQ(repair(NameRepair::set_aside_entry, 0, "one", &now), 0);
  std::string text;
  std::getline(std::ifstream(place_.path() + "/" + now), text);
  EXPECT_EQ(text, "what was there") << now;
  EXPECT_FALSE(std::filesystem::exists(file("one")));
  damage(copy(id));
  ASSERT_EQ(repair(NameRepair::set_aside_copy, id, "", &now), 0);
  EXPECT_TRUE(std::filesystem::exists(place_.path() + "/" + now)) << now;
  EXPECT_EQ(check(id).state, CopyState::missing);
  EXPECT_EQ(set_aside(), 2);
}

// proves listio: repair-name
TEST_F(NamesTest, ALostNameIsRestoredWhereItWasOrUnderItsNumber) {
  ASSERT_EQ(names_.make_directory("a", 0700), 0);
  const FileId first = create("a/one"), second = create("two");
  EXPECT_EQ(repair(NameRepair::restore, first, ""), EEXIST) << "it has a name";
  std::filesystem::remove_all(file(""));
  std::filesystem::create_directory(file(""));
  Names names(folder_.get(), servers);
  NamesState state;
  LinkText now;
  ASSERT_EQ(names.state(state), 0);
  ASSERT_EQ(names.repair({NameRepair::restore, state.generation, first, ""}, now), 0);
  EXPECT_EQ(now.text, "lost+found/a/one");
  Entry entry;
  ASSERT_EQ(names.stat("lost+found/a/one", entry), 0);
  EXPECT_EQ(entry.file, first);
  EXPECT_EQ(entry.mode, 0640);
  // Another file has taken the name meanwhile.
  ASSERT_EQ(names.open({"lost+found/two", Creation::exclusive, 0640, layout}, entry), 0);
  ASSERT_EQ(names.repair({NameRepair::restore, state.generation, second, ""}, now), 0);
  EXPECT_EQ(now.text, "lost+found/" + digits_of(second));
  EXPECT_EQ(names.repair({NameRepair::restore, state.generation, second, ""}, now), EEXIST) << "it has a name now";
}

TEST_F(NamesTest, AnEntryThatIsThatOfAnotherFileIsDamaged) {
  const FileId id = create("one");
  create("two");
  std::filesystem::copy_file(file("two"), file("one"), std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(check("two").state, EntryState::whole);
  EXPECT_EQ(check("one").state, EntryState::damaged);
  EXPECT_EQ(check("one").damage, "it is that of two");
  ASSERT_EQ(repair(NameRepair::rewrite_entry, id, "one"), 0);
  EXPECT_EQ(check("one").entry.file, id);
}

TEST_F(NamesTest, WhatIsNoRegularFileIsADamagedEntry) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  Entry entry;
  EXPECT_EQ(names_.stat("pipe", entry), EUCLEAN);
  ASSERT_EQ(repair(NameRepair::set_aside_entry, 0, "pipe"), 0);
  EXPECT_EQ(names_.stat("pipe", entry), ENOENT);
}

TEST_F(NamesTest, ListsEveryCopyOnce) {
  std::set<FileId> made, listed;
  for (int i = 0; i < 4500; ++i) made.insert(create("file-" + std::to_string(i)));
  std::uint64_t cookie = 0;
  do {
    DataPage page;
    ASSERT_EQ(names_.list_copies(cookie, page), 0);
    for (const auto& each : page.files) EXPECT_TRUE(listed.insert(each.file).second);
    cookie = page.cookie;
  } while (cookie != 0);
  EXPECT_EQ(listed, made);
}

}  // namespace
}  // namespace strider::listio
