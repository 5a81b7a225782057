#include "measure/counters.hpp"

#include <gtest/gtest.h>

namespace strider {
namespace {

CounterGroup disk(std::uint64_t reads, std::uint64_t busy_ns) {
  CounterGroup group{"block", "sda", {}};
  group.add("reads", reads);
  group.add("busy_s", busy_ns, CounterKind::time_ns);
  return group;
}

TEST(Counters, DifferBetweenTwoReadings) {
  const CounterGroups passed = difference({disk(10, 500)}, {disk(17, 800)});
  ASSERT_EQ(passed, CounterGroups{disk(7, 300)});
}

TEST(Counters, OfLevelsTheLaterOneCounts) {
  CounterGroup before{"memory", "", {}}, after = before;
  before.add("dirty_bytes", 900, CounterKind::level);
  after.add("dirty_bytes", 100, CounterKind::level);
  EXPECT_EQ(difference({before}, {after}), CounterGroups{after});
}

TEST(Counters, WhatSomebodyResetIsLeftOut) {
  const CounterGroups passed = difference({disk(10, 500)}, {disk(3, 800)});
  ASSERT_EQ(passed.size(), 1);
  ASSERT_EQ(passed[0].counters.size(), 1);
  EXPECT_EQ(passed[0].counters[0].name, "busy_s");
}

TEST(Counters, WhereNothingHappenedOrNothingWasBeforeIsLeftOut) {
  EXPECT_TRUE(difference({disk(10, 500)}, {disk(10, 500)}).empty());
  EXPECT_TRUE(difference({}, {disk(10, 500)}).empty());
}

TEST(Counters, OfSeveralNodesAreSumsAndOfDevicesThoseOfTheBusiest) {
  const auto device = [](const char* name, std::uint64_t read_bytes, std::uint64_t written_bytes) {
    CounterGroup group{"block", name, {}};
    group.add("read_bytes", read_bytes);
    group.add("written_bytes", written_bytes);
    return group;
  };
  const auto network = [](const char* name, std::uint64_t sent_bytes) {
    CounterGroup group{"network", name, {}};
    group.add("sent_bytes", sent_bytes);
    return group;
  };
  CounterGroups sum;
  add_node(sum, {device("sda", 10, 1), device("dm-0", 10, 2), network("eth0", 5)});
  add_node(sum, {network("eth0", 7), network("ib0", 100), device("nvme0n1", 40, 0)});
  add_node(sum, {network("eth0", 1)});
  EXPECT_EQ(sum, (CounterGroups{network("eth0", 13), device("busiest", 50, 2), network("ib0", 100)}));
}

TEST(Counters, AreFoundByNameWhenTheirOrderChanges) {
  CounterGroup before{"lustre", "a/osc", {}}, after = before;
  before.add("write_bytes", 5);
  after.add("read_bytes", 100);
  after.add("write_bytes", 9);
  const CounterGroups passed = difference({before}, {after});
  ASSERT_EQ(passed.size(), 1);
  EXPECT_EQ(passed[0].value("write_bytes"), 4);
  EXPECT_EQ(passed[0].counters.size(), 1);
}

TEST(Counters, SumUpOverInstances) {
  CounterGroup one = disk(3, 7), other = disk(5, 2);
  other.instance = "sdb";
  EXPECT_EQ(sum_of({one, other}, "block", "reads"), 8);
  EXPECT_EQ(largest_of({one, other}, "block", "reads"), 5);
  EXPECT_EQ(sum_of({one, other}, "network", "reads"), 0);
}

TEST(Counters, TravelAsText) {
  CounterGroup nfs{"nfs", "/mnt/with\\040blank", {}};
  nfs.add("read_calls", ~std::uint64_t{0});
  CounterGroup memory{"memory", "", {}};
  memory.add("free_bytes", 0, CounterKind::level);
  const CounterGroups groups{disk(1, 2), nfs, memory};
  EXPECT_EQ(counters_from_text(to_text(groups)), groups);
  EXPECT_TRUE(counters_from_text("").empty());
}

}  // namespace
}  // namespace strider
