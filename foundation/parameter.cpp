#include "foundation/parameter.hpp"

#include <stdexcept>

namespace strider {

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::bytes: return "bytes";
    case Kind::count: return "count";
    case Kind::seconds: return "seconds";
    case Kind::flag: return "flag";
    case Kind::choice: return "choice";
    case Kind::text: return "text";
    case Kind::map: return "map";
    case Kind::sharing: return "sharing";
    case Kind::operations: return "operations";
    case Kind::repetitions: return "repetitions";
    case Kind::numbers: return "numbers";
    case Kind::levels: return "levels";
    case Kind::weights: return "weights";
    case Kind::file: return "file";
    case Kind::config: return "config";
    case Kind::directory: return "directory";
    case Kind::path: return "path";
    case Kind::host: return "host";
    case Kind::port: return "port";
    case Kind::url: return "url";
    case Kind::volume: return "volume";
    case Kind::pool: return "pool";
    case Kind::user: return "user";
  }
  return "";
}

bool Settings::has(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() && !std::holds_alternative<std::monostate>(found->second);
}

template <typename T>
const T& Settings::get(std::string_view name) const {
  const auto found = values_.find(name);
  const T* value = found == values_.end() ? nullptr : std::get_if<T>(&found->second);
  if (value == nullptr) throw std::logic_error("no setting of that type: " + std::string(name));
  return *value;
}
template const std::uint64_t& Settings::get(std::string_view) const;
template const double& Settings::get(std::string_view) const;
template const bool& Settings::get(std::string_view) const;
template const std::string& Settings::get(std::string_view) const;
template const TextMap& Settings::get(std::string_view) const;
template const std::vector<std::string>& Settings::get(std::string_view) const;
template const Numbers& Settings::get(std::string_view) const;
template const Weights& Settings::get(std::string_view) const;

std::vector<std::string_view> split_choices(std::string_view choices) {
  std::vector<std::string_view> parts;
  while (!choices.empty()) {
    const auto bar = choices.find('|');
    parts.push_back(choices.substr(0, bar));
    if (bar == std::string_view::npos) break;
    choices.remove_prefix(bar + 1);
  }
  return parts;
}

}  // namespace strider
