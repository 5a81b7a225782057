#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "listio/protocol/secret.hpp"

namespace strider::listio {

/// The servers of a volume and their settings. In a file (JSON) that only its owner may read, since it
/// has the secret.
struct Volume {
  std::vector<std::string> servers;  ///< addresses, by number
  std::string transport = "cma";
  std::uint64_t strip_bytes = 65536;     ///< of files that do not say otherwise
  std::uint64_t server_bytes_per_s = 0;  ///< what each server moves at most; 0: no limit
  Secret secret{};
  VolumeState state{};
  std::uint32_t copies = 1;       ///< of data files: of 2 the second one is on the next server
  std::string checksums = "off";  ///< of data files, as the servers are set: crc32c or off
  std::string file{};             ///< that this was read from; empty: none
};

/// InputError, which names the file, if it cannot be read or is none.
Volume read_volume(const std::string& path);
/// Takes the addresses and the start from the volume's file again: it may have been started since. Nothing happens if
/// that is not there, or of another volume.
void refresh(Volume& volume);
/// Replaces the file at once. InputError if it cannot be written.
void write_volume(const std::string& path, const Volume& volume);

}  // namespace strider::listio
