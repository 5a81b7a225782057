#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include "listio/client/listio.h"
#include "service.hpp"

namespace strider::listio {
namespace {

class CApiTest : public testing::Test {
 protected:
  void SetUp() override {
    write_volume(path_, service_.volume());
    ASSERT_EQ(strider_listio_connect(path_.c_str(), nullptr, &volume_), 0) << strider_listio_message(volume_);
  }
  void TearDown() override { strider_listio_disconnect(volume_); }
  strider_listio_file* open(const char* path, int flags) {
    strider_listio_file* file = nullptr;
    EXPECT_EQ(strider_listio_open(volume_, path, flags, 0640, nullptr, &file), 0) << strider_listio_message(volume_);
    return file;
  }

  Service service_{2};
  std::string path_ = service_.folder() + "/volume.json";
  strider_listio_volume* volume_ = nullptr;
};

// proves listio: client-api
TEST_F(CApiTest, MovesListsAndReportsSizes) {
  strider_listio_file* const file = open("data", O_CREAT | O_EXCL);
  char text[] = "Hello, striped world", back[sizeof text] = "";
  const iovec memory[] = {{text + 10, 10}, {text, 10}};
  const strider_listio_run runs[] = {{100'010, 10}, {100'000, 10}};
  EXPECT_EQ(strider_listio_write_list(file, memory, 2, runs, 2), 20);
  EXPECT_EQ(strider_listio_size(file), 100'020);
  EXPECT_EQ(strider_listio_read(file, back, sizeof back, 100'000), 20) << "the end of the file";
  EXPECT_STREQ(back, text);
  const int64_t ticket = strider_listio_start_read_list(file, memory, 2, runs, 2);
  ASSERT_GE(ticket, 0);
  while (strider_listio_test(volume_, ticket) == 0) continue;
  EXPECT_EQ(strider_listio_wait(volume_, ticket), 20);
  EXPECT_EQ(strider_listio_sync(file), 0);
  EXPECT_EQ(strider_listio_truncate(file, 5), 0);
  strider_listio_attributes stat{};
  EXPECT_EQ(strider_listio_stat(volume_, "data", &stat), 0);
  EXPECT_EQ(stat.bytes, 5);
  EXPECT_EQ(stat.mode, S_IFREG | 0640);
  strider_listio_close(file);
  strider_listio_close(open("data", O_TRUNC));
  EXPECT_EQ(strider_listio_stat(volume_, "data", &stat), 0);
  EXPECT_EQ(stat.bytes, 0);
}

// proves listio: locks-in-c
TEST_F(CApiTest, LocksAndCounts) {
  strider_listio_file* const file = open("data", O_CREAT | O_EXCL);
  strider_listio_options options{};
  options.patience_ms = 2000;
  strider_listio_volume* other = nullptr;
  ASSERT_EQ(strider_listio_connect(path_.c_str(), &options, &other), 0);
  strider_listio_file* same = nullptr;
  ASSERT_EQ(strider_listio_open(other, "data", 0, 0, nullptr, &same), 0);
  const strider_listio_run ranges[] = {{100, 10}, {0, 10}}, one = {5, 1};
  const int64_t lock = strider_listio_lock(file, ranges, 2, STRIDER_LISTIO_EXCLUSIVE);
  ASSERT_GT(lock, 0);
  EXPECT_EQ(strider_listio_lock(same, &one, 1, STRIDER_LISTIO_SHARED), -ETIMEDOUT);
  EXPECT_NE(std::string(strider_listio_message(other)).find("holds an exclusive lock on bytes 5 … 5"),
            std::string::npos)
      << strider_listio_message(other);
  EXPECT_EQ(strider_listio_unlock(volume_, lock), 0);
  EXPECT_EQ(strider_listio_unlock(volume_, lock), -EINVAL);
  EXPECT_GT(strider_listio_lock(same, &one, 1, STRIDER_LISTIO_SHARED), 0);
  EXPECT_EQ(strider_listio_lock(same, &one, 1, static_cast<strider_listio_lock_kind>(0)), -EINVAL);

  uint64_t cell = 0;
  int64_t before = 7;
  ASSERT_EQ(strider_listio_make_cell(volume_, &cell), 0);
  EXPECT_EQ(strider_listio_fetch_add(other, cell, 5, &before), 0);
  EXPECT_EQ(before, 0);
  EXPECT_EQ(strider_listio_fetch_add(other, cell, INT64_MAX, nullptr), -EOVERFLOW);
  EXPECT_EQ(strider_listio_set_cell(other, cell, -1), 0);
  EXPECT_EQ(strider_listio_fetch_add(volume_, cell, 0, &before), 0);
  EXPECT_EQ(before, -1);
  EXPECT_EQ(strider_listio_free_cell(other, cell), 0);
  EXPECT_EQ(strider_listio_fetch_add(volume_, cell, 1, nullptr), -ENOENT);
  strider_listio_close(same);
  strider_listio_disconnect(other);
  strider_listio_close(file);
}

TEST_F(CApiTest, ReturnsErrorNumbersAndMessages) {
  strider_listio_file* file = nullptr;
  EXPECT_EQ(strider_listio_open(volume_, "missing", 0, 0, nullptr, &file), -ENOENT);
  EXPECT_EQ(file, nullptr);
  EXPECT_NE(std::string(strider_listio_message(volume_)).find("server 0 ("), std::string::npos);
  EXPECT_EQ(strider_listio_mkdir(volume_, "../up", 0755), -EINVAL);
  EXPECT_EQ(strider_listio_wait(volume_, 17), -EINVAL);
  strider_listio_volume* none = nullptr;
  EXPECT_EQ(strider_listio_connect("/nowhere", nullptr, &none), -EINVAL);
  EXPECT_NE(std::string(strider_listio_message(none)).find("/nowhere"), std::string::npos);
  EXPECT_EQ(strider_listio_mkdir(none, "a", 0755), -ENOTCONN);
  strider_listio_disconnect(none);
}

TEST_F(CApiTest, KnowsNames) {
  EXPECT_EQ(strider_listio_mkdir(volume_, "folder", 0755), 0);
  strider_listio_close(open("one", O_CREAT));
  EXPECT_EQ(strider_listio_rename(volume_, "one", "folder/two"), 0);
  std::set<std::pair<std::string, mode_t>> names;
  const auto note = [](void* context, const char* name, mode_t kind) {
    static_cast<std::set<std::pair<std::string, mode_t>>*>(context)->emplace(name, kind);
    return 0;
  };
  EXPECT_EQ(strider_listio_readdir(volume_, "", note, &names), 0);
  EXPECT_EQ(strider_listio_readdir(volume_, "folder", note, &names), 0);
  EXPECT_EQ(names, (std::set<std::pair<std::string, mode_t>>{{"folder", S_IFDIR}, {"two", S_IFREG}}));
  EXPECT_EQ(strider_listio_unlink(volume_, "folder/two"), 0);
  EXPECT_EQ(strider_listio_rmdir(volume_, "folder"), 0);
}

TEST_F(CApiTest, TakesOptions) {
  strider_listio_options options{};
  options.transport = "tcp";
  options.method = "gather";
  options.registration = "model";
  strider_listio_volume* other = nullptr;
  ASSERT_EQ(strider_listio_connect(path_.c_str(), &options, &other), 0) << strider_listio_message(other);
  strider_listio_disconnect(other);
  options.method = "guess";
  EXPECT_EQ(strider_listio_connect(path_.c_str(), &options, &other), -EINVAL);
  strider_listio_disconnect(other);
}

}  // namespace
}  // namespace strider::listio
