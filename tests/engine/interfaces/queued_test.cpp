// What every interface that keeps several requests in flight has to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <tuple>

#include "foundation/folder.hpp"
#include "interfaces/interface.hpp"
#include "interfaces/mpi_group.hpp"
#include "interfaces/variants.hpp"
#include "mpi_session.hpp"
#include "verify/data.hpp"

namespace strider {
namespace {

constexpr std::uint64_t slot_bytes = 4 * block;

std::ptrdiff_t entries_of(const char* folder) {
  const std::filesystem::directory_iterator entries(folder);
  return std::distance(begin(entries), end(entries));
}

class EveryQueue : public testing::TestWithParam<std::tuple<Variant, std::uint32_t>> {
 protected:
  void SetUp() override {
    const Variant& variant = std::get<0>(GetParam());
    interface_ = variant.entry->make(variant.settings);
    depth_ = std::get<1>(GetParam());
    if (interface_->cooperation({}) != Cooperation::independent) need_mpi();
    if (!can_store(*interface_, folder_.file("probe")))
      GTEST_SKIP() << "the file system of " << testing::TempDir() << " refuses it";
  }

  std::unique_ptr<QueuedFile> open(Access access, Creation creation = Creation::existing, std::uint64_t blocks = 256) {
    std::unique_ptr<File> file = interface_->open({.path = folder_.file("file"),
                                                   .access = access,
                                                   .creation = creation,
                                                   .file_size = blocks * block,
                                                   .group = &group_,
                                                   .depth = depth_,
                                                   .memory = memory_.span().first(depth_ * slot_bytes)});
    auto* queued = dynamic_cast<QueuedFile*>(file.get());
    EXPECT_NE(queued, nullptr);
    file.release();
    return std::unique_ptr<QueuedFile>(queued);
  }
  std::span<std::byte> slot(std::uint32_t number) const {
    return memory_.span().subspan(number * slot_bytes, slot_bytes);
  }

  /// Moves requests with as many in flight as there are slots; each slot remembers its request's extents.
  void move(QueuedFile& file, Direction direction, const std::vector<std::vector<Extent>>& requests,
            const FileData& data) {
    std::vector<std::uint32_t> free(depth_), done(depth_);
    for (std::uint32_t i = 0; i < depth_; ++i) free[i] = i;
    std::vector<std::size_t> of_slot(depth_);
    std::size_t next = 0, moved = 0;
    while (moved < requests.size()) {
      while (next < requests.size() && !free.empty()) {
        const std::uint32_t number = free.back();
        free.pop_back();
        of_slot[number] = next;
        if (direction == Direction::read) std::ranges::fill(slot(number), std::byte{0xa5});
        else
          for (const Extent& extent : requests[next])
            data.fill(slot(number).subspan(extent.memory_offset, extent.length), extent.file_offset);
        file.submit(direction, {requests[next], slot(number).data(), next}, number);
        ++next;
      }
      const std::size_t count = file.complete(done);
      ASSERT_GE(count, 1U);
      ASSERT_LE(count, depth_ - free.size());
      for (const std::uint32_t number : std::span(done).first(count)) {
        ASSERT_EQ(std::ranges::count(free, number), 0) << "a slot is named twice";
        for (const Extent& extent : requests[of_slot[number]])
          if (direction == Direction::read) {
            EXPECT_EQ(
                data.first_mismatch(slot(number).subspan(extent.memory_offset, extent.length), extent.file_offset),
                std::nullopt)
                << "request " << of_slot[number];
          }
        free.push_back(number);
        ++moved;
      }
    }
  }
  /// Requests of one block each, in an order of their own.
  static std::vector<std::vector<Extent>> blocks(std::uint64_t count) {
    std::vector<std::vector<Extent>> requests;
    for (std::uint64_t i = 0; i < count; ++i) requests.push_back({{i * 77 % count * block, 0, block}});
    return requests;
  }
  void make_file(std::uint64_t count) {
    const auto file = open(Access::write, Creation::create, count);
    move(*file, Direction::write, blocks(count), data_);
    file->sync();
    file->close();
  }

  Folder folder_;
  Group group_;
  Pages memory_{32 * slot_bytes};
  std::unique_ptr<Interface> interface_;
  std::uint32_t depth_ = 1;
  FileData data_{{1, 2, 3, 4}};
};

TEST_P(EveryQueue, ReadsBackWhatItWrote) {
  make_file(200);
  EXPECT_EQ(std::filesystem::file_size(folder_.file("file")), 200 * block);
  const auto file = open(Access::read);
  move(*file, Direction::read, blocks(200), data_);
  file->close();
}

TEST_P(EveryQueue, MovesListsBetweenPiecesOfMemoryAndOfTheFile) {
  make_file(240);
  const FileData newer({1, 2, 3, 5});
  // Three blocks of six: two that follow each other in the file, one behind a hole; elsewhere in memory.
  std::vector<std::vector<Extent>> lists;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::uint64_t begin = 6 * i * block;
    lists.push_back({{begin, 2 * block, block}, {begin + block, 0, block}, {begin + 4 * block, block, block}});
  }
  const auto written = open(Access::write);
  move(*written, Direction::write, lists, newer);
  written->close();
  const auto read = open(Access::read);
  move(*read, Direction::read, lists, newer);
  std::vector<std::vector<Extent>> holes;
  for (std::uint64_t i = 0; i < 40; ++i)
    holes.push_back({{(6 * i + 5) * block, 0, block}, {(6 * i + 2) * block, block, block}});
  move(*read, Direction::read, holes, data_);
  read->close();
}

TEST_P(EveryQueue, ARequestWithoutExtentsIsDoneToo) {
  make_file(4);
  const auto file = open(Access::read);
  move(*file, Direction::read, {{}, {{block, 0, block}}, {}}, data_);
  file->close();
}

TEST_P(EveryQueue, NamesNoMoreSlotsThanThereIsRoomFor) {
  make_file(4);
  const std::array<Extent, 2> extents{{{0, 0, block}, {block, 0, block}}};
  const auto file = open(Access::read);
  for (const std::uint32_t number : {0U, 1U})
    file->submit(Direction::read, {{&extents[number], 1}, slot(number).data()}, number);
  file->send();
  std::array<std::uint32_t, 2> done{7, 7};
  for (std::uint32_t& one : done) EXPECT_EQ(file->complete({&one, 1}), 1U);
  EXPECT_EQ(done[0] + done[1], 1U) << "each slot once";
  EXPECT_LT(done[0], 2U);
  file->close();
}

TEST_P(EveryQueue, AnErrorIsReportedAndTheOthersAreWaitedFor) {
  make_file(40);
  std::vector<Extent> extents(depth_);
  const auto file = open(Access::read, Creation::existing, 400);
  for (std::uint32_t number = 0; number < depth_; ++number) {
    extents[number] = {(number == 1 ? 300 : number) * block, 0, block};
    file->submit(Direction::read, {{&extents[number], 1}, slot(number).data()}, number);
  }
  std::vector<std::uint32_t> done(depth_);
  try {
    for (std::size_t count = 0; count < depth_;) count += file->complete(done);
    FAIL() << "no error";
  } catch (const IoError& error) {
    EXPECT_NE(error.details().file.find("file"), std::string::npos);
    EXPECT_EQ(error.details().offset, 300 * block);
    EXPECT_EQ(error.details().length, block);
    EXPECT_STRNE(error.what(), "");
  }
  EXPECT_NO_THROW(file->close());
}

TEST_P(EveryQueue, LeavesNothingBehindWhereItIsNotClosed) {
  make_file(64);
  const auto descriptors = entries_of("/proc/self/fd");
  const auto threads = entries_of("/proc/self/task");
  for (int i = 0; i < 3; ++i) {
    std::vector<Extent> extents(depth_);  // outlives the requests, which the file's destructor waits for
    const auto file = open(Access::read);
    for (std::uint32_t number = 0; number < depth_; ++number) {
      extents[number] = {number * block, 0, block};
      file->submit(Direction::read, {{&extents[number], 1}, slot(number).data()}, number);
    }
    file->send();
  }
  EXPECT_EQ(entries_of("/proc/self/fd"), descriptors);
  for (int wait_ms = 0; wait_ms < 60000 && entries_of("/proc/self/task") > threads; ++wait_ms) ::usleep(1000);
  EXPECT_LE(entries_of("/proc/self/task"), threads);
  std::ranges::fill(memory_.span(), std::byte{0xa5});
  ::usleep(2000);
  EXPECT_TRUE(std::ranges::all_of(memory_.span(), [](std::byte byte) { return byte == std::byte{0xa5}; }))
      << "something was still in flight";
}

TEST_P(EveryQueue, MovesSingleRequestsToo) {
  make_file(4);
  const Extent extent{2 * block, block, block};
  const auto file = open(Access::read_write);
  file->read({{&extent, 1}, slot(0).data()});
  EXPECT_EQ(data_.first_mismatch(slot(0).subspan(block, block), 2 * block), std::nullopt);
  const FileData newer({1, 2, 3, 5});
  newer.fill(slot(0).subspan(block, block), 2 * block);
  file->write({{&extent, 1}, slot(0).data()});
  move(*file, Direction::read, {{{2 * block, 0, block}}}, newer);
  file->close();
}

TEST_P(EveryQueue, SyncedDataIsSeenThroughAnotherOpenFile) {
  const auto writer = open(Access::write, Creation::create, 8);
  move(*writer, Direction::write, blocks(8), data_);
  writer->sync();
  const auto reader = open(Access::read, Creation::existing, 8);
  move(*reader, Direction::read, blocks(8), data_);
  reader->close();
  writer->close();
}

std::string name_of_queued_test(const testing::TestParamInfo<std::tuple<Variant, std::uint32_t>>& test) {
  return std::get<0>(test.param).name + "_depth_" + std::to_string(std::get<1>(test.param));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryQueue);
INSTANTIATE_TEST_SUITE_P(Registered, EveryQueue,
                         testing::Combine(testing::ValuesIn(queued_variants()), testing::Values(2U, 32U)),
                         name_of_queued_test);

}  // namespace
}  // namespace strider
