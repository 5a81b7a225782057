// What every interface has to do that offers metadata: each call its entry names works, every other one is refused.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>

#include "foundation/folder.hpp"
#include "interfaces/interface.hpp"
#include "interfaces/variants.hpp"

namespace strider {

extern const InterfaceEntry template_entry;

namespace {

/// A call of a Directory, on what a Site has.
struct Deed {
  MetadataCall call;
  const char* name;
  std::function<void(Directory&)> act;
};

class ListEntries final : public EntryVisitor {
 public:
  void entry(const char* name) override { names.emplace_back(name); }
  std::vector<std::string> names;
};

std::vector<Deed> deeds() {
  return {
      {MetadataCall::make_directory, "make_directory", [](Directory& d) { d.make_directory("new"); }},
      {MetadataCall::remove_directory, "remove_directory", [](Directory& d) { d.remove_directory("folder"); }},
      {MetadataCall::change_directory, "change_directory",
       [](Directory& d) {
         d.change_directory("folder");
         d.go_back();
       }},
      {MetadataCall::list, "list",
       [](Directory& d) {
         ListEntries entries;
         d.list("folder", entries);
       }},
      {MetadataCall::make_node, "make_node", [](Directory& d) { d.make_node("new"); }},
      {MetadataCall::open, "open",
       [](Directory& d) {
         std::array<std::byte, 5> text{};
         const auto created = d.open("new", OpenMode::create), opened = d.open("file", OpenMode::write);
         d.sync(created, "new");
         d.write(opened, std::as_bytes(std::span("text!", 5)), "file");
         d.close(created, "new");
         d.close(opened, "file");
         const auto read = d.open("file", OpenMode::read);
         EXPECT_EQ(d.read(read, text, "file"), 5U);
         d.close(read, "file");
       }},
      {MetadataCall::seek, "seek",
       [](Directory& d) {
         const auto file = d.open("file", OpenMode::read);
         d.seek_end(file, "file");
         d.close(file, "file");
       }},
      {MetadataCall::state, "state", [](Directory& d) { d.state("file"); }},
      {MetadataCall::access, "access", [](Directory& d) { d.access("file"); }},
      {MetadataCall::set_mode, "set_mode", [](Directory& d) { d.set_mode("file", 0640); }},
      {MetadataCall::set_times, "set_times", [](Directory& d) { d.set_times("file"); }},
      {MetadataCall::truncate, "truncate", [](Directory& d) { d.truncate("file", 7); }},
      {MetadataCall::rename, "rename", [](Directory& d) { d.rename("file", "new"); }},
      {MetadataCall::link, "link", [](Directory& d) { d.link("file", "new"); }},
      {MetadataCall::symbolic_link, "symbolic_link",
       [](Directory& d) {
         std::array<char, 100> text{};
         d.make_symbolic_link("file", "new");
         d.read_symbolic_link("new", text);
       }},
      {MetadataCall::attributes, "attributes",
       [](Directory& d) {
         std::array<char, 100> text{};
         d.set_attribute("file", "value");
         d.get_attribute("file", text);
       }},
      {MetadataCall::unlink, "unlink", [](Directory& d) { d.unlink("file"); }},
  };
}

/// An interface's directory on a new folder, in which are `file` and `folder`.
struct Site {
  explicit Site(const Variant& variant) : stores(variant.entry->capabilities.stores()) {
    std::filesystem::create_directory(folder.file("folder"));
    std::ofstream(folder.file("file")) << "text!";
    interface = variant.entry->make(variant.settings);
    directory = interface->open_directory(folder.file(""));
  }
  /// The errno that `act` ends with, 0 where there is no error. The error names the call and the path.
  int error_of(const std::string& path, const std::function<void(Directory&)>& act) const {
    try {
      act(*directory);
    } catch (const IoError& error) {
      EXPECT_NE(error.details().call, "");
      EXPECT_STRNE(error.what(), "");
      EXPECT_NE(error.details().file.find(path), std::string::npos) << error.details().file;
      return error.details().error_number;
    }
    return 0;
  }
  Folder folder;
  bool stores;
  std::unique_ptr<Interface> interface;
  std::unique_ptr<Directory> directory;
};

/// With its defaults: what parameters there are is about data.
std::vector<Variant> with_metadata() {
  std::vector<Variant> all;
  for (const InterfaceEntry* entry : all_interfaces())
    if (!entry->capabilities.metadata.empty()) all.push_back(variants_of(*entry).front());
  for (Variant& variant : all) std::replace(variant.name.begin(), variant.name.end(), '-', '_');
  return all;
}

class EveryDirectory : public testing::TestWithParam<Variant> {
 protected:
  bool offers(MetadataCall call) const { return GetParam().entry->capabilities.metadata.contains({call}); }
  /// Every interface can make and remove the directories that it works in, by the system's calls where it has no own.
  static bool makes_the_tree(MetadataCall call) {
    return call == MetadataCall::make_directory || call == MetadataCall::remove_directory;
  }
  bool stores() const { return GetParam().entry->capabilities.stores(); }
};

TEST_P(EveryDirectory, DoesWhatItsEntryNamesAndRefusesTheRest) {
  for (const Deed& deed : deeds()) {
    const Site site(GetParam());
    try {
      deed.act(*site.directory);
      EXPECT_TRUE(offers(deed.call) || makes_the_tree(deed.call)) << deed.name << " works and is not named";
    } catch (const IoError& error) {
      const bool not_here = error.details().error_number == EOPNOTSUPP;  // no attributes on this file system
      EXPECT_TRUE(not_here || !offers(deed.call)) << deed.name << ": " << error.what();
    }
  }
}

TEST_P(EveryDirectory, CanRemoveWhateverItCanMake) {
  EXPECT_TRUE(offers(MetadataCall::remove_directory) || !offers(MetadataCall::make_directory));
  for (const MetadataCall call :
       {MetadataCall::make_node, MetadataCall::open, MetadataCall::link, MetadataCall::symbolic_link})
    EXPECT_TRUE(offers(MetadataCall::unlink) || !offers(call));
}

TEST_P(EveryDirectory, ReportsTheStateOfAnItem) {
  if (!stores() || !offers(MetadataCall::state)) return;
  const Site site(GetParam());
  EXPECT_EQ(site.directory->state("file").type, ItemType::file);
  EXPECT_EQ(site.directory->state("file").size_bytes, 5U);
  EXPECT_EQ(site.directory->state("file").links, 1U);
  EXPECT_EQ(site.directory->state("folder").type, ItemType::directory);
  std::filesystem::create_symlink("file", site.folder.file("link"));
  EXPECT_EQ(site.directory->state("link").type, ItemType::symbolic_link) << "it is not followed";
  ASSERT_EQ(::mkfifo(site.folder.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(site.directory->state("pipe").type, ItemType::other);
}

TEST_P(EveryDirectory, ReadsBackWhatItWrote) {
  if (!stores() || !offers(MetadataCall::open)) return;
  const Site site(GetParam());
  std::vector<std::byte> written(10'000, std::byte{7}), read(20'000);
  const auto created = site.directory->open("new", OpenMode::create);
  site.directory->write(created, written, "new");
  site.directory->sync(created, "new");
  site.directory->close(created, "new");
  const auto opened = site.directory->open("new", OpenMode::read);
  ASSERT_EQ(site.directory->read(opened, read, "new"), 10'000U) << "as much as there is";
  EXPECT_TRUE(std::equal(written.begin(), written.end(), read.begin()));
  if (offers(MetadataCall::seek)) {
    EXPECT_EQ(site.directory->seek_end(opened, "new"), 10'000U);
  }
  site.directory->close(opened, "new");
}

TEST_P(EveryDirectory, ListsEveryEntryOnceHoweverManyThereAre) {
  if (!stores() || !offers(MetadataCall::list)) return;
  const Site site(GetParam());
  std::vector<std::string> wanted;
  for (int i = 100; i < 700; ++i) {  // more than fit into one call
    wanted.push_back(std::to_string(i) + std::string(200, 'x'));
    std::ofstream(site.folder.file("folder/" + wanted.back()));
  }
  ListEntries entries;
  site.directory->list("folder", entries);
  std::ranges::sort(wanted);
  std::ranges::sort(entries.names);
  EXPECT_EQ(entries.names, wanted);
}

TEST_P(EveryDirectory, SaysWhatIsMissingOrInTheWay) {
  if (!stores()) return;
  const Site site(GetParam());
  const auto missing = [&](const std::function<void(Directory&)>& act) {
    EXPECT_EQ(site.error_of("missing", act), ENOENT);
  };
  if (offers(MetadataCall::open)) {
    missing([](Directory& d) { d.open("missing", OpenMode::read); });
    missing([](Directory& d) { d.open("missing", OpenMode::write); });
    missing([](Directory& d) { d.open("missing/new", OpenMode::create); });
    EXPECT_EQ(site.error_of("file", [](Directory& d) { d.open("file", OpenMode::create); }), EEXIST);
  }
  if (offers(MetadataCall::state)) missing([](Directory& d) { d.state("missing"); });
  if (offers(MetadataCall::unlink)) missing([](Directory& d) { d.unlink("missing"); });
  if (offers(MetadataCall::list)) {
    ListEntries entries;
    missing([&](Directory& d) { d.list("missing", entries); });
  }
  if (offers(MetadataCall::change_directory)) missing([](Directory& d) { d.change_directory("missing"); });
  if (offers(MetadataCall::truncate)) missing([](Directory& d) { d.truncate("missing", 1); });
  if (offers(MetadataCall::make_directory)) {
    EXPECT_EQ(site.error_of("folder", [](Directory& d) { d.make_directory("folder"); }), EEXIST);
  }
  if (offers(MetadataCall::make_node)) {
    EXPECT_EQ(site.error_of("file", [](Directory& d) { d.make_node("file"); }), EEXIST);
  }
  std::ofstream(site.folder.file("folder/file"));
  if (offers(MetadataCall::remove_directory)) {
    EXPECT_NE(site.error_of("folder", [](Directory& d) { d.remove_directory("folder"); }), 0) << "it is not empty";
  }
}

TEST_P(EveryDirectory, LeavesNothingOpenBehind) {
  const auto open_descriptors = [] {
    const std::filesystem::directory_iterator descriptors("/proc/self/fd");
    return std::distance(begin(descriptors), end(descriptors));
  };
  const auto before = open_descriptors();
  for (const Deed& deed : deeds()) {
    const Site site(GetParam());
    try {
      deed.act(*site.directory);
      deed.act(*site.directory);  // most cannot be done twice
    } catch (const IoError&) {
    }
  }
  EXPECT_EQ(open_descriptors(), before);
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryDirectory, testing::ValuesIn(with_metadata()), name_of_test);

TEST(Interfaces, WithoutMetadataOpenNoDirectory) {
  const Folder folder;
  std::vector<const InterfaceEntry*> entries(all_interfaces().begin(), all_interfaces().end());
  entries.push_back(&template_entry);
  for (const InterfaceEntry* entry : entries) {
    if (!entry->capabilities.metadata.empty()) continue;
    const auto interface = entry->make(defaults_of(*entry));
    EXPECT_THROW(interface->open_directory(folder.file("")), IoError) << entry->name;
  }
}

TEST(Directory, RefusesEveryCallThatAnInterfaceLeavesOut) {
  class Bare final : public Directory {
  } bare;
  ListEntries entries;
  std::array<char, 10> text{};
  const std::function<void()> calls[] = {
      [&] { bare.make_directory("x"); },
      [&] { bare.remove_directory("x"); },
      [&] { bare.change_directory("x"); },
      [&] { bare.list("x", entries); },
      [&] { bare.make_node("x"); },
      [&] { bare.open("x", OpenMode::read); },
      [&] { bare.write(0, {}, "x"); },
      [&] { bare.read(0, {}, "x"); },
      [&] { bare.sync(0, "x"); },
      [&] { bare.seek_end(0, "x"); },
      [&] { bare.close(0, "x"); },
      [&] { bare.state("x"); },
      [&] { bare.access("x"); },
      [&] { bare.set_mode("x", 0600); },
      [&] { bare.set_times("x"); },
      [&] { bare.truncate("x", 1); },
      [&] { bare.rename("x", "y"); },
      [&] { bare.link("x", "y"); },
      [&] { bare.make_symbolic_link("y", "x"); },
      [&] { bare.read_symbolic_link("x", text); },
      [&] { bare.set_attribute("x", "value"); },
      [&] { bare.get_attribute("x", text); },
      [&] { bare.unlink("x"); },
  };
  for (const auto& call : calls) EXPECT_THROW(call(), IoError);
  EXPECT_NO_THROW(bare.go_back());
}

TEST(MetadataCalls, AreASet) {
  constexpr MetadataCalls some{MetadataCall::open, MetadataCall::unlink};
  static_assert(some.contains({MetadataCall::open}) && some.contains({}) && some.contains(some));
  static_assert(!some.contains({MetadataCall::open, MetadataCall::seek}) && !some.contains(MetadataCalls::all()));
  static_assert(MetadataCalls::all().contains(some) && MetadataCalls{}.empty() && !some.empty());
}

TEST(PosixDirectory, DoesNotDependOnWhereTheProcessIs) {
  const Folder folder;
  const auto home = std::filesystem::current_path();
  std::filesystem::current_path(folder.file(""));
  std::filesystem::create_directories("target/one");
  std::filesystem::create_directory("target/two");
  std::ofstream("target/file") << "text";
  const auto* entry = find_interface("posix");
  const auto interface = entry->make(defaults_of(*entry));
  const auto directory = interface->open_directory("target");
  directory->change_directory("one");
  EXPECT_NO_THROW(directory->change_directory("two")) << "not below the first one";
  EXPECT_NO_THROW(directory->truncate("file", 1));
  directory->go_back();
  EXPECT_EQ(std::filesystem::current_path(), std::filesystem::canonical(folder.file("")));
  std::filesystem::current_path(home);
}

}  // namespace
}  // namespace strider
