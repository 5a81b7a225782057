// The paths of a rank in its order, as `items` prints them.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "foundation/error.hpp"
#include "plan/plans.hpp"

namespace strider {
namespace {

/// The lines behind the header.
std::vector<std::string> items(const std::string& case_json, const ExtentsQuery& query,
                               const std::string& header = "") {
  std::ostringstream out;
  print_items(good_plan({case_json}, header), query, out);
  std::istringstream text(out.str());
  std::string line;
  std::getline(text, line);
  EXPECT_EQ(line, "request,path");
  std::vector<std::string> lines;
  while (std::getline(text, line)) lines.push_back(line);
  return lines;
}
using Lines = std::vector<std::string>;

const std::string two_levels = R"("items": 1, "depth": 1, "fanout": 2)";

TEST(Items, AreFilesDirectoryByDirectory) {
  EXPECT_EQ(items(tree_text(R"("clients": 3)", two_levels), {.rank = 2}),
            (Lines{"0,case1.0/f2.0", "1,case1.0/b0/f2.1", "2,case1.0/b1/f2.2"}));
}

TEST(Items, AreInTheOrderOfTheVisits) {
  EXPECT_EQ(items(tree_text(R"("order": "backward")", two_levels), {}),
            (Lines{"2,case1.0/b1/f0.2", "1,case1.0/b0/f0.1", "0,case1.0/f0.0"}));
  const Lines random = items(tree_text(R"("order": "random")", R"("items": 100)"), {});
  EXPECT_EQ(std::set<std::string>(random.begin(), random.end()).size(), 100U);
  EXPECT_NE(random, items(tree_text("", R"("items": 100)"), {}));
}

TEST(Items, AreCalledAfterWhatTheyAre) {
  const auto first = [](const std::string& operation) {
    return items(tree_text(R"("operations": [")" + operation + R"("])"), {.limit = 1}).at(0);
  };
  EXPECT_EQ(first("stat"), "0,case1.0/f0.0");
  EXPECT_EQ(first("rename"), "0,case1.0/f0.0");
  EXPECT_EQ(first("mkdir"), "0,case1.0/d0.0");
  EXPECT_EQ(first("stat-directory"), "0,case1.0/d0.0");
  EXPECT_EQ(first("link"), "0,case1.0/l0.0");
  EXPECT_EQ(first("symlink"), "0,case1.0/s0.0");
  EXPECT_EQ(first("readlink"), "0,case1.0/s0.0");
  EXPECT_EQ(first("readdir"), "0,case1.0");
}

TEST(Items, OfTheTreeAreTheDirectoriesThatARankIsDealt) {
  const std::string tree = R"("items": 1, "depth": 2, "fanout": 2)";
  const auto dealt = [&](const std::string& operation, std::uint32_t rank) {
    return items(tree_text(R"("clients": 2, "operations": [")" + operation + R"("])", tree), {.rank = rank});
  };
  EXPECT_EQ(dealt("make-tree", 0), (Lines{"0,case1.0", "1,case1.0/b1", "2,case1.0/b0/b1", "3,case1.0/b1/b1"}));
  EXPECT_EQ(dealt("readdir", 1), (Lines{"0,case1.0/b0", "1,case1.0/b0/b0", "2,case1.0/b1/b0"}));
  EXPECT_EQ(dealt("remove-tree", 1), (Lines{"2,case1.0/b1/b0", "1,case1.0/b0/b0", "0,case1.0/b0"}))
      << "the deepest first";
}

TEST(Items, OfOperationsOnOtherRanksItemsAreThoseOfTheOther) {
  const std::string shifted = tree_text(
      R"("clients": 3, "sharing": "per-rank", "readback": "shift", "operations": ["create", "stat", "mkdir"])");
  const auto first = [&](const std::string& operation) {
    return items(shifted, {.rank = 2, .operation = operation, .limit = 1}).at(0);
  };
  EXPECT_EQ(first("create"), "0,case1.2/f0.0");
  EXPECT_EQ(first("stat"), "0,case1.0/f0.0");
  EXPECT_EQ(first("mkdir"), "0,case1.2/d0.0");
}

TEST(Items, ThatStayOpenAreAsManyAsMay) {
  EXPECT_EQ(items(tree_text(R"("operations": ["open"], "open_files": 4)"), {}).size(), 4U);
}

TEST(Items, StopAtTheLimit) { EXPECT_EQ(items(tree_text(), {.limit = 3}).size(), 3U); }

TEST(Items, RefuseWhatThePlanDoesNotHave) {
  EXPECT_THROW(items(tree_text(), {.case_number = 2}), InputError);
  EXPECT_THROW(items(tree_text(), {.rank = 1}), InputError);
  EXPECT_THROW(items(tree_text(), {.operation = "mkdir"}), InputError);
  EXPECT_THROW(items(case_text(), {}), InputError) << "a case of data has extents";
  EXPECT_THROW(items(tree_text(R"("operations": ["mix"], "mix": {"stat": 1})"), {}), InputError)
      << "a mix draws its items";
  std::ostringstream out;
  EXPECT_THROW(print_extents(good_plan({tree_text()}), {}, out), InputError);
}

}  // namespace
}  // namespace strider
