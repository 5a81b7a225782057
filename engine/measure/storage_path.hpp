#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/field.hpp"
#include "measure/counters.hpp"

namespace strider {

/// Where one can see how much of what was read came from storage.
enum class StorageSource {
  unknown,  ///< nowhere: memory is the storage, or another machine's kernel does the work
  process,  ///< the process's own account: what it made block devices read
  lustre,   ///< the file system's client in the kernel
  nfs,
  ceph,
  traffic,  ///< what came over the network, or from this node's block devices
};

/// What a directory is on.
struct StoragePath {
  std::string file_system;  ///< its type, such as ext4; empty if unknown
  StorageSource source = StorageSource::unknown;
};

/// From the table of mounts (proc_pid_mountinfo(5)) below `root`. Links in the path are not followed.
StoragePath find_storage_path(const std::string& directory, const std::string& root = "");

/// Bytes that came from storage and went to it.
struct Moved {
  std::uint64_t read = 0, written = 0;

  static constexpr auto figures() { return std::tuple{summed(&Moved::read), summed(&Moved::written)}; }
};

/// What a node moved from and to its storage, as far as its counters say so.
struct StorageTraffic {
  Moved client;   ///< by the client of the file system in the kernel
  Moved network;  ///< over all networks
  Moved block;    ///< of the busiest of its block devices: they may be stacked

  static StorageTraffic of(const CounterGroups& groups, StorageSource source);
  static constexpr auto figures() {
    return std::tuple{within(&StorageTraffic::client), within(&StorageTraffic::network),
                      within(&StorageTraffic::block)};
  }
};

}  // namespace strider
