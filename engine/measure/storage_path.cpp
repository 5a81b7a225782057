#include "measure/storage_path.hpp"

#include <algorithm>
#include <array>

#include "measure/text_scan.hpp"

namespace strider {
namespace {

struct Mount {
  std::string_view place, file_system, device;
};

/// A line of mountinfo: ID PARENT MAJOR:MINOR ROOT PLACE OPTIONS … - TYPE DEVICE OPTIONS
std::optional<Mount> mount_of(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  constexpr std::size_t place_word = 4;
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (words.size() <= place_word || words.end() - dash < 3) return std::nullopt;
  return Mount{words[place_word], dash[1], dash[2]};
}

bool is_below(std::string_view path, std::string_view place) {
  if (place == "/") return true;
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

template <std::size_t size>
bool is_one_of(std::string_view name, const std::array<std::string_view, size>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

StorageSource source_of(const Mount& mount) {
  if (mount.file_system == "lustre") return StorageSource::lustre;
  if (mount.file_system == "nfs" || mount.file_system == "nfs4") return StorageSource::nfs;
  if (mount.file_system == "ceph") return StorageSource::ceph;
  // In memory, or served by the kernel of a virtual machine's host.
  constexpr std::array<std::string_view, 7> untold{"tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "9p", "virtiofs", "vboxsf"};
  if (is_one_of(mount.file_system, untold)) return StorageSource::unknown;
  // ZFS reads in threads of its own; a FUSE daemon is another process.
  const bool others_read = mount.file_system == "zfs" || mount.file_system.starts_with("fuse");
  if (!others_read && (mount.device.starts_with("/dev/") || mount.file_system == "overlay"))
    return StorageSource::process;
  return StorageSource::traffic;
}

}  // namespace

StoragePath find_storage_path(const std::string& directory, const std::string& root) {
  const auto table = read_small_file(root + "/proc/self/mountinfo");
  StoragePath result;
  if (!table) return result;
  std::size_t longest = 0;
  for (const std::string_view line : lines_of(*table)) {
    const auto mount = mount_of(line);
    // Of two mounts on the same place the later one hides the other.
    if (!mount || !is_below(directory, mount->place) || mount->place.size() < longest) continue;
    longest = mount->place.size();
    result = {std::string(mount->file_system), source_of(*mount)};
  }
  return result;
}

StorageBytes StorageBytes::of(const CounterGroups& groups, StorageSource source) {
  StorageBytes bytes;
  bytes.network = sum_of(groups, "network", "received_bytes") + sum_of(groups, "infiniband", "received_bytes");
  bytes.block = largest_of(groups, "block", "read_bytes");
  if (source == StorageSource::nfs) bytes.client = sum_of(groups, "nfs", "server_read_bytes");
  if (source == StorageSource::ceph) bytes.client = sum_of(groups, "ceph", "read_bytes");
  if (source == StorageSource::lustre)
    for (const CounterGroup& group : groups)
      if (group.source == "lustre" && group.instance.ends_with("/osc")) bytes.client += group.value("read_bytes");
  return bytes;
}

}  // namespace strider
