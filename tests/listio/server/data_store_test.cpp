// Rules for every store of a server's data, whether it keeps data or not.
#include "listio/server/data_store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "service.hpp"

namespace strider::listio {
namespace {

enum class Store { files, checked, nothing };

class DataStoreTest : public testing::TestWithParam<Store> {
 protected:
  DataStoreTest() : store_(make(GetParam(), folder_.get())) {}
  static std::unique_ptr<DataStore> make(Store store, int folder) {
    if (store == Store::nothing) return make_discarding_store();
    return store == Store::files ? make_file_store(folder) : make_checked_store(folder, {}, 0);
  }
  void write(FileId file, std::uint64_t begin, std::uint64_t bytes) {
    std::vector<std::byte> data(bytes, std::byte{7});
    const std::array<ByteRun, 1> runs{ByteRun{begin, bytes}};
    EXPECT_EQ(store_->write(file, runs, data), 0);
  }
  DataStore::Extent read(FileId file, std::uint64_t begin, std::uint64_t bytes) {
    buffer_.assign(bytes, std::byte{1});
    const std::array<ByteRun, 1> runs{ByteRun{begin, bytes}};
    DataStore::Extent extent = DataStore::Extent::whole;
    EXPECT_EQ(store_->read(file, runs, buffer_, extent), 0);
    return extent;
  }
  std::uint64_t size(FileId file) {
    DataStat stat{};
    EXPECT_EQ(store_->stat(file, stat), 0);
    return stat.bytes;
  }
  TemporaryFolder place_;
  Descriptor folder_{::open(place_.path().c_str(), O_RDONLY | O_DIRECTORY)};
  std::unique_ptr<DataStore> store_;
  std::vector<std::byte> buffer_;
};

TEST_P(DataStoreTest, AFileIsAsLongAsItsLastByte) {
  EXPECT_EQ(size(3), 0U) << "never written";
  write(3, 100, 50);
  write(3, 0, 10);
  EXPECT_EQ(size(3), 150U);
  EXPECT_EQ(store_->truncate(3, 20), 0);
  EXPECT_EQ(size(3), 20U);
  EXPECT_EQ(store_->sync(3), 0);
  EXPECT_EQ(store_->remove(3), 0);
  EXPECT_EQ(size(3), 0U);
}

TEST_P(DataStoreTest, AReadKnowsWhereTheFileEnds) {
  write(4, 0, 100);
  EXPECT_EQ(read(4, 0, 100), DataStore::Extent::whole);
  EXPECT_EQ(buffer_[99] == std::byte{7}, GetParam() != Store::nothing);
  EXPECT_EQ(read(4, 90, 11), DataStore::Extent::beyond_end);
}

TEST_P(DataStoreTest, CountsWhatWasMoved) {
  write(5, 0, 100);
  read(5, 0, 40);
  const DataStore::Counters counters = store_->counters();
  EXPECT_EQ(counters.written_bytes, 100U);
  EXPECT_EQ(counters.read_bytes, 40U);
  EXPECT_EQ(counters.calls > 0, GetParam() != Store::nothing);
}

TEST_P(DataStoreTest, ListsEveryFileOnceHoweverManyThereAre) {
  constexpr FileId files = 2500;
  for (FileId file = 1; file <= files; ++file) write(file, file % 7, 1);
  std::vector<std::uint64_t> sizes(files + 1);
  std::uint64_t cookie = 0;
  for (int pages = 0; pages < 1000; ++pages) {
    DataPage page{};
    ASSERT_EQ(store_->list(cookie, page), 0);
    for (const auto& file : page.files) sizes.at(file.file) += file.bytes;
    cookie = page.cookie;
    if (cookie == 0) break;
  }
  EXPECT_EQ(cookie, 0U);
  for (FileId file = 1; file <= files; ++file) EXPECT_EQ(sizes[file], file % 7 + 1) << file;
}

std::string name_of(const testing::TestParamInfo<Store>& test) {
  if (test.param == Store::nothing) return "nothing";
  return test.param == Store::files ? "files" : "checked";
}

INSTANTIATE_TEST_SUITE_P(All, DataStoreTest, testing::Values(Store::files, Store::checked, Store::nothing), name_of);

}  // namespace
}  // namespace strider::listio
