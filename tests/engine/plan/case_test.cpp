#include "plan/case.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace strider {
namespace {

TEST(Operations, ReadOrWriteAsTheirDirectionSays) {
  for (const OperationEntry& entry : all_operations()) {
    EXPECT_EQ(name_of(entry.operation), entry.name);
    EXPECT_EQ(find_operation(entry.name), &entry);
    EXPECT_NE(entry.doc, "");
    EXPECT_EQ(is_metadata(entry.operation), entry.direction == "metadata") << entry.name;
    if (is_metadata(entry.operation)) continue;
    EXPECT_EQ(reads(entry.operation), entry.direction == "read" || entry.direction == "both") << entry.name;
    EXPECT_EQ(writes(entry.operation), entry.direction == "write" || entry.direction == "both") << entry.name;
  }
}

TEST(Operations, OfMetadataSayWhatTheyVisit) {
  for (const OperationEntry& entry : all_operations()) {
    EXPECT_EQ(entry.metadata.operates_on != OperatesOn::nothing, is_metadata(entry.operation)) << entry.name;
    EXPECT_EQ(name_of(entry.metadata.operates_on).empty(), !is_metadata(entry.operation)) << entry.name;
    EXPECT_EQ(entry.metadata.calls.empty(), !is_metadata(entry.operation)) << entry.name;
  }
}

TEST(Operations, ThatMakeSomethingNewWorkOnARanksOwnItemsAndMeetNoneOfThem) {
  const auto entry = [](Operation operation) { return entry_of(operation).metadata; };
  for (const Operation operation :
       {Operation::create, Operation::mknod, Operation::link, Operation::symlink, Operation::mkdir}) {
    EXPECT_EQ(entry(operation).owner, MetadataOperation::Owner::own) << name_of(operation);
    EXPECT_EQ(entry(operation).makes, entry(operation).avoids.both(entry(operation).makes)) << name_of(operation);
  }
  EXPECT_EQ(entry(Operation::mix).owner, MetadataOperation::Owner::own);
  for (const Operation operation : {Operation::stat, Operation::unlink, Operation::rename, Operation::rmdir})
    EXPECT_EQ(entry(operation).owner, MetadataOperation::Owner::acting) << name_of(operation);
}

TEST(Operations, ThatMakeOrRemoveItemsSayThatTheyChangeThem) {
  for (const OperationEntry& entry : all_operations()) {
    Things items = entry.metadata.makes;
    items.add(entry.metadata.removes);
    items.remove({Thing::open_files});
    if (items.empty()) continue;
    EXPECT_EQ(entry.metadata.population, MetadataOperation::Population::changes) << entry.name;
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

void expect_described(std::span<const Parameter> parameters) {
  std::set<std::string_view> names;
  for (const Parameter& parameter : parameters) {
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
    EXPECT_NE(parameter.doc, "") << parameter.name;
    EXPECT_EQ(parameter.kind == Kind::choice, !parameter.choices.empty()) << parameter.name;
  }
}

TEST(CaseParameters, HaveNamesOfTheirOwnAndAreDescribed) {
  expect_described(case_parameters());
  expect_described(tree_case_parameters());
}

TEST(CaseParameters, OfMetadataAreThoseOfDataWithoutQueueCacheAndRuntimeAndMore) {
  const std::set<std::string_view> of_data = {"depth", "think", "cache", "runtime", "ramp", "read_share", "values"};
  std::set<std::string_view> names;
  for (const Parameter& parameter : tree_case_parameters()) names.insert(parameter.name);
  for (const Parameter& parameter : case_parameters())
    EXPECT_EQ(names.contains(parameter.name), !of_data.contains(parameter.name)) << parameter.name;
  for (const char* name : {"mix", "mix_operations", "open_files", "deadline_of"}) EXPECT_TRUE(names.contains(name));
}

}  // namespace
}  // namespace strider
