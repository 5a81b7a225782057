#include <gtest/gtest.h>

#include <filesystem>

#include "foundation/units.hpp"
#include "measure/ceiling.hpp"
#include "measure/device_stream.hpp"
#include "measure/links.hpp"
#include "measure/memory_copy.hpp"
#include "measure/recorded_tree.hpp"

namespace strider {
namespace {

// proves limits: three-rounds, median, spread
TEST(CeilingTest, IsTheMedianOfTheRoundsWithTheirSpread) {
  const Ceiling odd = ceiling_of("memory_copy", "MiB/s", {30, 10, 20}, "how");
  EXPECT_EQ(odd.value, 20);
  EXPECT_EQ(odd.spread, 1.0);
  EXPECT_EQ(odd.about, "how");
  EXPECT_EQ(ceiling_of("x", "MiB/s", {10, 20}, "").value, 15);
  EXPECT_EQ(ceiling_of("x", "MiB/s", {0, 0}, "").spread, 0);
  EXPECT_EQ(ceiling_of("x", "MiB/s", {10}, "").value, 10);
  EXPECT_EQ(ceiling_of("x", "MiB/s", {10}, "").spread, std::nullopt) << "one round has none";
}

class CacheTest : public testing::Test {
 protected:
  void cache(int processor, int index, const char* level, const char* size, const char* shared) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/cache/index" + std::to_string(index) + "/";
    tree_.file(folder + "level", std::string(level) + "\n");
    tree_.file(folder + "size", std::string(size) + "\n");
    tree_.file(folder + "shared_cpu_list", std::string(shared) + "\n");
  }
  RecordedTree tree_;
};

TEST_F(CacheTest, AddsUpTheLastLevelOnceForThoseThatShareIt) {
  for (const int processor : {0, 1, 2, 3}) {
    const char* pair = processor < 2 ? "0-1" : "2-3";
    cache(processor, 0, "1", "32K", std::to_string(processor).c_str());
    cache(processor, 2, "2", "512K", std::to_string(processor).c_str());
    cache(processor, 3, "3", "32768K", pair);
  }
  EXPECT_EQ(last_level_cache_bytes(tree_.root()), 64 * mib);
}

TEST_F(CacheTest, UnderstandsMegabytesAndMissingOnes) {
  EXPECT_EQ(last_level_cache_bytes(tree_.root()), std::nullopt);
  cache(0, 2, "2", "4M", "0");
  EXPECT_EQ(last_level_cache_bytes(tree_.root()), 4 * mib);
}

// proves limits: memory-copy, large-copy
TEST(CopySizeTest, TogetherTheBuffersExceedTheCaches) {
  for (const std::uint32_t ranks : {1U, 2U, 7U, 64U}) {
    const CopySize size = copy_size(ranks, 32 * mib, 64 * 1024 * mib);
    EXPECT_GT(2 * size.buffer_bytes * ranks, 32 * mib) << ranks;
    EXPECT_TRUE(size.exceeds_caches);
  }
}

TEST(CopySizeTest, TakesAnEighthOfTheMemoryAtMostAndSaysWhatThatMeans) {
  const CopySize size = copy_size(2, 512 * mib, 512 * mib);
  EXPECT_EQ(2 * size.buffer_bytes * 2, 64 * mib);
  EXPECT_FALSE(size.exceeds_caches);
  EXPECT_LE(2 * copy_size(1, 4096 * mib, 0).buffer_bytes, 512 * mib);
}

TEST(MemoryCopyTest, GoesThroughTheWholeBufferAgainAndAgain) {
  MemoryCopy copy(10 * mib);
  EXPECT_EQ(copy.copy_piece(), 4 * mib);
  EXPECT_EQ(copy.copy_piece(), 4 * mib);
  EXPECT_EQ(copy.copy_piece(), 2 * mib);
  EXPECT_EQ(copy.copy_piece(), 4 * mib);
}

class LinksTest : public testing::Test {
 protected:
  void interface(const std::string& name, const char* speed, const char* state = "up", const char* type = "1") {
    const std::string folder = "/sys/class/net/" + name + "/";
    tree_.file(folder + "speed", speed);
    tree_.file(folder + "operstate", std::string(state) + "\n");
    tree_.file(folder + "type", std::string(type) + "\n");
    tree_.file(folder + "device/vendor", "0x8086\n");
  }
  void port(const std::string& device, const char* rate, const char* layer, const char* state = "4: ACTIVE") {
    const std::string folder = "/sys/class/infiniband/" + device + "/ports/1/";
    tree_.file(folder + "rate", rate);
    tree_.file(folder + "link_layer", std::string(layer) + "\n");
    tree_.file(folder + "state", std::string(state) + "\n");
  }
  Links links() const { return find_links(tree_.root()); }
  RecordedTree tree_;
};

// proves limits: link
TEST_F(LinksTest, AreTheInterfacesWithADeviceThatAreUp) {
  interface("eth0", "10000\n");
  interface("eth1", "25000\n", "down");
  tree_.file("/sys/class/net/veth7/speed", "10000\n");
  tree_.file("/sys/class/net/veth7/operstate", "up\n");
  ASSERT_EQ(links().known.size(), 1U);
  EXPECT_EQ(links().known[0].name, "eth0");
  EXPECT_NEAR(links().known[0].mib_s, 1192.1, 0.1);
  EXPECT_TRUE(links().unknown.empty());
}

// proves limits: link
TEST_F(LinksTest, AreUnknownWhereTheKernelDoesNotKnow) {
  interface("eth0", "-1\n");
  interface("eth1", "4294967295\n");
  EXPECT_TRUE(links().known.empty());
  EXPECT_EQ(links().unknown, (std::vector<std::string>{"eth0", "eth1"}));
}

// proves limits: link
TEST_F(LinksTest, CountInfiniBandOnce) {
  interface("ib0", "100000\n", "up", "32");
  interface("eth2", "100000\n");
  port("mlx5_0", "100 Gb/sec (4X EDR)\n", "InfiniBand");
  port("mlx5_1", "100 Gb/sec (4X EDR)\n", "Ethernet");
  port("mlx5_2", "2.5 Gb/sec (1X SDR)\n", "InfiniBand", "1: DOWN");
  const Links found = links();
  ASSERT_EQ(found.known.size(), 2U);
  EXPECT_EQ(found.known[0].name, "eth2");
  EXPECT_EQ(found.known[1].name, "mlx5_0/1");
  EXPECT_NEAR(found.known[1].mib_s, 11920.9, 0.1);
}

class DeviceStreamTest : public testing::Test {
 protected:
  DeviceStream measure(const std::string& name, bool go_on = true) {
    return measure_device({.path = folder_.file(name), .seconds = 0.05, .go_on = [go_on] { return go_on; }});
  }
  Folder folder_;
};

// proves limits: device, files-removed
TEST_F(DeviceStreamTest, WritesAndLeavesNothingBehind) {
  const DeviceStream found = measure("stream");
  ASSERT_TRUE(found.write.value) << found.write.about;
  EXPECT_GT(*found.write.value, 0);
  EXPECT_FALSE(found.read.about.empty());
  EXPECT_FALSE(std::filesystem::exists(folder_.file("stream")));
}

TEST_F(DeviceStreamTest, SaysWhyItCannot) {
  const DeviceStream found = measure("missing/stream");
  EXPECT_FALSE(found.write.value);
  EXPECT_FALSE(found.read.value);
  EXPECT_EQ(found.write.about, "open: No such file or directory");
}

// proves limits: file-sizes
TEST_F(DeviceStreamTest, TogetherTheyTakeAPartOfTheFreeSpaceOnly) {
  const std::uint64_t free_bytes = std::filesystem::space(folder_.file("")).available;
  const std::size_t too_many = free_bytes / (8 * mib);
  const DeviceStream found = measure_device(
      {.path = folder_.file("stream"), .seconds = 0.05, .sharers = too_many, .go_on = [] { return true; }});
  EXPECT_FALSE(found.write.value);
  EXPECT_EQ(found.write.about, "less than 64 MiB are free for each of " + std::to_string(too_many) + " nodes");
}

TEST_F(DeviceStreamTest, EndsWhenAsked) {
  const DeviceStream found = measure("stream", false);
  EXPECT_EQ(found.write.value.value_or(0), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("stream")));
}

}  // namespace
}  // namespace strider
