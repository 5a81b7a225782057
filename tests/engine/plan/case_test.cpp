#include "plan/case.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace strider {
namespace {

TEST(Operations, ReadOrWriteAsTheirDirectionSays) {
  for (const OperationEntry& entry : all_operations()) {
    EXPECT_EQ(reads(entry.operation), entry.direction == "read" || entry.direction == "both") << entry.name;
    EXPECT_EQ(writes(entry.operation), entry.direction == "write" || entry.direction == "both") << entry.name;
    EXPECT_EQ(name_of(entry.operation), entry.name);
    EXPECT_NE(entry.doc, "");
  }
}

TEST(Operations, PreparationWritesButCannotBeAskedFor) {
  EXPECT_TRUE(writes(Operation::prefill));
  EXPECT_FALSE(reads(Operation::prefill));
  EXPECT_EQ(name_of(Operation::prefill), "prefill");
  for (const OperationEntry& entry : all_operations()) EXPECT_NE(entry.operation, Operation::prefill);
}

TEST(Operations, ThatChangeDataHaveAWritersShare) {
  EXPECT_EQ(role_of(Operation::read_modify_write), Direction::write);
  EXPECT_EQ(role_of(Operation::rewrite), Direction::write);
  EXPECT_EQ(role_of(Operation::reread), Direction::read);
}

TEST(CaseParameters, HaveNamesOfTheirOwnAndAreDescribed) {
  std::set<std::string_view> names;
  for (const Parameter& parameter : case_parameters()) {
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
    EXPECT_NE(parameter.doc, "") << parameter.name;
    EXPECT_EQ(parameter.kind == Kind::choice, !parameter.choices.empty()) << parameter.name;
  }
}

}  // namespace
}  // namespace strider
