#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "foundation/folder.hpp"
#include "interfaces/interface.hpp"
#include "interfaces/variants.hpp"

namespace strider {
namespace {

struct MmapTest : testing::Test {
  MmapTest() {
    settings.set("populate", false);
    settings.set("advice", std::string("normal"));
    settings.set("msync", std::string("sync"));
  }
  std::unique_ptr<File> open(Access access, Creation creation = Creation::existing) const {
    return find_interface("mmap")->make(settings)->open(
        {.path = path, .access = access, .creation = creation, .file_size = 4 * block});
  }
  IoError error_of(File& file, Direction direction, const Extent& extent) {
    try {
      const Request request{{&extent, 1}, memory.data()};
      direction == Direction::write ? file.write(request) : file.read(request);
    } catch (const IoError& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return IoError({}, "");
  }

  Folder folder;
  std::string path = folder.file("file");
  Pages memory{4 * block};
  Settings settings;
};

TEST_F(MmapTest, SizesTheFileWhenItIsOpenedForWriting) {
  const auto file = open(Access::write, Creation::create);
  EXPECT_EQ(std::filesystem::file_size(path), 4 * block);
  const auto again = open(Access::write, Creation::create);
  EXPECT_EQ(std::filesystem::file_size(path), 4 * block);
}

TEST_F(MmapTest, NeverMakesAFileShorter) {
  open(Access::write, Creation::create)->close();
  std::filesystem::resize_file(path, 9 * block);
  open(Access::write)->close();
  EXPECT_EQ(std::filesystem::file_size(path), 9 * block);
}

TEST_F(MmapTest, AFileThatBecomesShorterIsAnErrorAndNotTheEnd) {
  open(Access::write, Creation::create)->close();
  for (const Access access : {Access::read, Access::read_write}) {
    std::filesystem::resize_file(path, 4 * block);
    const auto file = open(access);
    std::filesystem::resize_file(path, 2 * block);
    const Direction direction = access == Access::read ? Direction::read : Direction::write;
    for (int i = 0; i < 2; ++i) {  // the handler serves again and again
      const IoError error = error_of(*file, direction, {block, 0, 3 * block});
      EXPECT_EQ(error.details().offset, 2 * block);
      EXPECT_EQ(error.details().length, 2 * block);
      EXPECT_EQ(error.details().file, path);
      EXPECT_NE(std::string(error.what()).find("shorter"), std::string::npos) << error.what();
    }
    EXPECT_NO_THROW(file->read({}));
    const Extent there{0, 0, 2 * block};
    EXPECT_NO_THROW(file->read({{&there, 1}, memory.data()}));
    file->close();
  }
}

TEST_F(MmapTest, AWriteBeyondTheMappingIsAnError) {
  const auto file = open(Access::write, Creation::create);
  EXPECT_EQ(error_of(*file, Direction::write, {3 * block, 0, 2 * block}).details().offset, 4 * block);
}

using MmapDeathTest = MmapTest;

TEST_F(MmapDeathTest, ASignalThatIsNotOursEndsTheProcess) {
  const auto file = open(Access::write, Creation::create);
  const Extent extent{0, 0, block};
  file->write({{&extent, 1}, memory.data()});  // the handler is there
  EXPECT_EXIT(std::raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace strider
