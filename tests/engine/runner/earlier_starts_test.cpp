#include "runner/earlier_starts.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "foundation/error.hpp"

namespace strider {
namespace {

class EarlierStartsFile : public testing::Test {
 protected:
  ~EarlierStartsFile() override { std::filesystem::remove(path_); }
  EarlierStarts read(const std::string& text) const {
    std::ofstream(path_) << text;
    return read_earlier_starts(path_);
  }
  const std::string path_ =
      std::filesystem::temp_directory_path() / ("strider-earlier-" + std::to_string(::getpid()) + ".json");
};

TEST_F(EarlierStartsFile, HasTheCompleteRepetitionsWithTheirRates) {
  const EarlierStarts starts = read(R"({"elapsed_s": 12.5, "time_limit_s": 60, "samples": 3, "errors": 1,
    "nodes": [{"name": "n1", "ranks": 4}],
    "repetitions": [{"event": "repetition", "case": 2, "repetition": 1, "elapsed_s": 0.1, "failed": true,
                     "rates": {"write": 0.1, "read": null}}]})");
  EXPECT_EQ(starts.elapsed_s, 12.5);
  EXPECT_EQ(starts.time_limit_s, 60);
  EXPECT_EQ(starts.samples, 3U);
  EXPECT_EQ(starts.errors, 1U);
  ASSERT_EQ(starts.nodes.size(), 1U);
  EXPECT_EQ(starts.nodes[0].name, "n1");
  EXPECT_EQ(starts.nodes[0].ranks, 4U);
  ASSERT_EQ(starts.repetitions.size(), 1U);
  const EarlierRepetition& repetition = starts.repetitions[0];
  EXPECT_EQ(repetition.case_number, 2U);
  EXPECT_EQ(repetition.repetition, 1U);
  EXPECT_EQ(repetition.elapsed_s, 0.1);
  EXPECT_TRUE(repetition.failed);
  EXPECT_EQ(repetition.rates.at("write"), 0.1);
  EXPECT_TRUE(std::isnan(repetition.rates.at("read")));
}

TEST_F(EarlierStartsFile, IsRefusedIfItIsDamagedOrMissing) {
  EXPECT_THROW(read(R"({"elapsed_s": 12.5)"), InputError);
  EXPECT_THROW(read("{}"), InputError);
  EXPECT_THROW(read_earlier_starts(path_ + ".missing"), InputError);
}

TEST(DifferenceOfNodes, NamesBothSidesUnlessTheyAreEqualOrAnyNodeWillDo) {
  const std::vector<NodeInfo> two = {{.name = "n1", .ranks = 2}, {.name = "n2", .ranks = 1}};
  const std::vector<NodeInfo> other = {{.name = "n1", .ranks = 2}, {.name = "n3", .ranks = 1}};
  EXPECT_EQ(difference_of_nodes(two, two), "");
  EXPECT_EQ(difference_of_nodes({}, two), "");
  EXPECT_EQ(difference_of_nodes(two, other), "n1 (2), n2 (1) then, n1 (2), n3 (1) now");
}

}  // namespace
}  // namespace strider
