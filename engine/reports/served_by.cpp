#include "reports/served_by.hpp"

namespace strider {
namespace {

constexpr double enough = 0.9;  ///< share of what was written that a counter must have seen

std::string_view name_of_client(StorageSource source) {
  switch (source) {
    case StorageSource::lustre: return "lustre";
    case StorageSource::nfs: return "nfs";
    case StorageSource::ceph: return "ceph";
    case StorageSource::process:
    case StorageSource::traffic:
    case StorageSource::unknown: break;
  }
  return "";
}

}  // namespace

void ServedBy::note_write(Client client, StorageSource source, std::uint64_t bytes, const Seen& seen) {
  Believed& believed = believed_[static_cast<std::size_t>(client)];
  const auto saw = [&](std::uint64_t counted) {
    return static_cast<double>(counted) >= enough * static_cast<double>(bytes);
  };
  // What the directory is on says nothing of where a client of its own goes.
  if (source == StorageSource::unknown && client == Client::kernel) return;
  if (source == StorageSource::process && client == Client::kernel && saw(seen.process.written))
    believed.process = true;
  if (client == Client::kernel && saw(seen.traffic.client.written)) believed.client = true;
  if (saw(seen.traffic.network.written)) believed.network = true;
  if (saw(seen.traffic.block.written)) believed.block = true;
}

std::optional<ServedBy::Answer> ServedBy::of_read(Client client, StorageSource source, const Seen& seen) const {
  const Believed& believed = believed_[static_cast<std::size_t>(client)];
  if (believed.process) return Answer{seen.process.read, "process"};
  // Where processes read from devices themselves, traffic says nothing better.
  if (source == StorageSource::process && client == Client::kernel) return std::nullopt;
  if (believed.client) return Answer{seen.traffic.client.read, name_of_client(source)};
  const Answer network{seen.traffic.network.read, "network"}, block{seen.traffic.block.read, "block"};
  if (believed.network && (!believed.block || network.bytes >= block.bytes)) return network;
  return believed.block ? std::optional(block) : std::nullopt;
}

}  // namespace strider
