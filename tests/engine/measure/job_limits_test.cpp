#include "measure/job_limits.hpp"

#include <gtest/gtest.h>

#include "foundation/units.hpp"
#include "recorded_tree.hpp"

namespace strider {
namespace {

constexpr const char* own_memory = "400000000\n";
constexpr const char* hybrid =
    "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "32 1 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "30 1 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* unified = "30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";

/// A machine of which 6000 MiB are available.
void describe(const RecordedTree& tree, const char* mounts, const char* own) {
  tree.file("/proc/meminfo", "MemTotal: 8192000 kB\nMemAvailable: 6144000 kB\n");
  tree.file("/proc/self/mountinfo", mounts);
  tree.file("/proc/self/cgroup", own);
}

TEST(JobLimits, AreThoseOfTheMachineWithoutGroups) {
  const RecordedTree tree;
  EXPECT_EQ(available_memory_bytes(tree.root()), 0);
  describe(tree, unified, "0::/job/step\n");
  EXPECT_EQ(available_memory_bytes(tree.root()), 6000 * mib);
  EXPECT_EQ(usable_processors(16, tree.root()), 16);
  EXPECT_EQ(usable_processors(0, tree.root()), 1);
}

TEST(JobLimits, AreTheLeastOfAllParentsOfVersionTwo) {
  const RecordedTree tree;
  describe(tree, unified, "0::/job/step\n");
  tree.file("/sys/fs/cgroup/job/step/memory.max", "max\n");
  tree.file("/sys/fs/cgroup/job/memory.max", own_memory);
  tree.file("/sys/fs/cgroup/job/memory.current", "300000000\n");
  tree.file("/sys/fs/cgroup/job/memory.stat", "anon 1\nactive_file 100000000\ninactive_file 50000000\n");
  EXPECT_EQ(available_memory_bytes(tree.root()), 250'000'000);
  tree.file("/sys/fs/cgroup/job/memory.current", "900000000\n");
  EXPECT_EQ(available_memory_bytes(tree.root()), 1) << "0 is unknown";
  tree.file("/sys/fs/cgroup/memory.max", "5000000000\n");
  EXPECT_EQ(available_memory_bytes(tree.root()), 1) << "a parent with room gives a full group nothing";
  tree.file("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  EXPECT_EQ(usable_processors(16, tree.root()), 16);
  tree.file("/sys/fs/cgroup/job/cpu.max", "350000 100000\n");
  EXPECT_EQ(usable_processors(16, tree.root()), 3);
  EXPECT_EQ(usable_processors(2, tree.root()), 2);
}

TEST(JobLimits, AreTheLeastOfAllParentsOfVersionOne) {
  const RecordedTree tree;
  describe(tree, hybrid, "5:memory:/job/step\n4:cpu,cpuacct:/job\n0::/\n");
  tree.file("/sys/fs/cgroup/memory/job/step/memory.limit_in_bytes", "9223372036854771712\n");
  tree.file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", own_memory);
  tree.file("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "300000000\n");
  tree.file("/sys/fs/cgroup/memory/job/memory.stat", "inactive_file 9\ntotal_inactive_file 50000000\n");
  EXPECT_EQ(available_memory_bytes(tree.root()), 150'000'000);
  tree.file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  tree.file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(usable_processors(16, tree.root()), 16);
  tree.file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(usable_processors(16, tree.root()), 1);
}

TEST(JobLimits, AreThoseThatAContainerSees) {
  const char* bound = "30 1 0:26 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  for (const char* own : {"0::/docker/x\n", "0::/elsewhere\n", "0::/../other\n", "0::/docker/x/step\n"}) {
    const RecordedTree tree;
    describe(tree, bound, own);
    tree.file("/sys/fs/cgroup/memory.max", own_memory);
    EXPECT_EQ(available_memory_bytes(tree.root()), 400'000'000) << own;
  }
}

}  // namespace
}  // namespace strider
