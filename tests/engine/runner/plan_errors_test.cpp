#include "runner/plan_errors.hpp"

#include <gtest/gtest.h>

namespace strider {
namespace {

TEST(PlanErrors, TravelAsText) {
  const std::vector<PlanError> errors{{1, "transfer", "first line\nsecond", "a remedy: with colons"},
                                      {20, "", "x", ""}};
  const std::vector<PlanError> arrived = unpacked(packed(errors));
  ASSERT_EQ(arrived.size(), 2U);
  EXPECT_EQ(arrived[0].case_number, 1U);
  EXPECT_EQ(arrived[0].message, errors[0].message);
  EXPECT_EQ(arrived[0].remedy, errors[0].remedy);
  EXPECT_EQ(arrived[1].case_number, 20U);
  EXPECT_EQ(arrived[1].remedy, "");
  EXPECT_TRUE(unpacked(packed({})).empty());
}

TEST(PlanErrors, AreCutWhereThereAreMany) {
  EXPECT_EQ(unpacked(packed(std::vector<PlanError>(1000, {1, "key", "message", ""}))).size(), 100U);
}

}  // namespace
}  // namespace strider
