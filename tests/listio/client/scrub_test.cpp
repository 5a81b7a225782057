// Damage of data files is named by the client: by reads, by check and by scrub, with the file and its bytes.
#include "listio/client/scrub.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "foundation/error.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t scrubbed_strip = 65536, strips = 8;

class ScrubTest : public testing::Test {
 protected:
  ScrubTest() : service_(2, {}, scrubbed_strip), client_(volume()) {
    client_.make_directory("folder");
    file_ = client_.open("folder/name", Creation::if_missing, 0644, {.first = 0});
    client_.write(file_, std::vector<std::byte>(strips * scrubbed_strip, std::byte{1}), 0);
    client_.sync(file_);
  }
  Volume volume() const {
    Volume volume = service_.volume();
    volume.checksums = "crc32c";
    return volume;
  }
  fs::path data_file(std::uint32_t server) const {
    for (const auto& each :
         fs::recursive_directory_iterator(service_.folder() + "/server-" + std::to_string(server) + "/data"))
      if (each.is_regular_file()) return each.path();
    throw std::runtime_error("no data file");
  }
  static void damage(const fs::path& path, std::uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put('x');
  }
  ScrubReport report(const ScrubOptions& options = {}) {
    return scrub(client_, options, [this](const ScrubProgress& progress) { last_ = progress; });
  }
  std::string refusal(std::uint64_t offset, std::uint64_t bytes) {
    std::vector<std::byte> buffer(bytes);
    try {
      client_.read(file_, buffer, offset);
      return "";
    } catch (const IoError& error) {
      EXPECT_EQ(error.details().error_number, EIO);
      EXPECT_EQ(error.details().file, "folder/name");
      return error.what();
    }
  }
  Service service_;
  Client client_;
  File file_;
  ScrubProgress last_;
};

TEST_F(ScrubTest, FindsNothingInAVolumeThatIsWhole) {
  const ScrubReport found = report();
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.verified.bytes, strips * scrubbed_strip);
  EXPECT_EQ(found.verified.files, 2U);
  EXPECT_EQ(last_.bytes, last_.all_bytes);
}

// proves listio: damaged-eio, scrub
TEST_F(ScrubTest, NamesTheFileAndItsBytes) {
  damage(data_file(1), scrubbed_strip + 5);  // strip 3 of the file
  damage(data_file(1), scrubbed_strip + 4096);
  const ScrubReport found = report();
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].path, "folder/name");
  EXPECT_EQ(found.findings[0].server, 1U);
  EXPECT_EQ(found.findings[0].damaged, (std::vector<ByteRun>{{3 * scrubbed_strip, 8192}}));
  EXPECT_EQ(refusal(0, 3 * scrubbed_strip), "");
  const std::string text = refusal(3 * scrubbed_strip + 100, 1);
  EXPECT_NE(text.find("server 1"), std::string::npos) << text;
  EXPECT_NE(text.find("is damaged at bytes 65536 to 69631: checksum"), std::string::npos) << text;
  EXPECT_TRUE(client_.check().problems.empty()) << "its length is right";
}

// proves listio: missing-data-file
TEST_F(ScrubTest, AndCheckNameAFileThatIsMissingOrShort) {
  service_.stop(0);
  service_.stop(1);
  fs::remove(data_file(0));
  fs::resize_file(data_file(1), 1000);
  service_.start(0);
  service_.start(1);
  Client client(volume());
  const ScrubReport found = scrub(client, {}, [](const ScrubProgress&) {});
  ASSERT_EQ(found.findings.size(), 2U);
  EXPECT_EQ(found.findings[0].path, "folder/name");
  EXPECT_EQ(found.findings[0].damage, "its data file is missing; it had 262144 bytes");
  EXPECT_EQ(found.findings[1].damage, "its data file has 1000 bytes instead of 262144");
  const std::vector<std::string> problems = client.check().problems;
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0], "folder/name: server 0: its data file is missing; it had 262144 bytes");
  EXPECT_TRUE(client.check().orphans.empty());
}

// proves listio: scrub-rate
TEST_F(ScrubTest, KeepsToItsRate) {
  const auto begin = std::chrono::steady_clock::now();
  report({.bytes_per_s = strips * scrubbed_strip / 2});  // each server has half of the bytes
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(elapsed.count(), 0.95);
}

TEST_F(ScrubTest, RefusesAVolumeWithoutChecksums) {
  Volume volume = service_.volume();
  volume.checksums = "off";
  Client client(volume);
  EXPECT_THROW(scrub(client, {}, [](const ScrubProgress&) {}), InputError);
}

}  // namespace
}  // namespace strider::listio
