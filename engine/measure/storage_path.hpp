#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

/// Bytes that a node read from its storage, as far as its counters say so.
struct StorageBytes {
  std::uint64_t client = 0;   ///< by the client of the file system
  std::uint64_t network = 0;  ///< received over networks
  std::uint64_t block = 0;    ///< read by the busiest of its block devices

  static StorageBytes of(const CounterGroups& groups, StorageSource source);
};

}  // namespace strider
