#include "runner/shared_plan.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "mpi_session.hpp"
#include "plan/plans.hpp"

namespace strider {
namespace {

class SharedPlanTest : public RanksTest {
 protected:
  /// Written by rank 0, the only one that reads it.
  std::string plan_file(const std::string& text) {
    if (rank == 0) std::ofstream(path_) << text;
    return path_;
  }
  ~SharedPlanTest() override {
    if (rank == 0) std::filesystem::remove(path_);
  }

 private:
  std::string path_ = testing::TempDir() + "strider-shared-plan-" + std::to_string(::getpid());
};

TEST_F(SharedPlanTest, KeepsAllCasesOnRank0AndHandsThemOutByTurn) {
  std::vector<std::string> cases;  // about two mebibytes
  for (int i = 1; i <= 300; ++i)
    cases.push_back(case_text("\"clients\": " + std::to_string(i % 7 + 1) + ", \"name\": \"" +
                              std::string(7'000, static_cast<char>('a' + i % 26)) + '"'));
  const std::string turn = R"(, "turn": {"number": 1, "earlier": []}, "group": ")";
  cases[4] += turn + "a\"";
  cases[250] += turn + "b\"";
  std::vector<PlanError> errors;
  SharedPlan shared(plan_file(plan_text(cases, R"("ranks": 7, )")), errors);
  for (const PlanError& error : errors) ADD_FAILURE() << error.case_number << ": " << error.message;
  EXPECT_EQ(shared.plan().ranks, 7U);
  EXPECT_EQ(shared.plan().cases.size(), rank == 0 ? 300U : 0U);
  for (const std::size_t index : {299U, 0U, 0U, 4U}) {
    const TurnCases& found = shared.begin_turn(index);
    const std::vector<std::size_t> expected = index == 4 ? std::vector<std::size_t>{4, 250} : std::vector{index};
    EXPECT_EQ(found.indices, expected);
    ASSERT_EQ(found.cases.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found.cases[i].number, expected[i] + 1);
      EXPECT_EQ(found.cases[i].clients, (expected[i] + 1) % 7 + 1);
    }
  }
}

TEST_F(SharedPlanTest, HasTheErrorsOfTheWholeOnAllRanks) {
  for (const std::string& text : {std::string("{"), std::string(), plan_text({case_text()}, R"("seed": -1, )")}) {
    std::vector<PlanError> errors;
    SharedPlan shared(plan_file(text), errors);
    EXPECT_EQ(errors.size(), 1U) << text;
    EXPECT_NE(errors.at(0).message, "");
  }
}

TEST_F(SharedPlanTest, HasTheErrorsOfCasesOnTheRanksThatFindThem) {
  std::vector<PlanError> errors;
  SharedPlan shared(plan_file(plan_text({case_text(), case_text(R"("clients": 0)"), case_text(R"("warmup": -1)")})),
                    errors);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].case_number, 2U);
  EXPECT_EQ(errors[1].case_number, 3U);
}

}  // namespace
}  // namespace strider
