// What every interface that stores bytes has to do, with its defaults and with each flag and choice of its own. A new
// interface in the build list, or a module that was built, is found by itself; interfaces/template.cpp, which is not in
// the list, is tested with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "foundation/folder.hpp"
#include "interfaces/interface.hpp"
#include "interfaces/modules.hpp"
#include "interfaces/mpi_group.hpp"
#include "interfaces/variants.hpp"
#include "mpi_session.hpp"
#include "verify/data.hpp"

namespace strider {

extern const InterfaceEntry template_entry;

namespace {

class EveryInterface : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    interface_ = GetParam().entry->make(GetParam().settings);
    if (interface_->cooperation({}) != Cooperation::independent) need_mpi();
    if (!can_store(*interface_, folder_.file("probe")))
      GTEST_SKIP() << "the file system of " << testing::TempDir() << " refuses it";
  }
  void TearDown() override {
    for (const std::string& name : folder_.content()) interface_->remove(folder_.file(name));
    EXPECT_TRUE(folder_.content().empty()) << "left behind: " << folder_.content().front();
  }

  std::unique_ptr<File> open(const std::string& name, Access access, Creation creation, Place place = {},
                             std::uint64_t file_size = 16 * block) {
    return interface_->open({.path = folder_.file(name),
                             .access = access,
                             .creation = creation,
                             .file_size = file_size,
                             .place = place,
                             .group = &group_,
                             .verified = verified_});
  }
  /// Writes blocks of data that identifies itself, one request after the other.
  void write(File& file, std::initializer_list<std::uint64_t> blocks, const FileData& data) {
    for (const std::uint64_t number : blocks) {
      const Extent extent{number * block, 0, block};
      data.fill(memory_.span().first(block), extent.file_offset);
      file.write({{&extent, 1}, memory_.data()});
    }
  }
  void expect(File& file, std::initializer_list<std::uint64_t> blocks, const FileData& data) {
    for (const std::uint64_t number : blocks) {
      const Extent extent{number * block, 0, block};
      std::ranges::fill(memory_.span(), std::byte{0xa5});
      file.read({{&extent, 1}, memory_.data()});
      EXPECT_EQ(data.first_mismatch(memory_.span().first(block), extent.file_offset), std::nullopt)
          << "block " << number;
    }
  }
  void make_file(const std::string& name, std::initializer_list<std::uint64_t> blocks) {
    const auto file = open(name, Access::write, Creation::create);
    write(*file, blocks, data_);
    file->close();
  }
  /// The error that `step` ends with; a failure where there is none.
  template <typename Step>
  static IoError error_of(const Step& step) {
    try {
      step();
    } catch (const IoError& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return IoError({}, "");
  }

  Folder folder_;
  Group group_;
  Pages memory_{4 * block};
  std::unique_ptr<Interface> interface_;
  bool verified_ = false;
  FileData data_{{1, 2, 3, 4}};
};

TEST_P(EveryInterface, ReadsBackWhatItWrote) {
  make_file("file", {0, 1, 2, 3});
  const auto file = open("file", Access::read, Creation::existing);
  expect(*file, {0, 1, 2, 3}, data_);
  expect(*file, {2, 0, 3, 1}, data_);
  file->close();
}

TEST_P(EveryInterface, WritesInAnyOrderAndBeyondTheEnd) {
  make_file("file", {7, 2, 5, 0});
  const auto file = open("file", Access::read, Creation::existing);
  expect(*file, {0, 2, 5, 7}, data_);
  file->close();
}

TEST_P(EveryInterface, WritesNothingBesidesItsExtents) {
  make_file("file", {0, 1, 2, 3});
  const FileData newer({1, 2, 3, 5});
  const auto file = open("file", Access::write, Creation::existing);
  write(*file, {1, 2}, newer);
  file->close();
  const auto again = open("file", Access::read, Creation::existing);
  expect(*again, {0, 3}, data_);
  expect(*again, {1, 2}, newer);
  again->close();
}

TEST_P(EveryInterface, MovesListsBetweenPiecesOfMemoryAndOfTheFile) {
  make_file("file", {0, 1, 2, 3, 4, 5, 6, 7});
  const FileData newer({1, 2, 3, 5});
  // Two requests of the same shape, two blocks further on; the pieces of memory in another order than those of the
  // file.
  const std::array<Extent, 2> first{{{0, 2 * block, block}, {1 * block, 0, block}}};
  const std::array<Extent, 2> second{{{4 * block, 2 * block, block}, {5 * block, 0, block}}};
  const auto open_lists = [&](Access access) {
    return interface_->open({.path = folder_.file("file"),
                             .access = access,
                             .file_size = 8 * block,
                             .group = &group_,
                             .shape = {.contiguous = false, .regular = true},
                             .regular = {first, 4 * block}});
  };
  const auto written = open_lists(Access::write);
  for (const std::uint64_t number : {1U, 0U}) {
    const auto& extents = number == 0 ? first : second;
    for (const Extent& extent : extents)
      newer.fill(memory_.span().subspan(extent.memory_offset, block), extent.file_offset);
    written->write({extents, memory_.data(), number});
  }
  written->sync();
  written->close();
  const auto read = open_lists(Access::read);
  std::ranges::fill(memory_.span(), std::byte{0xa5});
  read->read({second, memory_.data(), 1});
  for (const Extent& extent : second)
    EXPECT_EQ(newer.first_mismatch(memory_.span().subspan(extent.memory_offset, block), extent.file_offset),
              std::nullopt);
  EXPECT_EQ(memory_.span()[block], std::byte{0xa5}) << "memory between the pieces";
  read->close();
  const auto again = open("file", Access::read, Creation::existing);
  expect(*again, {0, 1, 4, 5}, newer);
  expect(*again, {2, 3, 6, 7}, data_);
  again->close();
}

TEST_P(EveryInterface, ReadsAndWritesOneOpenFile) {
  make_file("file", {0, 1});
  const FileData newer({1, 2, 3, 5});
  const auto file = open("file", Access::read_write, Creation::existing);
  expect(*file, {0}, data_);
  write(*file, {0}, newer);
  expect(*file, {1}, data_);
  expect(*file, {0}, newer);
  file->sync();
  file->close();
}

TEST_P(EveryInterface, MovesRequestsOfAnyLengthWhereItAsksForNoAlignment) {
  if (interface_->alignment() > 1) return;
  std::uint64_t offset = 0;
  const auto file = open("file", Access::read_write, Creation::create);
  for (const std::uint64_t length : {1U, 7U, 512U, 4097U, 5000U}) {
    const Extent extent{offset + 3, 5, length};
    data_.fill(memory_.span().subspan(5, length), extent.file_offset);
    file->write({{&extent, 1}, memory_.data()});
    std::ranges::fill(memory_.span(), std::byte{0xa5});
    file->read({{&extent, 1}, memory_.data()});
    EXPECT_EQ(data_.first_mismatch(memory_.span().subspan(5, length), extent.file_offset), std::nullopt) << length;
    EXPECT_EQ(memory_.data()[4], std::byte{0xa5}) << "memory before the extent was touched";
    EXPECT_EQ(memory_.data()[5 + length], std::byte{0xa5}) << "memory behind the extent was touched";
    offset += length + 100;
  }
  file->close();
}

TEST_P(EveryInterface, MovesEachExtentOfARequest) {
  const Extent extents[] = {{3 * block, 0, block}, {0, 2 * block, block}, {block, block, block}};
  const auto file = open("file", Access::read_write, Creation::create);
  for (const Extent& extent : extents)
    data_.fill(memory_.span().subspan(extent.memory_offset, block), extent.file_offset);
  file->write({extents, memory_.data()});
  std::ranges::fill(memory_.span(), std::byte{0});
  file->read({extents, memory_.data()});
  for (const Extent& extent : extents)
    EXPECT_EQ(data_.first_mismatch(memory_.span().subspan(extent.memory_offset, block), extent.file_offset),
              std::nullopt);
  file->close();
}

TEST_P(EveryInterface, ARequestWithoutExtentsMovesNothing) {
  make_file("file", {0});
  const auto file = open("file", Access::read_write, Creation::existing);
  file->write({});
  file->read({});
  expect(*file, {0}, data_);
  file->close();
}

TEST_P(EveryInterface, RanksThatShareANewFileDoNotTruncateEachOther) {
  if (GetParam().entry->capabilities.format == FileFormat::own)
    return;  // one after the other is not how such a file is made
  const auto first = open("file", Access::write, Creation::create, {0, 2});
  write(*first, {0, 2}, data_);
  first->sync();
  const auto second = open("file", Access::write, Creation::create, {1, 2});
  write(*second, {1, 3}, data_);
  second->close();
  first->close();
  const auto file = open("file", Access::read, Creation::existing);
  expect(*file, {0, 1, 2, 3}, data_);
  file->close();
}

TEST_P(EveryInterface, SyncedDataIsSeenThroughAnotherOpenFile) {
  const auto writer = open("file", Access::write, Creation::create);
  write(*writer, {0, 1}, data_);
  writer->sync();
  const auto reader = open("file", Access::read, Creation::existing);
  expect(*reader, {0, 1}, data_);
  reader->close();
  writer->close();
}

TEST_P(EveryInterface, NamesTheFileThatItCannotOpen) {
  const IoError missing = error_of([&] { open("missing", Access::read, Creation::existing); });
  EXPECT_NE(missing.details().file.find("missing"), std::string::npos);
  EXPECT_NE(missing.details().call, "");
  EXPECT_STRNE(missing.what(), "");
  EXPECT_EQ(missing.details().error_number, ENOENT);
  const IoError no_folder = error_of([&] { open("folder/file", Access::write, Creation::create); });
  EXPECT_NE(no_folder.details().file.find("folder/file"), std::string::npos);
}

// proves measuring: byte-counts, mpiio-byte-counts
TEST_P(EveryInterface, AShortFileIsAnErrorThatNamesTheOffset) {
  make_file("file", {0, 1});
  if (GetParam().entry->capabilities.format ==
      FileFormat::own) {  // it knows when it opens the file, or what it reads is filled up
    std::filesystem::resize_file(folder_.file("file"), block);
    const IoError error = error_of([&] {
      const auto file = open("file", Access::read, Creation::existing);
      expect(*file, {0}, data_);
    });
    EXPECT_NE(error.details().file.find("file"), std::string::npos);
    return;
  }
  const std::uint64_t end = interface_->alignment() > 1 ? 2 * block : 2 * block - 96;
  std::filesystem::resize_file(folder_.file("file"), end);
  const auto file = open("file", Access::read, Creation::existing);
  expect(*file, {0}, data_);
  const Extent across{block, 0, 2 * block}, beyond{20 * block, 0, block};
  const IoError error = error_of([&] { file->read({{&across, 1}, memory_.data()}); });
  EXPECT_NE(error.details().file.find("file"), std::string::npos);
  EXPECT_GE(error.details().offset, block);
  EXPECT_LE(error.details().offset, end);
  EXPECT_STRNE(error.what(), "");
  EXPECT_EQ(error_of([&] { file->read({{&beyond, 1}, memory_.data()}); }).details().offset, 20 * block);
  file->close();
}

/// Of a file that is mounted and is nothing but its data.
TEST_P(EveryInterface, AListBeyondTheEndIsAnErrorWhateverALibraryCounts) {
  if (GetParam().entry->capabilities.format == FileFormat::own) return;
  make_file("file", {0, 1, 2, 3, 4, 5, 6, 7});
  const std::array<Extent, 2> first{{{0, 0, block}, {3 * block, 2 * block, block}}};
  const std::array<Extent, 2> second{{{4 * block, 0, block}, {7 * block, 2 * block, block}}};
  const std::uint64_t end = interface_->alignment() > 1 ? 7 * block : 8 * block - 300;
  std::filesystem::resize_file(folder_.file("file"), end);
  const auto file = interface_->open({.path = folder_.file("file"),
                                      .file_size = 8 * block,
                                      .group = &group_,
                                      .shape = {.contiguous = false, .regular = true},
                                      .regular = {first, 4 * block}});
  file->read({first, memory_.data(), 0});
  const IoError error = error_of([&] { file->read({second, memory_.data(), 1}); });
  EXPECT_STRNE(error.what(), "");
}

TEST_P(EveryInterface, SaysHowLongAFileIs) {
  const Capabilities& capabilities = GetParam().entry->capabilities;
  verified_ = true;
  make_file("file", {0, 1, 2});
  const auto size = [&] {
    const auto file = open("file", Access::read, Creation::existing);
    const std::uint64_t bytes = file->size();
    file->close();
    return bytes;
  };
  const std::uint64_t written = (interface_->sizes_new_files() ? 16 : 3) * block;
  EXPECT_GE(size(), written);
  EXPECT_LE(size(), capabilities.format == FileFormat::own ? 16 * block : written);
  const std::uint64_t on_disk = std::filesystem::file_size(folder_.file("file"));
  std::filesystem::resize_file(folder_.file("file"), on_disk + 100);
  EXPECT_EQ(size(), (capabilities.format == FileFormat::own ? 16 * block : written) + 100);
  std::filesystem::resize_file(folder_.file("file"), on_disk - 300);
  try {
    EXPECT_LT(size(), written);
  } catch (const IoError&) {  // a format may know by itself
    EXPECT_TRUE(capabilities.format == FileFormat::own);
  }
}

TEST_P(EveryInterface, ReadsPlainlyWhateverItsParametersSay) {
  make_file("file", {0, 1, 2, 3});
  const RequestShape plain{.contiguous = true, .regular = false, .plain = true};
  EXPECT_NE(interface_->cooperation(plain), Cooperation::collective);
  const auto file =
      interface_->open({.path = folder_.file("file"), .file_size = 16 * block, .group = &group_, .shape = plain});
  expect(*file, {2, 0, 3, 1, 2}, data_);
  file->close();
}

TEST_P(EveryInterface, RemovesAFileAndDoesNotMindAMissingOne) {
  make_file("file", {0});
  interface_->remove(folder_.file("file"));
  EXPECT_TRUE(folder_.content().empty());
  EXPECT_NO_THROW(interface_->remove(folder_.file("file")));
}

TEST_P(EveryInterface, LeavesNothingOpenBehind) {
  const auto open_descriptors = [] {
    const std::filesystem::directory_iterator descriptors("/proc/self/fd");
    return std::distance(begin(descriptors), end(descriptors));
  };
  make_file("file", {0});
  const auto before = open_descriptors();
  for (int i = 0; i < 5; ++i) open("file", Access::read, Creation::existing);  // the destructor closes
  open("file", Access::read, Creation::existing)->close();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(EveryInterface, ItsFactsHaveNames) {
  const auto file = open("file", Access::write, Creation::create);
  for (const auto& [name, value] : file->facts()) EXPECT_NE(name, "");
  file->close();
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryInterface, testing::ValuesIn(all_variants()), name_of_test);

TEST(Interfaces, DescribeThemselves) {
  for (const InterfaceEntry* entry : all_interfaces()) {
    EXPECT_EQ(find_interface(entry->name), entry);
    EXPECT_NE(entry->doc, "") << entry->name;
    for (const Parameter& parameter : entry->parameters)
      EXPECT_NE(parameter.doc, "") << entry->name << '.' << parameter.name;
  }
  EXPECT_EQ(find_interface("possix"), nullptr);
}

TEST(Interfaces, ThoseOfModulesAreFoundByTheirNamesOrSayWhyNot) {
  for (const Module& module : all_modules()) {
    EXPECT_EQ(find_module(module.name), &module);
    const LoadedModule loaded = load_module(module);
    if (loaded.entry == nullptr) {
      EXPECT_NE(loaded.problem, "") << module.name;
      EXPECT_THROW(find_interface(module.name), InputError);
      continue;
    }
    EXPECT_TRUE(module.built);
    EXPECT_EQ(loaded.entry->name, module.name);
    EXPECT_EQ(loaded.entry->doc, module.doc) << "the build list says it otherwise";
    EXPECT_EQ(find_interface(module.name), loaded.entry);
  }
}

TEST(Interfaces, AModuleThatWasNotBuiltSaysWhatItNeeds) {
  const LoadedModule loaded = load_module({"absent", "", "libabsent (Debian: libabsent-dev)", false});
  EXPECT_EQ(loaded.entry, nullptr);
  EXPECT_EQ(loaded.problem, "not built: this needs libabsent (Debian: libabsent-dev)");
}

TEST(Interfaces, AModuleThatIsGoneSaysWhatIsMissing) {
  const LoadedModule loaded = load_module({"absent", "", "libabsent", true});
  EXPECT_EQ(loaded.entry, nullptr);
  EXPECT_NE(loaded.problem.find("strider-absent.so"), std::string::npos) << loaded.problem;
}

TEST(Interfaces, TheTemplateIsNotOneOfThem) { EXPECT_EQ(find_interface(template_entry.name), nullptr); }

TEST(NullInterface, DoesNothingAndNeverFails) {
  const auto null = find_interface("null")->make({});
  const auto file = null->open({.path = "/nowhere/file"});
  const Extent extent{std::uint64_t{1} << 60, 0, std::uint64_t{1} << 40};
  EXPECT_NO_THROW({
    file->write({{&extent, 1}, nullptr});
    file->read({{&extent, 1}, nullptr});
    file->sync();
    file->close();
    null->remove("/nowhere/file");
  });
}

}  // namespace
}  // namespace strider
