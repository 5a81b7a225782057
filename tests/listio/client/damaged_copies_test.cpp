// Of a volume with two copies: damage that a client finds, and repeated calls after the loss of a server.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "client_calls.hpp"
#include "corruption.hpp"
#include "foundation/error.hpp"
#include "listio/client/client.hpp"
#include "listio/client/scrub.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

class DamagedCopiesTest : public ::testing::Test {
 protected:
  DamagedCopiesTest() { client_.write(file_, bytes_, 0); }

  /// Changes a byte of a data file, or of its checksums.
  void damage(std::uint32_t server, const std::string& part, std::uint64_t offset) {
    corrupt(service_.path_of(server, part, file_.id), offset, 10);
  }
  /// So that nothing is in memory.
  void restart_all() {
    for (std::uint32_t server = 0; server < 4; ++server) service_.stop(server);
    for (std::uint32_t server = 0; server < 4; ++server) service_.start(server);
  }

  Service service_{4, two_copies(), strip};
  Client client_{service_.volume(), patient()};
  const File file_ = client_.open("a", Creation::exclusive, 0644, {strip, 4, 0});
  const std::vector<std::byte> bytes_ = std::vector<std::byte>(40 * strip, std::byte{3});
};

TEST_F(DamagedCopiesTest, AReadPassesDamageInDifferentCopiesOfSeveralServers) {
  damage(0, "data", 10);
  damage(2, "second/data", 5 * strip);  // of server 1
  damage(2, "data", 3 * strip);
  damage(3, "data", 0);
  std::vector<std::byte> read(bytes_.size());
  EXPECT_EQ(client_.read(file_, read, 0), bytes_.size());
  EXPECT_EQ(read, bytes_);
}

TEST_F(DamagedCopiesTest, AReadOfDamageInBothCopiesFails) {
  damage(1, "data", 10);
  damage(2, "second/data", 10);
  std::vector<std::byte> read(bytes_.size());
  EXPECT_EQ(error_of([&] { client_.read(file_, read, 0); }), EIO);
}

/// 0 is also the time of a data file that is not there.
TEST_F(DamagedCopiesTest, DataOf1970AreRepaired) {
  client_.set_time("a", 0);
  damage(1, "data", 10);
  const ScrubReport report = scrub(client_, {}, [](const ScrubProgress&) {});
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_TRUE(report.findings[0].is_repaired);
  EXPECT_EQ(client_.stat("a").modified_ns, 0);
  EXPECT_TRUE(scrub(client_, {}, [](const ScrubProgress&) {}).findings.empty());
}

/// The server has data of a file that is gone, and old data of one that is longer now.
TEST_F(DamagedCopiesTest, ACheckLooksAtNoOldData) {
  client_.write(client_.open("gone", Creation::exclusive, 0644, {strip, 4, 0}), bytes_, 0);
  service_.stop(1);
  client_.write(file_, bytes_, bytes_.size());
  client_.unlink("gone");
  client_.finish_removals();
  for (const bool runs : {false, true}) {
    if (runs) service_.start(1);
    const CheckReport report = client_.check();
    EXPECT_EQ(report.out, std::vector<std::uint32_t>{1});
    EXPECT_TRUE(report.problems.empty()) << report.problems.front();
    EXPECT_TRUE(report.orphans.empty());
  }
  ASSERT_EQ(client_.fill().size(), 1U);
  const CheckReport filled = client_.check();
  EXPECT_TRUE(filled.out.empty());
  EXPECT_TRUE(filled.problems.empty());
  EXPECT_TRUE(filled.orphans.empty());
}

TEST_F(DamagedCopiesTest, AWriteCountsItsBytesOnceHoweverManyCopiesThereAre) {
  const ByteRun whole{0, bytes_.size()};
  const iovec piece{const_cast<std::byte*>(bytes_.data()), bytes_.size()};  // only read
  const auto write = [&] { return client_.wait(client_.start_write_list(file_, {&piece, 1}, {&whole, 1})); };
  EXPECT_EQ(write(), bytes_.size());
  service_.stop(1);
  EXPECT_EQ(write(), bytes_.size());
  EXPECT_EQ(client_.view().out, std::vector<std::uint32_t>{1});
  EXPECT_EQ(write(), bytes_.size());
}

// proves listio: damage-other-copy
TEST_F(DamagedCopiesTest, ASizeIsThatOfTheOtherCopy) {
  client_.sync(file_);
  restart_all();
  damage(1, "sums", 0);
  damage(2, "sums", 0);
  Client other(service_.volume(), patient());
  EXPECT_EQ(other.size(file_), bytes_.size());
  EXPECT_EQ(other.stat("a").bytes, bytes_.size());
  damage(2, "second/sums", 0);
  restart_all();
  EXPECT_EQ(error_of([&] { client_.size(file_); }), EIO) << "both copies of server 1 are damaged";
}

}  // namespace
}  // namespace strider::listio
