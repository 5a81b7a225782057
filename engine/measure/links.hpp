#pragma once
#include <string>
#include <vector>

namespace strider {

/// A network link of a node.
struct Link {
  std::string name;  ///< eth0, mlx5_0/1
  double mib_s = 0;  ///< each way, as it was negotiated
};

/// The links of this node that are up and lead out of it.
struct Links {
  std::vector<Link> known;
  std::vector<std::string> unknown;  ///< whose speed the kernel does not know: those of virtual machines mostly
};

/// From sysfs below `root`: network interfaces that have a device, and InfiniBand ports (where an interface is IP over
/// InfiniBand, or a port is Ethernet, the two are one wire and count once).
Links find_links(const std::string& root = "");

}  // namespace strider
