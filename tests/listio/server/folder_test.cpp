#include "listio/server/folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "foundation/error.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

class FolderTest : public testing::Test {
 protected:
  /// Why a server may not use the folder; empty where it may.
  std::string refusal(std::uint32_t number, std::uint32_t servers, strider::listio::Folder folder = Folder::any) const {
    try {
      const ServerFolder used(place_.path(), number, servers, folder);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }
  TemporaryFolder place_;
};

TEST_F(FolderTest, IsGoodForTheSameServerOfAVolumeOfAsMany) {
  EXPECT_EQ(refusal(1, 2), "");
  EXPECT_EQ(refusal(1, 2), "");
  EXPECT_EQ(refusal(0, 2), "") << "another one beside it";
  EXPECT_NE(refusal(1, 3).find("belongs to 'strider-listio-server 1 number 1 servers 2'"), std::string::npos);
}

TEST_F(FolderTest, HasOneServerAtATime) {
  {
    const ServerFolder used(place_.path(), 0, 1, Folder::any);
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
