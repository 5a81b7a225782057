#include "listio/client/runs.hpp"

#include <gtest/gtest.h>

#include <set>

#include "foundation/error.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

using Runs = std::map<std::string, std::uint64_t>;

TEST(RunOfTest, KnowsTheNamesOfFilesAndTreesOfARun) {
  EXPECT_EQ(run_of("strider-2026-11-21-load-ab12.case1.0"), "strider-2026-11-21-load-ab12");
  EXPECT_EQ(run_of("strider-a.case2.0.case10.37"), "strider-a.case2.0");
  EXPECT_EQ(run_of("strider-a.case1.0,b0,f0.1"), "strider-a");
}

TEST(RunOfTest, LeavesOtherNamesAlone) {
  for (const char* name :
       {"", "data", "strider-", "strider-.case1.0", "strider-a", "strider-a.case", "strider-a.case1",
        "strider-a.case1.", "strider-a.case.0", "strider-a.case1.0x", "strider-a.case1.-1", "strider-a.case1.0.1",
        "strider-a.case1.,0", "strider-a.case1,2.0", "my-strider-a.case1.0", "a.case1.0"})
    EXPECT_EQ(run_of(name), "") << name;
}

class RunsTest : public testing::Test {
 protected:
  RunsTest() {
    for (const char* directory : {"strider-a.case2.0", "strider-a.case2.0/b0", "kept"})
      client.make_directory(directory);
    for (const char* file : {"strider-a.case1.0", "strider-a.case2.0/f0.0", "strider-a.case2.0/b0/f0.1",
                             "strider-b.case1.0", "strider-a.txt", "kept/strider-a.case1.0"})
      client.write(client.open(file, Creation::exclusive), std::vector<std::byte>(100'000), 0);
  }
  std::set<std::string> names() {
    std::set<std::string> all;
    for (const auto& [name, kind, inode] : client.read_directory("")) all.insert(name);
    return all;
  }
  Service service{2};
  Client client{service.volume()};
};

TEST_F(RunsTest, AreCountedByTheirNamesInTheRoot) {
  EXPECT_EQ(find_runs(client), (Runs{{"strider-a", 2}, {"strider-b", 1}}));
}

TEST_F(RunsTest, AreRemovedWithAllBelowAndNothingElse) {
  EXPECT_EQ(remove_run(client, "strider-a"), 5U);
  EXPECT_EQ(names(), (std::set<std::string>{"strider-b.case1.0", "strider-a.txt", "kept"}));
  EXPECT_EQ(client.stat("kept/strider-a.case1.0").bytes, 100'000U);
  EXPECT_TRUE(client.check().orphans.empty()) << "their data go with them";
}

TEST_F(RunsTest, ThatAreNotThereAreRefused) {
  for (const char* run : {"strider-c", "strider-a.case1.0", "strider", "kept", ""})
    EXPECT_THROW(remove_run(client, run), InputError) << run;
  EXPECT_EQ(names().size(), 5U);
}

}  // namespace
}  // namespace strider::listio
