#include "foundation/student.hpp"

#include <gtest/gtest.h>

namespace strider {
namespace {

// From printed tables.
TEST(Student, HasTheValuesOfTables) {
  EXPECT_EQ(t_975(1), 12.706);
  EXPECT_EQ(t_975(20), 2.086);
  EXPECT_NEAR(t_975(21), 2.080, 1e-3);
  EXPECT_NEAR(t_975(29), 2.045, 5e-4);
  EXPECT_NEAR(t_975(99), 1.984, 5e-4);
  EXPECT_NEAR(t_975(1'000'000), 1.960, 5e-4);
}

}  // namespace
}  // namespace strider
