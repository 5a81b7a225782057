#include "listio/tool/verbs.hpp"

#include <nlohmann/json.hpp>
#include <system_error>

#include "core/error.hpp"
#include "listio/client/client.hpp"

namespace strider::listio {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ServerStatus& status) {
  return {{"clients", status.clients},
          {"buffer_bytes", status.buffer_bytes},
          {"requests", status.requests},
          {"refused", status.refused},
          {"read_bytes", status.read_bytes},
          {"written_bytes", status.written_bytes},
          {"file_calls", status.file_calls},
          {"registrations", status.registrations},
          {"registered_pages", status.registered_pages},
          {"register_us", static_cast<double>(status.register_ns) / 1e3}};
}

Json json_of(const Line& line) {
  return {{"us_per_page", line.slope},
          {"us_per_page_error", line.slope_error},
          {"us", line.intercept},
          {"us_error", line.intercept_error}};
}

Json fit_of(const std::string& name) {
  const auto domain = make_domain(name);
  const Calibration found = domain->calibrate();
  Json samples = Json::array();
  for (const auto& sample : found.samples)
    samples.push_back({{"pages", sample.pages},
                       {"register_us", sample.register_us},
                       {"deregister_us", sample.deregister_us}});
  return {{"domain", name},
          {"problem", ""},
          {"register", json_of(found.registering)},
          {"deregister", json_of(found.deregistering)},
          {"most_hole_pages", domain->model().most_hole_pages()},
          {"samples", samples}};
}

}  // namespace

std::string status_text(const std::string& volume_file) {
  const Volume volume = read_volume(volume_file);
  ClientOptions options;
  options.patience = options.connect_patience;
  Client client(volume, options);
  Json servers = Json::array();
  for (std::uint32_t server = 0; server < volume.servers.size(); ++server) {
    Json each{{"server", server}, {"address", volume.servers[server]}, {"problem", ""}};
    try {
      each.update(json_of(client.status(server)));
    } catch (const IoError& error) {
      each["problem"] = error.what();
    }
    servers.push_back(std::move(each));
  }
  return servers.dump();
}

std::string check_text(const std::string& volume_file, Orphans orphans) {
  Client client(read_volume(volume_file));
  const CheckReport report = client.check();
  std::uint64_t removed = 0;
  if (orphans == Orphans::removed)
    for (const CheckReport::Data& orphan : report.orphans) {
      client.remove_orphan(orphan);
      ++removed;
    }
  Json found = Json::array();
  for (const CheckReport::Data& orphan : report.orphans)
    found.push_back({{"server", orphan.server}, {"file", orphan.file}});
  const Json all{{"files", report.files},         {"directories", report.directories},
                 {"data_files", report.data_files}, {"bytes", report.bytes},
                 {"problems", report.problems},   {"orphans", found},
                 {"removed_orphans", removed}};
  return all.dump();
}

std::string registration_text(const std::vector<std::string>& domains) {
  Json fits = Json::array();
  for (const std::string& name : domains) {
    try {
      fits.push_back(fit_of(name));
    } catch (const std::system_error& error) {
      fits.push_back({{"domain", name}, {"problem", error.what()}});
    }
  }
  return fits.dump();
}

}  // namespace strider::listio
