#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "interfaces/interface.hpp"

namespace strider {

/// An interface with certain parameter values.
struct Variant {
  const InterfaceEntry* entry;
  std::string name;
  Settings settings;
};
inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

/// The value that a parameter's JSON default stands for.
inline Value default_of(const Parameter& parameter) {
  const std::string json(parameter.default_json);
  switch (parameter.kind) {
    case Kind::flag: return json == "true";
    case Kind::text:
    case Kind::choice: return json.substr(1, json.size() - 2);
    case Kind::map: return TextMap{};
    case Kind::seconds: return json == "null" ? Value{} : std::stod(json);
    default: return json == "null" ? Value{} : std::uint64_t{std::stoull(json)};
  }
}

inline Settings defaults_of(const InterfaceEntry& entry) {
  Settings defaults;
  for (const Parameter& parameter : entry.parameters) defaults.set(std::string(parameter.name), default_of(parameter));
  return defaults;
}

/// With its defaults, and with each flag and choice in turn.
inline std::vector<Variant> variants_of(const InterfaceEntry& entry) {
  const Settings defaults = defaults_of(entry);
  std::vector<Variant> variants{{&entry, std::string(entry.name), defaults}};
  const auto add = [&](const Parameter& parameter, const std::string& name, Value value) {
    variants.push_back({&entry, std::string(entry.name) + "_" + name, defaults});
    variants.back().settings.set(std::string(parameter.name), std::move(value));
  };
  for (const Parameter& parameter : entry.parameters) {
    const std::string name(parameter.name);
    if (parameter.kind == Kind::flag) add(parameter, name, parameter.default_json == "false");
    for (const std::string_view choice : split_choices(parameter.choices))
      if (defaults.text(name) != choice) add(parameter, name + "_" + std::string(choice), std::string(choice));
    if (parameter.kind == Kind::bytes && parameter.minimum == 0) add(parameter, "no_" + name, std::uint64_t{0});
  }
  return variants;
}

}  // namespace strider
