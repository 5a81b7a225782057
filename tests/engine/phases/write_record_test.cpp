#include "phases/write_record.hpp"

#include <gtest/gtest.h>

#include "plan/plans.hpp"

namespace strider {
namespace {

/// Two ranks, three requests of ten bytes each, in one file of 60 bytes.
class WriteRecordTest : public testing::Test {
 protected:
  Case test = good_case(case_text(R"("clients": 2)", R"("name": "strided", "transfer": 10, "count": 3)"));
  std::unique_ptr<Pattern> pattern = test.pattern->make(test.pattern_settings);
  std::unique_ptr<Interface> interface = test.interface->make(test.interface_settings);
  FileAssignments assignments{test.sharing, 2, {}};
  WriteRecord record{test, *pattern, assignments, *interface};
};

TEST_F(WriteRecordTest, AFileEndsWhereTheLastByteWasWritten) {
  EXPECT_EQ(record.size_of(0).most, 0U);
  record.written(1, {{2, 30}, {1, 20}});
  EXPECT_EQ(record.size_of(0).least, 30U);
  record.written(2, {{1, 10}, {1, 20}});
  EXPECT_EQ(record.size_of(0).least, 30U) << "writing less does not cut it";
  EXPECT_EQ(record.size_of(0).most, 30U);
  record.prefilled(3);
  EXPECT_EQ(record.size_of(0).least, 60U);
}

TEST_F(WriteRecordTest, APhaseThatWasCutShortLiesOverTheOneBefore) {
  record.written(1, {{3, 50}, {3, 60}});
  record.written(2, {{3, 50}, {2, 40}});
  ASSERT_EQ(record.layers().size(), 2U);
  EXPECT_EQ(record.layers()[0].generation, 2U);
  EXPECT_FALSE(record.layers()[0].complete);
  EXPECT_TRUE(record.layers()[1].whole);
}

TEST_F(WriteRecordTest, ACompletePhaseHidesAllThatWereBefore) {
  record.written(1, {{3, 50}, {2, 40}});
  record.written(2, {{3, 50}, {3, 60}});
  ASSERT_EQ(record.layers().size(), 1U);
  EXPECT_EQ(record.layers()[0].generation, 2U);
  EXPECT_TRUE(record.layers()[0].whole);
}

}  // namespace
}  // namespace strider
