#include "listio/server/folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "corruption.hpp"
#include "foundation/error.hpp"
#include "listio/protocol/secret.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

class FolderTest : public testing::Test {
 protected:
  /// Why a server may not use the folder; empty where it may.
  std::string refusal(const Label& label, strider::listio::Folder folder = Folder::any) const {
    try {
      const ServerFolder used(place_.path(), label, folder);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }
  std::string refusal(std::uint32_t number, std::uint32_t servers, strider::listio::Folder folder = Folder::any) const {
    return refusal(Label{{}, number, servers}, folder);
  }
  /// A server has kept something.
  void use(std::uint32_t number = 0) const { std::filesystem::create_directories(path(number) + "/data/2a"); }
  std::string path(std::uint32_t number = 0) const { return place_.path() + "/server-" + std::to_string(number); }
  std::string label(std::uint32_t number = 0) const {
    std::ifstream file(path(number) + "/label");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void set_label(const std::string& text) const { std::ofstream(path() + "/label") << text; }
  TemporaryFolder place_;
};

TEST_F(FolderTest, IsGoodForTheSameServerOfAVolumeOfAsMany) {
  EXPECT_EQ(refusal(1, 2), "");
  use(1);
  EXPECT_EQ(refusal(1, 2), "");
  EXPECT_EQ(refusal(0, 2), "") << "another one beside it";
  expect_in("belongs to server 1 of 2, not to server 1 of 3", refusal(1, 3));
}

// proves listio: foreign-folder-refused
TEST_F(FolderTest, OfAnotherServerIsRefused) {
  EXPECT_EQ(refusal(1, 2), "");
  use(1);
  std::filesystem::rename(path(1), path(0));
  expect_in("belongs to server 1 of 2, not to server 0 of 2", refusal(0, 2));
}

// proves listio: foreign-folder-refused
TEST_F(FolderTest, OfAnotherVolumeIsRefused) {
  const VolumeState first{make_volume_id(), 1}, second{make_volume_id(), 1};
  EXPECT_EQ(refusal({first}), "");
  use();
  expect_in("belongs to volume " + to_hex(first.id) + ", not to " + to_hex(second.id), refusal({second}));
  expect_in("belongs to volume", refusal({second}, Folder::existing));
  EXPECT_EQ(refusal({first}), "");
}

TEST_F(FolderTest, OfAFirstStartThatFailedIsTakenByTheNext) {
  EXPECT_EQ(refusal({{make_volume_id(), 1}}), "");
  EXPECT_EQ(refusal({{make_volume_id(), 1}}), "");
  EXPECT_NE(refusal({{make_volume_id(), 2}}), "");
  EXPECT_NE(refusal({{make_volume_id(), 1}}, Folder::existing), "");
}

// proves listio: foreign-folder-refused
TEST_F(FolderTest, OfAnotherStartThanTheLastIsRefused) {
  const VolumeId id = make_volume_id();
  const auto start = [&](std::uint64_t epoch) { return refusal(Label{{id, epoch}}, Folder::existing); };
  EXPECT_EQ(refusal(Label{{id, 1}}), "");
  use();
  const std::string copy = path() + "-copy";
  std::filesystem::copy(path(), copy, std::filesystem::copy_options::recursive);
  EXPECT_EQ(start(2), "");
  EXPECT_EQ(start(2), "") << "a start that was not completed is repeated";
  EXPECT_EQ(start(3), "");
  std::filesystem::remove_all(path());
  std::filesystem::rename(copy, path());
  expect_in("is in the state of start 1 of the volume, whose last start was 3", start(4));
}

// proves listio: old-copy-not-found
TEST_F(FolderTest, ThatIsACopyOfTheSameStartIsTaken) {
  const VolumeId id = make_volume_id();
  EXPECT_EQ(refusal(Label{{id, 1}}), "");
  use();
  const std::string copy = path() + "-copy";
  std::filesystem::copy(path(), copy, std::filesystem::copy_options::recursive);
  std::filesystem::create_directory(path() + "/data/2b");
  std::filesystem::remove_all(path());
  std::filesystem::rename(copy, path());
  EXPECT_EQ(refusal(Label{{id, 2}}, Folder::existing), "");
}

TEST_F(FolderTest, OfAnOlderReleaseGetsTheLabelOfToday) {
  EXPECT_EQ(refusal(0, 2), "");
  use();
  set_label("strider-listio-server 1 number 0 servers 2\n");
  const VolumeId id = make_volume_id();
  expect_in("belongs to server 0 of 2, not to server 0 of 3", refusal(Label{{id, 1}, 0, 3}));
  EXPECT_EQ(refusal(Label{{id, 1}, 0, 2}, Folder::existing), "");
  expect_in(to_hex(id), label());
}

// proves listio: checksums-for-good
TEST_F(FolderTest, WithOtherChecksumsIsRefused) {
  const VolumeId id = make_volume_id();
  const Label with{{id, 1}, 0, 1, Checksums::crc32c}, without{{id, 1}, 0, 1, Checksums::off};
  EXPECT_EQ(refusal(with), "");
  use();
  expect_in("has data with checksums crc32c, not off", refusal(without, Folder::existing));
  EXPECT_EQ(refusal(with, Folder::existing), "");
}

TEST_F(FolderTest, ThatWasReplacedIsRefused) {
  const VolumeId id = make_volume_id();
  const auto replaced = [&](std::uint32_t times) {
    return Label{.volume = {id, 1}, .number = 1, .servers = 3, .copies = 2, .replaced = times};
  };
  EXPECT_EQ(refusal(replaced(0)), "");
  use(1);
  expect_in("it was replaced 1 times, this one 0 times", refusal(replaced(1), Folder::existing));
  EXPECT_EQ(refusal(replaced(0), Folder::existing), "");
  std::filesystem::remove_all(path(1));
  EXPECT_EQ(refusal(replaced(12)), "");
  use(1);
  EXPECT_EQ(refusal(replaced(12), Folder::existing), "");
  expect_in("this one 12 times", refusal(replaced(0), Folder::existing));
}

// proves listio: label, foreign-folder-refused
TEST_F(FolderTest, WithADamagedLabelIsRefused) {
  const Label wanted{{make_volume_id(), 7}, 0, 4, Checksums::crc32c};
  EXPECT_EQ(refusal(wanted), "");
  use();
  const std::string good = label();
  for (std::size_t place = 0; place < good.size(); ++place)
    for (const char change : {'\x01', '\x20', '\x7f'}) {
      std::string text = good;
      text[place] = static_cast<char>(text[place] ^ change);
      set_label(text);
      EXPECT_NE(refusal(wanted), "") << text;
      EXPECT_EQ(label(), text) << "nothing was written";
    }
  set_label(good.substr(0, good.size() / 2));
  expect_in("is damaged", refusal(wanted));
  set_label("");
  expect_in("holds data, and its label is empty", refusal(wanted));
  set_label(good);
  EXPECT_EQ(refusal(wanted), "");
}

TEST_F(FolderTest, WithAnyCorruptByteOfItsLabelIsRefused) {
  const Label wanted{{make_volume_id(), 7}, 0, 4, Checksums::crc32c};
  EXPECT_EQ(refusal(wanted), "");
  use();
  std::mt19937 random(13);
  const std::string good = label();
  for (int left = corruptions(250); left > 0; --left) {
    const std::uint64_t place = random() % good.size();
    const auto change = static_cast<unsigned>(1 + random() % 255);
    corrupt(path() + "/label", place, change);
    const std::string text = label(), why = refusal(wanted);
    ASSERT_NE(why.find("server-0"), std::string::npos) << "byte " << place << " by " << change << ": " << why;
    ASSERT_EQ(label(), text) << "nothing was written";
    corrupt(path() + "/label", place, change);
  }
  EXPECT_EQ(refusal(wanted), "");
}

// proves listio: label
TEST_F(FolderTest, HasOneServerAtATime) {
  {
    const ServerFolder used(place_.path(), Label{}, Folder::any);
    EXPECT_NE(refusal(0, 1).find("another server uses this folder"), std::string::npos);
  }
  EXPECT_EQ(refusal(0, 1), "");
}

TEST_F(FolderTest, OfAVolumeThatIsThereIsNotMadeAnew) {
  EXPECT_NE(refusal(0, 1, Folder::existing).find("no data of this server found"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(place_.path() + "/server-0"));
  EXPECT_EQ(refusal(0, 1), "");
  EXPECT_EQ(refusal(0, 1, Folder::existing), "");
}

TEST_F(FolderTest, ThatCannotBeMadeIsNamed) {
  std::ofstream(place_.path() + "/server-0") << "in the way";
  EXPECT_NE(refusal(0, 1).find(place_.path() + "/server-0"), std::string::npos);
}

}  // namespace
}  // namespace strider::listio
