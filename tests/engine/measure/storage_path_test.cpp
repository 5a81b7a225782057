#include "measure/storage_path.hpp"

#include <gtest/gtest.h>

#include "measure/recorded_tree.hpp"

namespace strider {
namespace {

class StoragePathTest : public testing::Test {
 protected:
  StoragePathTest() {
    tree_.file("/proc/self/mountinfo",
               "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
               "25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw\n"
               "30 27 0:50 / /mnt/nfs rw,relatime shared:5 - nfs4 nas:/export rw,vers=4.2\n"
               "31 27 0:51 / /mnt/scratch rw - lustre 10.0.0.1@o2ib:/scratch rw\n"
               "32 27 0:52 / /mnt/ceph rw - ceph :/ rw\n"
               "33 27 0:53 / /mnt/gluster rw - fuse.glusterfs host:vol rw\n"
               "34 27 0:54 / /mnt/orange rw - pvfs2 tcp://host:3334/orangefs rw\n"
               "35 27 0:55 / /mnt/pool rw - zfs pool/data rw\n"
               "36 27 0:56 / /mnt/btrfs rw - btrfs /dev/sdb rw\n"
               "37 27 0:57 / /mnt/ntfs rw - fuseblk /dev/sdc rw\n"
               "38 27 0:58 / /mnt/share rw - 9p host0 rw\n"
               "39 27 0:59 / /mnt/twice rw - ext4 /dev/sdd rw\n"
               "40 39 0:60 / /mnt/twice rw - tmpfs tmpfs rw\n");
  }
  StoragePath path(const std::string& directory) const { return find_storage_path(directory, tree_.root()); }

  RecordedTree tree_;
};

// proves measuring: served-process, served-client
TEST_F(StoragePathTest, KnowsWhoCountsWhatIsRead) {
  EXPECT_EQ(path("/data/bench").source, StorageSource::process);
  EXPECT_EQ(path("/data/bench").file_system, "ext4");
  EXPECT_EQ(path("/mnt/btrfs/x").source, StorageSource::process);
  EXPECT_EQ(path("/mnt/nfs/bench").source, StorageSource::nfs);
  EXPECT_EQ(path("/mnt/scratch").source, StorageSource::lustre);
  EXPECT_EQ(path("/mnt/ceph/a/b").source, StorageSource::ceph);
}

// proves measuring: served-network
TEST_F(StoragePathTest, LooksAtTheTrafficOfOthers) {
  for (const char* place : {"/mnt/gluster", "/mnt/orange", "/mnt/pool", "/mnt/ntfs"})
    EXPECT_EQ(path(place).source, StorageSource::traffic) << place;
}

// proves measuring: served-unknown
TEST_F(StoragePathTest, SaysWhereThePathIsUnknown) {
  EXPECT_EQ(path("/dev/shm/bench").source, StorageSource::unknown);
  EXPECT_EQ(path("/mnt/share").source, StorageSource::unknown);
  EXPECT_EQ(find_storage_path("/data", "/nonexistent").source, StorageSource::unknown);
}

TEST_F(StoragePathTest, TakesTheInnermostMountAndTheLastOne) {
  EXPECT_EQ(path("/mnt/nfsother").file_system, "ext4");
  EXPECT_EQ(path("/mnt/twice").file_system, "tmpfs");
}

// proves measuring: served-client, served-network
TEST(StorageTraffic, IsThatOfTheClientOfNetworksAndOfTheBusiestDevice) {
  CounterGroup asked{"lustre", "scratch/llite", {}}, sent{"lustre", "scratch/osc", {}}, nfs{"nfs", "/mnt", {}};
  CounterGroup lo{"network", "lo", {}}, port{"infiniband", "mlx5_0/1", {}};
  CounterGroup sda{"block", "sda", {}}, md{"block", "md0", {}};
  asked.add("read_bytes", 1000);
  sent.add("read_bytes", 400);
  sent.add("write_bytes", 300);
  nfs.add("server_read_bytes", 70);
  nfs.add("server_written_bytes", 80);
  lo.add("received_bytes", 5);
  lo.add("sent_bytes", 7);
  port.add("received_bytes", 6);
  sda.add("read_bytes", 30);
  md.add("read_bytes", 60);
  const CounterGroups groups{asked, sent, nfs, lo, port, sda, md};
  const StorageTraffic of_lustre = StorageTraffic::of(groups, StorageSource::lustre);
  EXPECT_EQ(of_lustre.client.read, 400);
  EXPECT_EQ(of_lustre.client.written, 300);
  EXPECT_EQ(StorageTraffic::of(groups, StorageSource::nfs).client.read, 70);
  EXPECT_EQ(StorageTraffic::of(groups, StorageSource::nfs).client.written, 80);
  const StorageTraffic of_others = StorageTraffic::of(groups, StorageSource::traffic);
  EXPECT_EQ(of_others.client.read, 0);
  EXPECT_EQ(of_others.network.read, 11);
  EXPECT_EQ(of_others.network.written, 7);
  EXPECT_EQ(of_others.block.read, 60);
}

}  // namespace
}  // namespace strider
