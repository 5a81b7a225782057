#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "foundation/folder.hpp"
#include "interfaces/interface.hpp"
#include "interfaces/mpi/volume.hpp"
#include "interfaces/mpi_group.hpp"
#include "mpi_session.hpp"
#include "verify/data.hpp"

namespace strider {
namespace {

using Values = std::map<std::string, Value>;

std::unique_ptr<Interface> mpiio(const Values& values) {
  Settings settings;
  settings.set("access", std::string("independent"));
  settings.set("method", std::string("list"));
  settings.set("pointer", std::string("explicit"));
  settings.set("split", false);
  settings.set("preallocate", false);
  settings.set("atomic", false);
  settings.set("prefix", std::string());
  settings.set("volume", std::string());
  settings.set("hints", TextMap{});
  for (const auto& [name, value] : values) settings.set(name, value);
  return find_interface("mpiio")->make(settings);
}

Value text(const char* value) { return std::string(value); }

TEST(MpiIo, CooperatesAsItsAccessSays) {
  EXPECT_EQ(mpiio({})->cooperation({}), Cooperation::collective_open);
  EXPECT_EQ(mpiio({{"access", text("collective")}})->cooperation({}), Cooperation::collective);
}

TEST(MpiIo, MovesAsMuchInOneCallAsAnIntCounts) { EXPECT_EQ(mpiio({})->largest_transfer(), 2147483647U); }

TEST(MpiIo, ReportsTheHintsInForce) {
  need_mpi();
  const Folder folder;
  const Group self;
  const auto interface = mpiio({{"access", text("collective")}, {"hints", TextMap{{"cb_buffer_size", "1048576"}}}});
  const auto file = interface->open({folder.file("file"), Access::write, Creation::create, 4096, {}, &self});
  const Facts facts = file->facts();
  file->close();
  interface->remove(folder.file("file"));
  if (facts.empty()) GTEST_SKIP() << "machine: this MPI library reports no hints";
  EXPECT_EQ(facts.at("hint.cb_buffer_size"), "1048576");
}

TEST(MpiIo, PutsThePrefixBeforeTheName) {
  need_mpi();
  const Folder folder;
  const Group self;
  const auto interface = mpiio({{"prefix", text("nodriver:")}});
  try {
    interface->open({folder.file("file"), Access::read, Creation::existing, 4096, {}, &self});
    FAIL() << "a file with an unknown driver was opened";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().call, "MPI_File_open");
    EXPECT_EQ(error.details().file, "nodriver:" + folder.file("file"));
  }
}

TEST(MpiIo, RefusesFilesOfAVolumeWhereNothingServesThem) {
  need_mpi();
  const Folder folder;
  const auto interface = mpiio({{"prefix", text("listio:")}, {"volume", text("/nowhere/listio-volume.json")}});
  try {
    interface->connect(folder.file(""));
    FAIL() << "this program has no layer for them";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("without the MPI-IO layer"), std::string::npos) << error.what();
    EXPECT_NE(error.remedy().find("strider listio env"), std::string::npos);
  }
}

TEST(MpiIo, RefusesAFileOfAVolumeThatMpiHasOpenedItself) {
  EXPECT_THROW(require_served_by_layer({{"hint.cb_nodes", "1"}}, "listio:file"), IoError);
  EXPECT_NO_THROW(require_served_by_layer({{"hint.listio_layer", "1"}}, "listio:file"));
}

TEST(MpiIo, AVolumeNeedsItsPrefix) { EXPECT_THROW(mpiio({{"volume", text("/v/listio-volume.json")}}), InputError); }

TEST(MpiIo, NamesTheDriver) {
  need_mpi();
  const Folder folder;
  const Group self;
  const auto interface = mpiio({{"prefix", text("ufs:")}});
  const auto file = interface->open({folder.file("file"), Access::write, Creation::create, 4096, {}, &self});
  EXPECT_EQ(file->facts().at("driver"), "ufs");
  file->close();
  interface->remove(folder.file("file"));
}

/// Eight blocks by a file that keeps requests in flight, written and read.
class MpiIoInFlight : public testing::TestWithParam<Values> {
 protected:
  static constexpr std::uint64_t block = 4096;
  static constexpr std::uint32_t depth = 3;
  std::unique_ptr<QueuedFile> open(Access access, Creation creation) {
    const std::uint32_t wanted = GetParam().contains("split") ? 1 : depth;
    auto file = interface_->open({.path = folder_.file("file"),
                                  .access = access,
                                  .creation = creation,
                                  .file_size = 8 * block,
                                  .group = &self_,
                                  .depth = wanted});
    auto* queue = dynamic_cast<QueuedFile*>(file.release());
    EXPECT_NE(queue, nullptr);
    return std::unique_ptr<QueuedFile>(queue);
  }
  /// In slot `number`, block `number`; waits until the slot is done.
  void move(QueuedFile& file, Direction direction, std::initializer_list<std::uint32_t> slots) {
    for (const std::uint32_t slot : slots) {
      extents_[slot] = {slot * block, slot * block, block};
      file.submit(direction, {{&extents_[slot], 1}, memory_.data(), slot}, slot);
    }
    std::vector<std::uint32_t> done(depth), all;
    while (all.size() < slots.size()) {
      const std::size_t count = file.complete(done);
      ASSERT_GT(count, 0U);
      all.insert(all.end(), done.begin(), done.begin() + static_cast<std::ptrdiff_t>(count));
    }
    std::sort(all.begin(), all.end());
    EXPECT_TRUE(std::equal(all.begin(), all.end(), slots.begin(), slots.end()));
  }
  void move_all(QueuedFile& file, Direction direction) {
    if (GetParam().contains("split")) {
      for (int i = 0; i < 3; ++i) move(file, direction, {0});
    } else {
      move(file, direction, {0, 1, 2});
    }
  }
  Folder folder_;
  Group self_;
  Pages memory_{depth * block};
  std::array<Extent, depth> extents_;
  std::unique_ptr<Interface> interface_ = mpiio(GetParam());
};

TEST_P(MpiIoInFlight, CompletesWhatWasHandedOver) {
  need_mpi();
  const FileData data({1, 2, 3, 4});
  const std::uint64_t bytes = GetParam().contains("split") ? block : depth * block;
  const auto contents = memory_.span().first(bytes);
  data.fill(contents, 0);
  const auto writer = open(Access::write, Creation::create);
  move_all(*writer, Direction::write);
  writer->sync();
  writer->close();
  std::ranges::fill(contents, std::byte{0xa5});
  const auto reader = open(Access::read, Creation::existing);
  move_all(*reader, Direction::read);
  EXPECT_EQ(data.first_mismatch(contents, 0), std::nullopt);
  reader->close();
}

TEST_P(MpiIoInFlight, SaysWhereAReadEndedEarlyAndHasNothingInFlightThen) {
  need_mpi();
  if (GetParam() == Values{{"access", text("collective")}})
    GTEST_SKIP() << "machine: ROMIO says of nonblocking collective reads beyond the end that they moved all";
  open(Access::write, Creation::create)->close();
  const auto reader = open(Access::read, Creation::existing);
  const Extent beyond{5 * block, 0, block};
  reader->submit(Direction::read, {{&beyond, 1}, memory_.data()}, 0);
  std::array<std::uint32_t, depth> done{};
  try {
    reader->complete(done);
    FAIL() << "nothing was read, and nobody said so";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().offset, 5 * block);
    EXPECT_NE(error.details().call, "");
  }
  EXPECT_EQ(reader->complete(done), 0U);
  reader->close();
}

TEST_P(MpiIoInFlight, ClosesWhatIsStillInFlight) {
  need_mpi();
  const auto writer = open(Access::write, Creation::create);
  const Extent extent{0, 0, block};
  writer->submit(Direction::write, {{&extent, 1}, memory_.data()}, 0);
}

TEST_P(MpiIoInFlight, ARequestWithoutExtentsIsCompletedToo) {
  need_mpi();
  const auto writer = open(Access::write, Creation::create);
  writer->submit(Direction::write, {}, 0);
  std::array<std::uint32_t, depth> done{7, 7, 7};
  EXPECT_EQ(writer->complete(done), 1U);
  EXPECT_EQ(done[0], 0U);
  writer->close();
}

const Values in_flight[] = {
    {},
    {{"access", text("collective")}},
    {{"pointer", text("individual")}},
    {{"access", text("collective")}, {"split", true}},
    {{"access", text("collective")}, {"split", true}, {"pointer", text("individual")}},
};
INSTANTIATE_TEST_SUITE_P(Variants, MpiIoInFlight, testing::ValuesIn(in_flight),
                         [](const auto& test) { return "variant" + std::to_string(test.index); });

TEST(MpiIo, MakesFilesOneByOne) {
  need_mpi();
  const Folder folder;
  const auto directory = mpiio({})->open_directory(folder.file(""));
  const std::array<std::byte, 5> written{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  directory->make_directory("d");
  const auto made = directory->open("d/f", OpenMode::create);
  directory->write(made, written, "d/f");
  directory->sync(made, "d/f");
  directory->close(made, "d/f");
  EXPECT_EQ(std::filesystem::file_size(folder.file("d/f")), 5U);
  EXPECT_THROW(directory->open("d/f", OpenMode::create), IoError) << "it exists";
  std::array<std::byte, 9> found{};
  const auto opened = directory->open("d/f", OpenMode::read);
  EXPECT_EQ(directory->read(opened, found, "d/f"), 5U);
  EXPECT_EQ(directory->seek_end(opened, "d/f"), 5U);
  directory->close(opened, "d/f");
  EXPECT_TRUE(std::equal(written.begin(), written.end(), found.begin()));
  directory->truncate("d/f", 2);
  EXPECT_EQ(std::filesystem::file_size(folder.file("d/f")), 2U);
  directory->unlink("d/f");
  try {
    directory->unlink("d/f");
    FAIL() << "a missing file was removed";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().error_number, ENOENT);
  }
  directory->remove_directory("d");
  EXPECT_TRUE(folder.content().empty());
}

}  // namespace
}  // namespace strider
