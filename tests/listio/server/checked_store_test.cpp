// A store with checksums returns the written data, or reports the damage: never other data.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "corruption.hpp"
#include "listio/protocol/parse.hpp"
#include "listio/server/data_store.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

using Bytes = std::vector<std::byte>;
namespace fs = std::filesystem;
constexpr std::uint64_t block = 4096;

class CheckedStoreTest : public testing::Test {
 protected:
  CheckedStoreTest() { start(); }

  /// As a server that is stopped and started again.
  void start() {
    store_.reset();
    ++state_.epoch;
    store_ = store_of(place_.path());
  }
  std::unique_ptr<DataStore> store_of(const std::string& path, std::uint32_t number = 0) const {
    const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY));
    return make_checked_store(folder.get(), state_, number, most_sum_pages_);
  }
  /// As a server that is killed and started again: its written data is there, and nothing was made clean.
  void kill() {
    const std::string copy = place_.path() + "/copy";
    fs::create_directory(copy);
    for (const char* const name : {"data", "sums"})
      if (fs::exists(place_.path() + "/" + name))
        fs::copy(place_.path() + "/" + name, copy + "/" + name, fs::copy_options::recursive);
    store_.reset();
    fs::remove(place_.path() + "/data-stable");
    for (const char* const name : {"data", "sums"}) {
      fs::remove_all(place_.path() + "/" + name);
      fs::rename(copy + "/" + name, place_.path() + "/" + name);
    }
    start();
  }
  Errno write(FileId file, std::uint64_t offset, Bytes data) {
    const ByteRun run{offset, data.size()};
    return store_->write(file, {&run, 1}, data);
  }
  Bytes read(FileId file, std::uint64_t offset, std::uint64_t bytes) {
    Bytes data(bytes, std::byte{0x55});
    const ByteRun run{offset, bytes};
    auto extent = DataStore::Extent::whole;
    EXPECT_EQ(store_->read(file, {&run, 1}, data, extent), 0);
    return data;
  }
  /// Why something fails; empty if it does not.
  static std::string damage(const std::function<void()>& action) {
    try {
      action();
      return "";
    } catch (const DamagedData& error) {
      return error.what();
    }
  }
  std::string path_of(const char* name, FileId file) const {
    char text[32];
    std::snprintf(text, sizeof text, "/%02x/%016x", static_cast<unsigned>(file % 256), static_cast<unsigned>(file));
    return place_.path() + "/" + name + text;
  }
  Bytes random_bytes(std::size_t count) {
    Bytes bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
    return bytes;
  }
  std::uint64_t up_to(std::uint64_t most) { return random_() % (most + 1); }
  static void flip(const std::string& path, std::uint64_t offset, int bit) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int before = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(before ^ (1 << bit)));
  }
  Health health(FileId file) {
    DataPage page;
    EXPECT_EQ(store_->list(0, page), 0);
    for (const auto& each : page.files)
      if (each.file == file) return each.health;
    ADD_FAILURE() << file << " is not listed";
    return Health::sound;
  }

  std::mt19937_64 random_{20261127};
  TemporaryFolder place_;
  VolumeState state_{make_volume_id(), 0};
  std::size_t most_sum_pages_ = default_sum_pages;
  std::unique_ptr<DataStore> store_;
};

// --- a model ---

class Model : public CheckedStoreTest {
 protected:
  static constexpr std::uint64_t most_bytes = 300'000;
  using Files = std::map<FileId, Bytes>;

  std::vector<ByteRun> random_runs(bool may_overlap) {
    std::vector<ByteRun> runs;
    const std::uint64_t count = 1 + up_to(20), spread = up_to(2) == 0 ? most_bytes : 20'000;
    const std::uint64_t base = up_to(most_bytes - spread);
    for (std::uint64_t i = 0; i < count; ++i) {
      ByteRun run{base + up_to(spread), 1 + up_to(up_to(3) == 0 ? 20'000 : 500)};
      if (up_to(4) == 0) run = {run.offset / block * block, (1 + up_to(3)) * block};
      const auto meets = [&](const ByteRun& other) { return run.offset < other.end() && other.offset < run.end(); };
      if (may_overlap || std::ranges::none_of(runs, meets)) runs.push_back(run);
    }
    return runs;
  }
  static std::uint64_t bytes_of(std::span<const ByteRun> runs) {
    std::uint64_t bytes = 0;
    for (const ByteRun& run : runs) bytes += run.length;
    return bytes;
  }
  void write_both(FileId file) {
    const std::vector<ByteRun> runs = random_runs(up_to(3) == 0);
    Bytes data = random_bytes(bytes_of(runs));
    if (up_to(3) == 0) std::ranges::fill(data, std::byte{});
    ASSERT_EQ(store_->write(file, runs, data), 0);
    Bytes& model = model_[file];
    std::uint64_t done = 0;
    for (const ByteRun& run : runs) {
      if (model.size() < run.end()) model.resize(run.end());
      std::memcpy(model.data() + run.offset, data.data() + done, run.length);
      done += run.length;
    }
  }
  void read_both(FileId file) {
    const std::vector<ByteRun> runs = random_runs(up_to(3) == 0);
    Bytes data(bytes_of(runs), std::byte{0x55}), expected;
    const Bytes& model = model_[file];
    bool beyond = false;
    for (const ByteRun& run : runs) {
      beyond |= run.end() > model.size();
      for (std::uint64_t at = run.offset; at < run.end(); ++at)
        expected.push_back(at < model.size() ? model[at] : std::byte{});
    }
    auto extent = DataStore::Extent::whole;
    ASSERT_EQ(store_->read(file, runs, data, extent), 0);
    ASSERT_TRUE(data == expected);
    ASSERT_EQ(extent == DataStore::Extent::beyond_end, beyond);
  }
  void step() {
    const FileId file = 1 + up_to(2) * 256;
    switch (up_to(20)) {
      case 0: {
        const std::uint64_t bytes = up_to(most_bytes);
        ASSERT_EQ(store_->truncate(file, bytes), 0);
        if (bytes > 0 || model_.contains(file)) model_[file].resize(bytes);
        break;
      }
      case 1: ASSERT_EQ(store_->sync(file), 0); break;
      case 2:
        ASSERT_EQ(store_->remove(file), 0);
        model_.erase(file);
        break;
      case 3: start(); break;
      case 4: kill(); break;
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
      case 10:
      case 11: write_both(file); break;
      default: read_both(file);
    }
    DataStat stat;
    ASSERT_EQ(store_->stat(file, stat), 0);
    ASSERT_EQ(stat.bytes, model_[file].size());
  }
  void expect_whole() {
    for (const auto& [file, bytes] : model_) {
      ASSERT_TRUE(read(file, 0, bytes.size()) == bytes) << file;
      Verified verified;
      ASSERT_EQ(store_->verify({file, 0, VerifyRequest::most_blocks}, verified), 0);
      EXPECT_TRUE(verified.damaged.empty());
      EXPECT_EQ(verified.bytes, bytes.size());
    }
  }
  Files model_;
};

// proves listio: checksums-again
TEST_F(Model, RandomListsTruncatesAndRestartsAreThoseOfAPlainVector) {
  for (int i = 0; i < 3000; ++i) {
    step();
    if (HasFatalFailure()) FAIL() << "at step " << i;
  }
  expect_whole();
}

/// Of three files with a page each, one has its checksums in memory, or none has.
// proves listio: checksum-memory
TEST_F(Model, RandomListsAreThoseOfAPlainVectorWhereMemoryForChecksumsIsShort) {
  for (int i = 0; i < 3000; ++i) {
    if (i % 100 == 0) {
      most_sum_pages_ = up_to(2);
      start();
    }
    step();
    if (HasFatalFailure()) FAIL() << "at step " << i;
  }
  expect_whole();
}

// --- damage ---

class Damage : public CheckedStoreTest {
 protected:
  static constexpr FileId file_ = 0x1234;
  void fill(std::uint64_t bytes) {
    data_ = random_bytes(bytes);
    ASSERT_EQ(write(file_, 0, data_), 0);
  }
  /// The damage of the file; without any, it has to hold the written data.
  std::string found() {
    return damage([&] {
      DataStat stat;
      ASSERT_EQ(store_->stat(file_, stat), 0);
      EXPECT_EQ(stat.bytes, data_.size());
      EXPECT_TRUE(read(file_, 0, data_.size()) == data_) << "wrong bytes were served";
    });
  }
  Bytes data_;
};

// proves listio: checksums, nothing-damaged-served, flipped-bits
TEST_F(Damage, OfAnySingleByteIsFoundAndNamed) {
  constexpr std::uint64_t bytes = 10 * block + 100;
  fill(bytes);
  ASSERT_EQ(write(file_, 20 * block, random_bytes(block)), 0);
  data_.resize(20 * block);
  const Bytes tail = read(file_, 20 * block, block);
  data_.insert(data_.end(), tail.begin(), tail.end());
  store_.reset();
  const std::string data = path_of("data", file_), sums = path_of("sums", file_);
  const std::uint64_t sums_bytes = block + 21 * 4;
  const int all = 2 * corruptions(250);
  for (int i = 0; i < all; ++i) {
    const bool in_data = i % 2 == 0;
    const std::uint64_t offset = up_to((in_data ? data_.size() : sums_bytes) - 1);
    const auto change = static_cast<unsigned>(1 + up_to(254));
    corrupt(in_data ? data : sums, offset, change);
    start();
    const std::string text = found();
    ASSERT_NE(text, "") << (in_data ? "data " : "sums ") << offset;
    expect_in("/34/0000000000001234", text);
    const std::uint64_t number = in_data ? offset / block : (offset - block) / 4;
    if (in_data || offset >= block) expect_in("at bytes " + std::to_string(number * block) + " to", text);
    store_.reset();
    corrupt(in_data ? data : sums, offset, change);
  }
  start();
  EXPECT_EQ(found(), "");
}

// proves listio: data-and-sums, checksums, flipped-bits, missing-data-file
TEST_F(Damage, OfWholeFilesIsFoundAndNamed) {
  fill(100'000);
  const FileId other = file_ + 256;
  ASSERT_EQ(write(other, 0, random_bytes(100'000)), 0);
  store_.reset();
  const std::string data = path_of("data", file_), sums = path_of("sums", file_), kept = place_.path() + "/kept";
  const auto broken = [&](const std::string& path, const std::function<void()>& breaking, const std::string& text,
                          Health expected) {
    fs::copy_file(path, kept, fs::copy_options::overwrite_existing);
    breaking();
    start();
    expect_in(text, found());
    EXPECT_EQ(health(file_), expected) << text;
    EXPECT_NE(damage([&] { store_->write(file_, std::array{ByteRun{0, 1}}, data_); }), "") << text;
    store_.reset();
    fs::copy_file(kept, path, fs::copy_options::overwrite_existing);
    start();
    EXPECT_EQ(found(), "") << text;
    store_.reset();
  };
  broken(data, [&] { fs::resize_file(data, 50'000); }, "has 50000 bytes instead of 100000", Health::too_short);
  broken(data, [&] { fs::resize_file(data, 100'001); }, "has 100001 bytes instead of 100000", Health::too_long);
  broken(data, [&] { fs::remove(data); }, "is missing; it had 100000 bytes", Health::missing);
  broken(sums, [&] { fs::remove(sums); }, "has no checksums", Health::no_checksums);
  broken(sums, [&] { fs::resize_file(sums, 0); }, "is damaged", Health::damaged_checksums);
  broken(
      sums, [&] { fs::copy_file(path_of("sums", other), sums, fs::copy_options::overwrite_existing); },
      "of another file", Health::damaged_checksums);
  fs::copy_file(data, kept, fs::copy_options::overwrite_existing);
  fs::copy_file(path_of("data", other), data, fs::copy_options::overwrite_existing);
  start();
  expect_in("is damaged at bytes 0 to 4095: checksum", found());
  EXPECT_EQ(health(file_), Health::sound) << "its length is right";
}

TEST_F(Damage, OfAFolderOfAnotherServerIsFound) {
  fill(100);
  store_ = store_of(place_.path(), 1);
  expect_in("of another file", found());
}

TEST_F(Damage, IsFoundWhileTheServerRuns) {
  fill(100'000);
  fs::resize_file(path_of("data", file_), 50'000);
  expect_in("is damaged at bytes 49152 to", damage([&] { read(file_, 0, 100'000); }));
  EXPECT_EQ(damage([&] { EXPECT_EQ(read(file_, 0, 49152), Bytes(data_.begin(), data_.begin() + 49152)); }), "");
  fs::remove(path_of("data", file_));
  DataStat stat;
  expect_in("is missing", damage([&] { store_->stat(file_, stat); }));
}

// proves listio: partial-overwrite, whole-overwrite
TEST_F(Damage, IsNeverBlessedByAPartialWrite) {
  fill(4 * block);
  flip(path_of("data", file_), block + 5, 3);
  expect_in("at bytes 4096 to 8191", damage([&] { write(file_, block + 100, Bytes(50)); }));
  expect_in("at bytes 4096 to 8191", damage([&] { store_->truncate(file_, block + 100); }));
  expect_in("at bytes 4096 to 8191", damage([&] { read(file_, 2 * block - 1, 1); }));
  EXPECT_EQ(write(file_, block, Bytes(block, std::byte{9})), 0) << "a block as a whole";
  EXPECT_EQ(read(file_, block, block), Bytes(block, std::byte{9}));
}

// proves listio: lost-checksums, first-sync-all
TEST_F(Damage, ChecksumsOfWhatWasNeverSyncedMayBeLostInACrash) {
  for (const auto& lose : {std::function<void(const fs::path&)>([](const auto& sums) { fs::remove(sums); }),
                           std::function<void(const fs::path&)>([](const auto& sums) { fs::resize_file(sums, 0); })}) {
    fill(100'000);
    kill();
    store_.reset();
    lose(path_of("sums", file_));
    start();
    EXPECT_EQ(found(), "");
    EXPECT_EQ(read(file_, 0, 100'000), data_);
    flip(path_of("data", file_), 70'000, 1);
    expect_in("at bytes 69632 to", found());
    flip(path_of("data", file_), 70'000, 1);
  }
}

// proves listio: damage-while-open, checksums-again
TEST_F(Damage, OfWhatWasSyncedIsFoundAfterACrash) {
  fill(100'000);
  ASSERT_EQ(store_->sync(file_), 0);
  flip(path_of("data", file_), 70'000, 1);
  kill();
  expect_in("at bytes 69632 to", found());
  flip(path_of("data", file_), 70'000, 1);
  EXPECT_EQ(found(), "");
  // Written after the sync: its present length counts, but it may not be shorter.
  ASSERT_EQ(write(file_, 0, Bytes(10)), 0);
  std::fill_n(data_.begin(), 10, std::byte{});
  kill();
  EXPECT_EQ(found(), "");
  ASSERT_EQ(store_->sync(file_), 0);
  ASSERT_EQ(write(file_, 0, Bytes(10)), 0);
  fs::resize_file(path_of("data", file_), 99'999);
  kill();
  expect_in("has 99999 bytes instead of 100000", found());
}

// proves listio: flipped-bits
TEST_F(Damage, IsReportedByVerifying) {
  fill(2000 * block);
  for (const std::uint64_t at : {5, 6, 1200}) flip(path_of("data", file_), at * block, 0);
  Verified verified;
  ASSERT_EQ(store_->verify({file_, 0, VerifyRequest::most_blocks}, verified), 0);
  EXPECT_EQ(verified.damaged, (std::vector<ByteRun>{{5 * block, 2 * block}, {1200 * block, block}}));
  EXPECT_EQ(verified.bytes, 2000 * block);
  EXPECT_GE(verified.end_block, 2000U);
  verified = {};
  ASSERT_EQ(store_->verify({file_, 6, 10}, verified), 0);
  EXPECT_EQ(verified.damaged, (std::vector<ByteRun>{{6 * block, block}}));
}

// --- other threads, and full storage ---

TEST_F(CheckedStoreTest, ReadersAndWritersOfTheSameBlockSeeNoDamage) {
  constexpr FileId file = 77;
  ASSERT_EQ(write(file, 0, Bytes(3 * block)), 0);
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      std::mt19937_64 random(static_cast<unsigned>(i));
      Bytes data(6000, static_cast<std::byte>(i));
      while (!over) {
        const ByteRun run{random() % 5000, 1 + random() % 6000};
        auto extent = DataStore::Extent::whole;
        const Errno error =
            i % 2 == 0 ? store_->write(file, {&run, 1}, data) : store_->read(file, {&run, 1}, data, extent);
        EXPECT_EQ(error, 0);
        if (random() % 50 == 0) {
          EXPECT_EQ(store_->sync(file), 0);
        }
        ++done;
      }
    });
  while (done < 4000) std::this_thread::yield();
  over = true;
  for (std::thread& thread : threads) thread.join();
  start();
  Verified verified;
  ASSERT_EQ(store_->verify({file, 0, 10}, verified), 0);
  EXPECT_TRUE(verified.damaged.empty());
}

/// The most memory that this process has had since it was last asked, in KiB.
std::uint64_t peak_kib() {
  std::uint64_t peak = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) peak = std::stoull(line.substr(6));
  std::ofstream("/proc/self/clear_refs") << "5";
  return peak;
}

TEST_F(CheckedStoreTest, NoMemoryGrowsWithHoles) {
  constexpr FileId file = 7;
  constexpr std::uint64_t large = std::uint64_t{50} << 40;
  if (store_->truncate(file, large) == EFBIG) GTEST_SKIP() << "machine: files cannot have 50 TiB in " << place_.path();
  peak_kib();
  const std::uint64_t before = peak_kib();
  for (const std::uint64_t offset : {std::uint64_t{0}, large, most_file_bytes - 10 * block}) {
    ASSERT_EQ(write(file, offset, random_bytes(10)), 0) << offset;
    ASSERT_EQ(store_->truncate(file, offset / 2 + 9), 0) << offset;
    ASSERT_EQ(store_->sync(file), 0) << offset;
  }
  EXPECT_LE(peak_kib(), before + 16 * 1024);
  ASSERT_EQ(store_->truncate(file, 5), 0);
  EXPECT_EQ(read(file, 0, 5).size(), 5);
  EXPECT_EQ(health(file), Health::sound);
}

TEST_F(CheckedStoreTest, FullStorageLeavesNoDamage) {
  const std::string small = place_.path() + "/small";
  fs::create_directory(small);
  if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=600k") != 0) GTEST_SKIP() << "needs the right to mount";
  store_ = store_of(small);
  std::map<FileId, Bytes> written;
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    const FileId file = 1 + up_to(6) * 256;
    const std::uint64_t offset = up_to(3) == 0 ? up_to(100'000'000) : up_to(40'000);
    Bytes data = random_bytes(1 + up_to(20'000));
    const Errno error = write(file, offset, data);
    ASSERT_TRUE(error == 0 || error == ENOSPC) << error;
    Bytes after = read(file, offset, data.size());
    EXPECT_TRUE(error != 0 || after == data) << i;
    refused += error == ENOSPC ? 1 : 0;
    if (up_to(20) == 0) {
      EXPECT_EQ(store_->remove(file), 0);
    }
  }
  EXPECT_GT(refused, 10);
  for (FileId file = 1; file <= 1 + 6 * 256; file += 256) {
    DataStat stat;
    EXPECT_EQ(store_->stat(file, stat), 0);
    for (std::uint64_t first = 0; first * block < stat.bytes; first += VerifyRequest::most_blocks) {
      Verified verified;
      EXPECT_EQ(store_->verify({file, first, VerifyRequest::most_blocks}, verified), 0);
      EXPECT_TRUE(verified.damaged.empty()) << file;
    }
  }
  store_.reset();
  EXPECT_EQ(::umount(small.c_str()), 0);
}

// proves listio: orderly-stop-flushes
TEST_F(CheckedStoreTest, ManyFilesAreCleanAfterAnOrderlyEnd) {
  for (FileId file = 1; file <= 100; ++file) ASSERT_EQ(write(file, 0, Bytes(10, std::byte{1})), 0);
  start();
  for (FileId file = 1; file <= 100; ++file) flip(path_of("data", file), 3, 0);
  for (FileId file = 1; file <= 100; ++file) EXPECT_NE(damage([&] { read(file, 0, 10); }), "") << file;
}

}  // namespace
}  // namespace strider::listio
