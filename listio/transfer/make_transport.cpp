#include <algorithm>
#include <array>

#include "foundation/error.hpp"
#include "listio/transfer/stream_transport.hpp"
#include "listio/transfer/transports.hpp"

namespace strider::listio {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Transport> (*make)(const TransportOptions& options);
};

std::unique_ptr<Transport> make_tcp(const TransportOptions& options) {
  return std::make_unique<StreamTransport>("tcp", options);
}

/// All that are built in: one line for each.
constexpr std::array entries{
    Entry{"cma", make_cma},
#ifdef STRIDER_OFI
    Entry{"ofi", make_ofi},
#endif
    Entry{"tcp", make_tcp},
};

constexpr auto names = [] {
  std::array<std::string_view, entries.size()> all{};
  for (std::size_t i = 0; i < entries.size(); ++i) all[i] = entries[i].name;
  return all;
}();

}  // namespace

std::span<const std::string_view> transport_names() { return names; }

std::unique_ptr<Transport> make_transport(std::string_view name, const TransportOptions& options) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  TransportOptions chosen = options;
  if (colon < name.size()) chosen.provider = name.substr(colon + 1);
  for (const Entry& entry : entries)
    if (entry.name == name.substr(0, colon)) return entry.make(chosen);
  std::string known;
  for (const std::string_view each : names) known += (known.empty() ? "" : ", ") + std::string(each);
  throw InputError("transport", "there is no transport '" + std::string(name) + "' in this build", "choose " + known);
}

}  // namespace strider::listio
