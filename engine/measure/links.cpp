#include "measure/links.hpp"

#include <charconv>
#include <filesystem>

#include "foundation/units.hpp"
#include "measure/text_scan.hpp"

namespace strider {
namespace {

constexpr std::string_view infiniband_type = "32";  // ARPHRD_INFINIBAND of linux/if_arp.h

std::string line_of_file(const std::string& path) {
  const auto text = read_small_file(path);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  return std::string(take_until(rest, '\n'));
}

void add_interface(const std::string& folder, const std::string& name, Links& links) {
  std::error_code unknown;
  // Loopback, bridges, tunnels and the ends of containers have no device.
  if (!std::filesystem::exists(folder + "/device", unknown) || line_of_file(folder + "/operstate") != "up") return;
  if (line_of_file(folder + "/type") == infiniband_type) return;
  const auto mbit_s = number_of(line_of_file(folder + "/speed"));  // -1: not known
  if (mbit_s && *mbit_s > 0 && *mbit_s < 0xffffffffU)
    links.known.push_back({name, static_cast<double>(*mbit_s) * 1e6 / 8 / mib});
  else links.unknown.push_back(name);
}

/// A rate such as "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)".
void add_port(const std::string& folder, const std::string& name, Links& links) {
  if (!line_of_file(folder + "/state").starts_with("4:") || line_of_file(folder + "/link_layer") != "InfiniBand")
    return;
  const std::string rate = line_of_file(folder + "/rate");
  double gbit_s = 0;
  const auto [end, error] = std::from_chars(rate.data(), rate.data() + rate.size(), gbit_s);
  if (error == std::errc{} && gbit_s > 0 && std::string_view(end, rate.data() + rate.size()).starts_with(" Gb/sec"))
    links.known.push_back({name, gbit_s * 1e9 / 8 / mib});
  else links.unknown.push_back(name);
}

}  // namespace

Links find_links(const std::string& root) {
  Links links;
  const std::string interfaces = root + "/sys/class/net/", devices = root + "/sys/class/infiniband/";
  for (const std::string& name : names_in(interfaces)) add_interface(interfaces + name, name, links);
  for (const std::string& device : names_in(devices))
    for (const std::string& port : names_in(devices + device + "/ports"))
      add_port(devices + device + "/ports/" + port, device + '/' + port, links);
  return links;
}

}  // namespace strider
