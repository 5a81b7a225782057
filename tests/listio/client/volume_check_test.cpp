// Checks and repairs of volumes, also of volumes in use.
#include "listio/client/volume_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "foundation/error.hpp"
#include "server/server_process.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(const std::string& name, std::size_t count = 2000) {
  std::vector<std::byte> bytes(count);
  const std::size_t seed = std::hash<std::string>()(name);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>((i + seed) * 2654435761U >> 13);
  return bytes;
}

void make(Client& client, const std::string& path, const std::string& content) {
  Spreading spreading;
  spreading.strip_bytes = 512;
  client.write(client.open(path, Creation::exclusive, 0644, spreading), bytes_of(content), 0);
}

bool has(Client& client, const std::string& path, const std::string& content) {
  std::vector<std::byte> read(2000);
  return client.read(client.open(path), read, 0) == read.size() && read == bytes_of(content);
}

int error_of(Client& client, const std::string& path) {
  try {
    client.open(path);
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("name entry of " + path + " is damaged"), std::string::npos)
        << error.what();
    return error.details().error_number;
  }
  return 0;
}

bool names(const std::vector<std::string>& lines, const std::string& path) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.starts_with(path + ": "); });
}

std::string all_of(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

class VolumeCheckTest : public testing::Test {
 protected:
  fs::path entry(const std::string& path) const { return service_.folder() + "/server-0/names/" + path; }

  /// No problem, and no data file that is not of one of so many files.
  void expect_clean(std::uint64_t files) {
    const CheckReport report = client_.check();
    EXPECT_EQ(all_of(report.problems), "");
    EXPECT_TRUE(report.orphans.empty());
    EXPECT_EQ(report.files, files);
  }

  Service service_{2};
  Client client_{service_.volume()};
};

// proves listio: repair-entry
TEST_F(VolumeCheckTest, RandomChangesOfBytesAreFoundNamedAndRepaired) {
  constexpr int changes = 500, files = 24;
  std::mt19937 random(11);
  for (const char* directory : {"a", "a/b", "c"}) client_.make_directory(directory);
  std::vector<std::string> paths;
  for (int i = 0; i < files; ++i) {
    const std::array<std::string, 4> places{"", "a/", "a/b/", "c/"};
    paths.push_back(places[static_cast<std::size_t>(i) % 4] + "file-" + std::to_string(i));
    make(client_, paths.back(), paths.back());
  }
  for (int done = 0; done < changes;) {
    std::set<std::string> hit;
    for (unsigned i = 0; i < 1 + random() % 5; ++i, ++done) {
      const std::string& path = paths[random() % paths.size()];
      if (!hit.insert(path).second) continue;
      std::fstream stream(entry(path), std::ios::in | std::ios::out | std::ios::binary);
      const auto place = static_cast<std::streamoff>(random() % fs::file_size(entry(path)));
      stream.seekg(place);
      const char letter = static_cast<char>(stream.get() ^ static_cast<char>(1 + random() % 255));
      stream.seekp(place);
      stream.put(letter);
    }
    const CheckReport report = client_.check();
    EXPECT_EQ(report.files, files);
    EXPECT_TRUE(report.orphans.empty()) << "the data are not orphaned";
    EXPECT_NE(report.reason_to_keep_orphans(), "");
    EXPECT_EQ(report.problems.size(), hit.size()) << all_of(report.problems);
    for (const std::string& path : paths) {
      EXPECT_EQ(names(report.problems, path), hit.contains(path)) << path << "\n" << all_of(report.problems);
      if (hit.contains(path)) {
        EXPECT_EQ(error_of(client_, path), EUCLEAN);
      }
    }
    EXPECT_TRUE(has(
        client_, *std::find_if_not(paths.begin(), paths.end(), [&](const auto& path) { return hit.contains(path); }),
        *std::find_if_not(paths.begin(), paths.end(), [&](const auto& path) { return hit.contains(path); })));
    const std::vector<std::string> repairs = client_.repair(report);
    EXPECT_EQ(repairs.size(), hit.size()) << all_of(repairs);
    for (const std::string& path : hit) EXPECT_TRUE(has(client_, path, path)) << path;
  }
  expect_clean(files);
  for (const std::string& path : paths) EXPECT_TRUE(has(client_, path, path)) << path;
}

TEST_F(VolumeCheckTest, ACopyRepairsAnEntryAfterARename) {
  client_.make_directory("a");
  make(client_, "a/one", "one");
  make(client_, "two", "two");
  client_.rename("a", "b");
  client_.rename("two", "b/three");
  for (const char* path : {"b/one", "b/three"}) fs::resize_file(entry(path), 0);
  client_.repair(client_.check());
  EXPECT_TRUE(has(client_, "b/one", "one"));
  EXPECT_TRUE(has(client_, "b/three", "two"));
  expect_clean(2);
}

// proves listio: repair-name
TEST_F(VolumeCheckTest, LostNamesAreRestored) {
  client_.make_directory("a");
  make(client_, "a/one", "one");
  make(client_, "two", "two");
  service_.stop(0);
  fs::remove_all(entry(""));
  service_.start(0);
  Client client(service_.volume());
  const CheckReport report = client.check();
  EXPECT_TRUE(report.orphans.empty()) << "their copies say whose they are";
  EXPECT_TRUE(names(report.problems, "a/one") && names(report.problems, "two")) << all_of(report.problems);
  client.repair(report);
  EXPECT_TRUE(has(client, "lost+found/a/one", "one"));
  EXPECT_TRUE(has(client, "lost+found/two", "two"));
  EXPECT_TRUE(client.check().problems.empty());
}

// proves listio: repair-entry, repair-deletes-nothing
TEST_F(VolumeCheckTest, WhatNothingExplainsIsPutAsideAndKeepsOrphans) {
  make(client_, "one", "one");
  make(client_, "two", "two");
  fs::remove_all(service_.folder() + "/server-0/entries");
  fs::create_directory(service_.folder() + "/server-0/entries");
  fs::resize_file(entry("one"), 7);
  service_.stop(0);
  service_.start(0);
  Client client(service_.volume());
  CheckReport report = client.check();
  EXPECT_TRUE(names(report.problems, "one")) << all_of(report.problems);
  EXPECT_EQ(report.problems.size(), 2) << "and that two has no copy";
  EXPECT_EQ(report.orphans.size(), 2) << "nothing says that they are those of one";
  EXPECT_NE(report.reason_to_keep_orphans(), "");
  const std::vector<std::string> repairs = client.repair(report);
  EXPECT_NE(all_of(repairs).find("one: name entry moved to server-0/set-aside/entry-one-"), std::string::npos)
      << all_of(repairs);
  report = client.check();
  EXPECT_TRUE(report.problems.empty()) << all_of(report.problems);
  EXPECT_EQ(report.set_aside, 1);
  EXPECT_NE(report.reason_to_keep_orphans().find("server-0/set-aside"), std::string::npos);
  EXPECT_TRUE(has(client, "two", "two"));
  fs::remove_all(service_.folder() + "/server-0/set-aside");
  report = client.check();
  EXPECT_EQ(report.reason_to_keep_orphans(), "");
  EXPECT_EQ(report.orphans.size(), 2);
}

// proves listio: repair-copy
TEST_F(VolumeCheckTest, EntriesOfAnOlderReleaseAreReadAndGetChecksums) {
  make(client_, "one", "one");
  std::string text;
  std::getline(std::ifstream(entry("one")), text);
  // strider-listio-file 2 ID servers 2 first N strip 512 crc32c SUM
  text.replace(text.find(" 2 "), 3, " 1 ");
  std::ofstream(entry("one")) << text.substr(0, text.find(" crc32c")) << "\n";
  for (const auto& shard : fs::directory_iterator(service_.folder() + "/server-0/entries")) fs::remove_all(shard);
  EXPECT_TRUE(has(client_, "one", "one"));
  const CheckReport report = client_.check();
  EXPECT_TRUE(report.orphans.empty()) << "the name says whose they are";
  ASSERT_EQ(report.problems.size(), 1) << all_of(report.problems);
  EXPECT_NE(report.problems.front().find("1 name entries have no checksum, such as one"), std::string::npos);
  client_.repair(report);
  EXPECT_TRUE(has(client_, "one", "one"));
  expect_clean(1);
}

/// Creates, renames and removes files and directories until it has to end; the remaining ones are in `kept`.
class Load {
 public:
  Load(const Volume& volume, unsigned number) : volume_(volume), number_(number), thread_([this] { run(); }) {}
  ~Load() { end(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  void end() {
    ending_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::map<std::string, std::string> kept;  ///< content of files, by path
  std::string failure;
  int rounds = 0;

 private:
  void run() {
    try {
      Client client(volume_);
      std::mt19937 random(number_);
      const std::string mine = "load-" + std::to_string(number_);
      for (const char* const below : {"", "/x", "/y"}) client.make_directory(mine + below);
      for (; !ending_; ++rounds) round(client, random, mine);
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }
  void round(Client& client, std::mt19937& random, const std::string& mine) {
    const std::string name = "file-" + std::to_string(rounds), first = mine + "/x/" + name;
    make(client, first, first);
    const std::string second = mine + (random() % 2 == 0 ? "/x/" : "/y/") + "renamed-" + std::to_string(rounds);
    client.rename(first, second);
    if (!has(client, second, first)) throw std::runtime_error(second + " has lost its data");
    kept[second] = first;
    if (kept.size() > 30) {
      const auto gone = std::next(kept.begin(), static_cast<std::ptrdiff_t>(random() % kept.size()));
      client.unlink(gone->first);
      kept.erase(gone);
    }
    if (rounds % 200 != 199) return;
    // A directory moves away and back.
    client.rename(mine + "/y", mine + "/z");
    client.rename(mine + "/z", mine + "/y");
  }

  const Volume& volume_;
  const unsigned number_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

// proves listio: check-in-use
TEST(VolumeInUseTest, RemovingOrphansTakesNothingOfALoad) {
  ServerProcesses servers(2, "tcp");
  Client client(servers.volume());
  std::vector<std::unique_ptr<Load>> loads;
  for (unsigned i = 0; i < 3; ++i) loads.push_back(std::make_unique<Load>(servers.volume(), i));
  int removed = 0, settled = 0;
  for (int i = 0; i < 30; ++i) {
    // Data of no file, to be found among all the others.
    client.write(File{"none", 1000U + static_cast<unsigned>(i), Striping(1, 512)}, bytes_of("orphan"), 0);
    const CheckReport report = client.check();
    if (!report.is_settled) continue;
    ++settled;
    EXPECT_EQ(all_of(report.problems), "");
    for (const auto& orphan : report.orphans) {
      client.remove_orphan(orphan);
      removed += orphan.file < 2000 ? 1 : 0;
    }
  }
  for (const auto& load : loads) load->end();
  std::uint64_t files = 0;
  for (const auto& load : loads) {
    EXPECT_EQ(load->failure, "");
    EXPECT_GT(load->rounds, 10);
    files += load->kept.size();
    for (const auto& [path, content] : load->kept) EXPECT_TRUE(has(client, path, content)) << path;
  }
  EXPECT_GT(settled, 0);
  EXPECT_GE(removed, settled);
  const CheckReport report = client.check();
  EXPECT_EQ(all_of(report.problems), "");
  EXPECT_EQ(report.files, files);
}

// proves listio: check-moving-directories
TEST(VolumeInUseTest, DirectoriesThatMoveAllTheTimeEndACheck) {
  const Service service(1);
  Client client(service.volume());
  client.make_directory("there");
  make(client, "there/file", "file");
  std::atomic<bool> ending = false;
  std::thread mover([&] {
    Client other(service.volume());
    while (!ending) {
      other.rename("there", "back");
      other.rename("back", "there");
    }
  });
  CheckReport report;
  // A check may fall between two renames.
  for (int i = 0; i < 1000 && (i == 0 || report.is_settled); ++i) report = client.check();
  ending = true;
  mover.join();
  ASSERT_FALSE(report.is_settled);
  EXPECT_NE(report.reason_to_keep_orphans(), "");
  EXPECT_TRUE(report.repairs.empty());
  EXPECT_NE(all_of(report.problems).find("directories were renamed during each of 3 checks"), std::string::npos);
  EXPECT_EQ(all_of(client.check().problems), "");
}

}  // namespace
}  // namespace strider::listio
