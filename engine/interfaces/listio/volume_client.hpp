#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "listio/client/client.hpp"

namespace strider {

/// Whether the cost of registering is fitted on this machine, or believed to be what it was elsewhere.
enum class RegistrationCosts { fitted, assumed };

/// What makes a client of a volume another one.
struct VolumeClientOptions {
  std::string volume;        ///< file; empty: the first that is found from a directory upwards
  std::string transport;     ///< empty: the volume's
  std::string registration;  ///< domain
  std::string strategy;
  listio::Unregistered unregistered = listio::Unregistered::fail;
  std::uint64_t cache_bytes = 0;
  std::uint32_t most_runs = 0;
  std::uint64_t server_bytes_per_s = 0;  ///< that the volume's servers have to be limited to; 0: no matter
  std::uint32_t patience_ms = 0;
  RegistrationCosts costs = RegistrationCosts::fitted;

  auto operator<=>(const VolumeClientOptions&) const = default;
};

/// The process's client of a volume, and what was found out when it connected.
struct VolumeClient {
  VolumeClient(const listio::Volume& volume, const listio::ClientOptions& options) : client(volume, options) {}

  listio::Client client;
  std::string transport;
  std::optional<listio::Calibration> registration;  ///< if it was fitted
};

/// Connected, and the same for all cases with the same options, until the process ends. IoError where the volume's file
/// is not found or wrong, a server cannot be reached, or this machine does not do what the options ask for.
VolumeClient& volume_client_of(const VolumeClientOptions& options, const std::string& directory);

}  // namespace strider
