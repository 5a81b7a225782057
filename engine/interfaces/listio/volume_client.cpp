#include "interfaces/listio/volume_client.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include "foundation/error.hpp"
#include "interfaces/volume_place.hpp"

namespace strider {
namespace {

/// In the largest unit that needs no decimals, as `strider listio serve --rate` reads it: `24MiB`, `1000B`.
std::string in_units(std::uint64_t bytes, const char* gap) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && bytes > 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + gap + units.at(unit);
}

void require_rate(const std::string& file, std::uint64_t found, std::uint64_t wanted) {
  if (wanted == 0 || wanted == found) return;
  const std::string directory = std::filesystem::path(file).parent_path().string();
  throw IoError({"connect", file, 0, 0, 0},
                "listio.server_rate is " + in_units(wanted, " ") + "/s, but the servers of this volume " +
                    (found == 0 ? "have no limit" : "are limited to " + in_units(found, " ") + "/s"),
                "choose a target outside the volume, or restart it: strider listio stop " + directory +
                    ", then strider listio serve " + directory + " --rate " + in_units(wanted, ""));
}

listio::ClientOptions client_options(const VolumeClientOptions& options) {
  listio::ClientOptions client;
  client.transport = options.transport;
  client.registration = options.registration;
  client.registrar.strategy = listio::strategy_of(options.strategy);
  client.registrar.cache_bytes = options.cache_bytes;
  client.unregistered = options.unregistered;
  client.most_runs = options.most_runs;
  client.patience = std::chrono::milliseconds(options.patience_ms);
  return client;
}

std::unique_ptr<VolumeClient> connect_to(const std::string& file, const VolumeClientOptions& options) {
  try {
    const listio::Volume volume = listio::read_volume(file);
    require_rate(file, volume.server_bytes_per_s, options.server_bytes_per_s);
    auto connected = std::make_unique<VolumeClient>(volume, client_options(options));
    connected->transport = options.transport.empty() ? volume.transport : options.transport;
    connected->client.connect();
    if (options.costs == RegistrationCosts::fitted && options.strategy != "none")
      connected->registration = connected->client.calibrate_registration();
    return connected;
  } catch (const InputError& error) {
    throw IoError({"connect", file, 0, 0, 0}, error.what(), error.remedy());
  } catch (const std::system_error& error) {
    throw IoError(
        {"connect", file, 0, 0, error.code().value()}, "registration \"" + options.registration + "\": " + error.what(),
        "set listio.registration to another domain or none, or raise the limit of locked memory (`ulimit -l`)");
  }
}

}  // namespace

VolumeClient& volume_client_of(const VolumeClientOptions& options, const std::string& directory) {
  const std::string file = options.volume.empty() ? find_volume(directory, "listio.volume") : options.volume;
  // Connecting and measuring what the network does take longer than a phase may: once, not for each repetition.
  static std::map<VolumeClientOptions, std::unique_ptr<VolumeClient>> clients;
  VolumeClientOptions key = options;
  key.volume = file;
  std::unique_ptr<VolumeClient>& known = clients[key];
  if (known == nullptr) known = connect_to(file, options);
  return *known;
}

}  // namespace strider
