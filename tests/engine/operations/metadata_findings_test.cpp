// What operations of metadata find wrong, and how they end where they cannot go on.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "operations/tour.hpp"

namespace strider {
namespace {

TEST_F(MetadataExecutorTest, StatFindsAnotherSizeKindOrNumberOfLinks) {
  tour.run(Operation::create);
  tour.write("/f0.0", "stride!");
  std::filesystem::create_hard_link(tour.path("/b0/f0.2"), tour.path("/another"));
  std::filesystem::remove(tour.path("/b0/f0.3"));
  std::filesystem::create_directory(tour.path("/b0/f0.3"));
  EXPECT_EQ(tour.run(Operation::stat),
            (Words{"top/f0.0: the size is 7 instead of 6", "top/b0/f0.2: the number of links is 2 instead of 1",
                   "top/b0/f0.3: this is not a regular file"}));
}

/// Files of which some have no number of links.
class LinksDirectory final : public Directory {
 public:
  ItemState state(const char* path) override {
    const bool counts = counted.empty() || std::string_view(path).ends_with(counted);
    return {ItemType::file, 6, counts && !counted.empty() ? 1U : LinkCounts::not_counted};
  }
  std::string counted;  ///< ends the names of those that have one; empty: none has
};

TEST(MetadataExecutorOfLinks, StatTellsASystemThatCountsNoLinksFromALostCount) {
  Tour tour({.items = 2, .depth = 0, .fanout = 1, .file_size = 6});
  tour.run(Operation::make_tree);
  tour.run(Operation::create);
  LinksDirectory directory;
  tour.work.directory = &directory;
  EXPECT_EQ(tour.run(Operation::stat), nothing) << "no file has a number of links";
  directory.counted = "f0.1";
  EXPECT_EQ(tour.run(Operation::stat), (Words{"top/f0.0: the number of links is 0 instead of 1"}));
}

TEST_F(MetadataExecutorTest, StatFollowsNoLink) {
  tour.run(Operation::create);
  std::filesystem::rename(tour.path("/f0.0"), tour.path("/away"));
  std::filesystem::create_symlink("away", tour.path("/f0.0"));
  EXPECT_EQ(tour.run(Operation::stat), (Words{"top/f0.0: this is not a regular file"}));
}

TEST_F(MetadataExecutorTest, StatDirectoryFindsAFile) {
  tour.run(Operation::mkdir);
  std::filesystem::remove(tour.path("/d0.1"));
  tour.write("/d0.1", "");
  EXPECT_EQ(tour.run(Operation::stat_directory), (Words{"top/d0.1: this is not a directory"}));
}

TEST_F(MetadataExecutorTest, ReaddirFindsWhatIsMissingAndWhatWasAdded) {
  tour.run(Operation::create);
  std::filesystem::remove(tour.path("/f0.1"));
  tour.write("/b0/stranger", "");
  const Words wrong{"top: the number of entries is 2 instead of 3", "top/b0: the number of entries is 3 instead of 2"};
  EXPECT_EQ(tour.run(Operation::readdir), wrong);
  EXPECT_EQ(tour.run(Operation::readdir_stat), wrong);
}

TEST_F(MetadataExecutorTest, ReaddirExpectsTheItemsOfAllRanks) {
  for (const std::uint32_t rank : {1U, 0U}) {
    tour.work.place = {rank, 2};
    tour.run(Operation::create);
  }
  EXPECT_EQ(tour.run(Operation::readdir), nothing);
}

TEST_F(MetadataExecutorTest, ReaddirExpectsNoNumberOfEntriesAfterAPhaseThatWasCutShort) {
  tour.execute(Operation::create);
  tour.population.complete(Operation::create, *tour.tree, 3, true);
  EXPECT_EQ(tour.run(Operation::readdir), nothing);
}

TEST_F(MetadataExecutorTest, ReadlinkFindsAnotherTarget) {
  tour.run(Operation::create);
  tour.run(Operation::symlink);
  std::filesystem::remove(tour.path("/s0.1"));
  std::filesystem::create_symlink("f0.0", tour.path("/s0.1"));
  EXPECT_EQ(tour.run(Operation::readlink), (Words{"top/s0.1: the link points to \"f0.0\" instead of \"f0.1\""}));
}

TEST_F(MetadataExecutorTest, LseekFindsAnotherEnd) {
  tour.run(Operation::create);
  tour.run(Operation::open);
  tour.write("/f0.1", "str");
  EXPECT_EQ(tour.run(Operation::lseek), (Words{"top/f0.1: the offset that lseek returned is 3 instead of 6"}));
  tour.run(Operation::close);
}

TEST_F(MetadataExecutorTest, SmallReadFindsAShorterFile) {
  tour.run(Operation::create);
  tour.write("/f0.1", "str");
  EXPECT_EQ(tour.run(Operation::small_read), (Words{"top/f0.1: the readable length is 3 instead of 6"}));
}

/// One file, of which reads may transfer the first and the last byte alone and claim to have read all.
class EdgesDirectory final : public Directory {
 public:
  Handle open(const char*, OpenMode) override { return 1; }
  void close(Handle, const char*) override {}
  void write(Handle, std::span<const std::byte> data, const char*) override { bytes.assign(data.begin(), data.end()); }
  std::uint64_t read(Handle, std::span<std::byte> to, const char*) override {
    if (!edges_alone) std::ranges::copy(bytes, to.begin());
    to.front() = bytes.front(), to.back() = bytes.back();
    return to.size();
  }
  std::vector<std::byte> bytes;
  bool edges_alone = false;
};

TEST(MetadataExecutorOfOneFile, WhatASmallReadLeavesOutIsFoundThoughTheMemoryHeldTheRightData) {
  Tour tour({.items = 1, .depth = 0, .fanout = 1, .file_size = 64});
  EdgesDirectory directory;
  tour.work.directory = &directory;
  tour.work.contents = FileData::Identity{1, 2, 0, 3};
  const Words wrong{"top/f0.0: the contents are wrong from byte 1 on"};
  tour.run(Operation::create);
  directory.edges_alone = true;
  EXPECT_EQ(tour.run(Operation::small_read), wrong) << "after a write";

  directory.edges_alone = false;
  tour.work.operation = Operation::small_read;
  MetadataExecutor executor(tour.work, tour.timer, tour.tally, tour.watch, tour.findings = {});
  executor.execute(Operation::small_read, {0, 0});
  directory.edges_alone = true;
  executor.execute(Operation::small_read, {0, 0});
  EXPECT_EQ(tour.wrong(), wrong) << "after a read";
}

TEST_F(MetadataExecutorTest, AnInterfaceThatStoresNothingHasNothingToFind) {
  tour.run(Operation::create);
  tour.write("/f0.0", "stride!");
  tour.work.checks = MetadataWork::Checks::no;
  EXPECT_EQ(tour.run(Operation::stat), nothing);
}

TEST_F(MetadataExecutorTest, AFileThatIsMissingIsAnErrorThatNamesIt) {
  tour.run(Operation::create);
  tour.run(Operation::setxattr);
  tour.run(Operation::symlink);
  std::filesystem::remove(tour.path("/f0.1"));
  std::filesystem::remove(tour.path("/s0.1"));
  for (const Operation operation :
       {Operation::stat, Operation::access, Operation::chmod, Operation::utime, Operation::truncate, Operation::expand,
        Operation::open_close, Operation::small_write, Operation::small_read, Operation::setxattr, Operation::getxattr,
        Operation::rename, Operation::link, Operation::readlink, Operation::open}) {
    try {
      tour.execute(operation);
      ADD_FAILURE() << name_of(operation) << " missed nothing";
    } catch (const IoError& error) {
      EXPECT_EQ(error.details().error_number, ENOENT) << name_of(operation);
      EXPECT_NE(error.details().file.find("0.1"), std::string::npos) << error.details().file;
      EXPECT_NE(error.details().call, "");
    }
    if (operation == Operation::rename) tour.directory.rename("top/r0.0", "top/f0.0");
    if (operation == Operation::link) tour.directory.unlink("top/l0.0");
  }
  for (const Directory::Handle file : tour.open_files) tour.directory.close(file, "");
}

// Contents that identify themselves.

class Verifying : public testing::Test {
 protected:
  Verifying() {
    tour.work.contents = FileData::Identity{1, 2, 0, 3};
    tour.run(Operation::make_tree);
    tour.run(Operation::create);
  }
  Tour tour{{.items = 3, .depth = 0, .file_size = 2000}};
};

TEST_F(Verifying, EachFileHoldsDataOfItsOwn) {
  const std::string first = tour.contents("/f0.0");
  EXPECT_EQ(first.size(), 2000U);
  EXPECT_NE(first, tour.contents("/f0.1"));
  EXPECT_EQ(tour.run(Operation::small_read), nothing);
  EXPECT_GT(tour.tally.prepare_ticks, 0U);
}

TEST_F(Verifying, FindsWhatWasChangedAndWhere) {
  std::string text = tour.contents("/f0.1");
  text[1234] = static_cast<char>(text[1234] ^ 1);
  tour.write("/f0.1", text);
  EXPECT_EQ(tour.run(Operation::small_read), (Words{"top/f0.1: the contents are wrong from byte 1234 on"}));
}

TEST_F(Verifying, FindsTheContentsOfAnotherFile) {
  tour.write("/f0.1", tour.contents("/f0.0"));
  EXPECT_EQ(tour.run(Operation::small_read), (Words{"top/f0.1: the contents are wrong from byte 0 on"}));
}

TEST_F(Verifying, FindsWhatWasWrittenEarlier) {
  tour.work.contents->generation = 4;
  EXPECT_EQ(tour.run(Operation::small_read).size(), 3U) << "nothing was written again";
  tour.run(Operation::small_write);
  EXPECT_EQ(tour.run(Operation::small_read), nothing);
}

TEST_F(Verifying, KnowsWhatTruncateAndExpandLeftOfThem) {
  tour.run(Operation::truncate);
  EXPECT_EQ(tour.run(Operation::small_read), nothing);
  tour.run(Operation::expand);
  EXPECT_EQ(tour.run(Operation::small_read), nothing) << "zeros behind what was written";
  std::string text = tour.contents("/f0.2");
  text[999] = static_cast<char>(text[999] ^ 1);
  tour.write("/f0.2", text);
  EXPECT_EQ(tour.run(Operation::small_read), (Words{"top/f0.2: the contents are wrong from byte 999 on"}));
}

TEST_F(Verifying, WhatIsInMemoryDoesNotPassForWhatIsRead) {
  class Lazy final : public Directory {
   public:
    Handle open(const char*, OpenMode) override { return 1; }
    std::uint64_t read(Handle, std::span<std::byte> to, const char*) override { return to.size(); }
    void close(Handle, const char*) override {}
  } lazy;
  EXPECT_EQ(tour.run(Operation::small_read), nothing);
  tour.work.directory = &lazy;
  EXPECT_EQ(tour.run(Operation::small_read).size(), 3U);
}

// Errors leave nothing open.

/// A limit of this process while it lives.
class Limit {
 public:
  Limit(int resource, rlim_t value) : resource_(resource) {
    ::getrlimit(static_cast<__rlimit_resource>(resource_), &before_);
    const rlimit limited{value, before_.rlim_max};
    ::setrlimit(static_cast<__rlimit_resource>(resource_), &limited);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() {
    ::setrlimit(static_cast<__rlimit_resource>(resource_), &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  int resource_;
  rlimit before_{};
  void (*handler_)(int);
};

TEST(Errors, AFileThatCannotBeWrittenIsClosed) {
  Tour tour({.items = 2, .file_size = 8192});
  tour.run(Operation::make_tree);
  const auto before = open_descriptors();
  const Limit limit(RLIMIT_FSIZE, 5000);
  try {
    tour.execute(Operation::create);
    FAIL() << "the write was not refused";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().call, "write");
    EXPECT_EQ(error.details().error_number, EFBIG);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Errors, WhereNoMoreFilesCanBeOpenedThoseThatAreOpenAreKnown) {
  Tour tour({.items = 100});
  tour.test.open_files = 100;
  tour.run(Operation::make_tree);
  tour.run(Operation::create);
  const auto before = open_descriptors();
  {
    const Limit limit(RLIMIT_NOFILE, static_cast<rlim_t>(before) + 20);
    try {
      tour.execute(Operation::open);
      FAIL() << "there was no limit";
    } catch (const IoError& error) {
      EXPECT_EQ(error.details().error_number, EMFILE);
      EXPECT_NE(error.remedy(), "");
    }
  }
  EXPECT_GT(tour.open_files.size(), 0U);
  EXPECT_LT(tour.open_files.size(), 100U);
  EXPECT_EQ(open_descriptors(), before + static_cast<std::ptrdiff_t>(tour.open_files.size()));
  tour.run(Operation::close);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Errors, ACloseThatFailsIsNotDoneTwice) {
  Tour tour({.items = 3});
  tour.run(Operation::make_tree);
  tour.run(Operation::create);
  tour.run(Operation::open);
  ::close(static_cast<int>(tour.open_files[1]));
  EXPECT_THROW(tour.execute(Operation::close), IoError);
  EXPECT_EQ(tour.open_files[0], Directory::closed);
  EXPECT_EQ(tour.open_files[1], Directory::closed);
  EXPECT_NE(tour.open_files[2], Directory::closed);
  tour.directory.close(tour.open_files[2], "");
}

TEST(Errors, TheFirstIsReportedWhereClosingFailsAsWell) {
  class Full final : public Directory {
   public:
    Handle open(const char*, OpenMode) override { return 1; }
    void write(Handle, std::span<const std::byte>, const char* path) override {
      throw IoError({"write", path, 0, 0, ENOSPC});
    }
    void close(Handle, const char* path) override { throw IoError({"close", path, 0, 0, EIO}); }
  } full;
  Tour tour({.items = 1, .file_size = 1});
  tour.work.directory = &full;
  try {
    tour.execute(Operation::create);
    FAIL() << "no error";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().error_number, ENOSPC);
  }
}

}  // namespace
}  // namespace strider
