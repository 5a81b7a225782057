#include "measure/storage_path.hpp"

#include <algorithm>
#include <array>

#include "foundation/mount_table.hpp"
#include "measure/text_scan.hpp"

namespace strider {
namespace {

template <std::size_t size>
bool is_one_of(std::string_view name, const std::array<std::string_view, size>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

StorageSource source_of(const Mount& mount) {
  if (mount.type == "lustre") return StorageSource::lustre;
  if (mount.type == "nfs" || mount.type == "nfs4") return StorageSource::nfs;
  if (mount.type == "ceph") return StorageSource::ceph;
  // In memory, or served by the kernel of a virtual machine's host.
  constexpr std::array<std::string_view, 7> without_source{"tmpfs", "ramfs",    "devtmpfs", "hugetlbfs",
                                                           "9p",    "virtiofs", "vboxsf"};
  if (is_one_of(mount.type, without_source)) return StorageSource::unknown;
  // ZFS reads in threads of its own; a FUSE daemon is another process.
  const bool others_read = mount.type == "zfs" || mount.type.starts_with("fuse");
  if (!others_read && (mount.source.starts_with("/dev/") || mount.type == "overlay")) return StorageSource::process;
  return StorageSource::traffic;
}

}  // namespace

StoragePath find_storage_path(const std::string& directory, const std::string& root) {
  const auto table = read_small_file(root + "/proc/self/mountinfo");
  const Mount mount = table ? mount_in(*table, directory) : Mount{};
  return {mount.type, mount.type.empty() ? StorageSource::unknown : source_of(mount)};
}

StorageTraffic StorageTraffic::of(const CounterGroups& groups, StorageSource source) {
  StorageTraffic moved;
  for (const char* kind : {"network", "infiniband"}) {
    moved.network.read += sum_of(groups, kind, "received_bytes");
    moved.network.written += sum_of(groups, kind, "sent_bytes");
  }
  moved.block = {largest_of(groups, "block", "read_bytes"), largest_of(groups, "block", "written_bytes")};
  if (source == StorageSource::nfs)
    moved.client = {sum_of(groups, "nfs", "server_read_bytes"), sum_of(groups, "nfs", "server_written_bytes")};
  if (source == StorageSource::ceph)
    moved.client = {sum_of(groups, "ceph", "read_bytes"), sum_of(groups, "ceph", "written_bytes")};
  for (const CounterGroup& group : groups) {
    const bool sent = group.source == "lustre" && group.instance.ends_with("/osc");
    if (source != StorageSource::lustre || !sent) continue;
    moved.client.read += group.value("read_bytes");
    moved.client.written += group.value("write_bytes");
  }
  return moved;
}

}  // namespace strider
