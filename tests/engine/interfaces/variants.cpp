#include "interfaces/variants.hpp"

#include <algorithm>
#include <cerrno>

#include "foundation/folder.hpp"
#include "interfaces/modules.hpp"
#include "interfaces/mpi_group.hpp"

namespace strider {

extern const InterfaceEntry template_entry;

namespace {

/// The value that a parameter's JSON default stands for.
Value default_of(const Parameter& parameter) {
  const std::string json(parameter.default_json);
  if (json == "null") return {};
  if (is_named_place(parameter.kind)) return json.substr(1, json.size() - 2);
  switch (parameter.kind) {
    case Kind::flag: return json == "true";
    case Kind::text:
    case Kind::choice: return json.substr(1, json.size() - 2);
    case Kind::map: return TextMap{};
    case Kind::seconds: return std::stod(json);
    default: return std::uint64_t{std::stoull(json)};
  }
}

/// Whether the values go together, and suit every pattern: some options need others, or requests of a certain kind, and
/// have tests of their own.
bool makes_sense(const Variant& variant) {
  try {
    variant.entry->make(variant.settings)->check({});
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Whether it works in any directory. A file system's own library wants one of that file system: tests/system/lab.
bool works_anywhere(const InterfaceEntry& entry) {
  try {
    entry.make(defaults_of(entry))->connect(testing::TempDir());
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

Settings defaults_of(const InterfaceEntry& entry) {
  Settings defaults;
  for (const Parameter& parameter : entry.parameters) defaults.set(std::string(parameter.name), default_of(parameter));
  return defaults;
}

std::vector<Variant> variants_of(const InterfaceEntry& entry) {
  const Settings defaults = defaults_of(entry);
  std::vector<Variant> variants{{&entry, std::string(entry.name), defaults}};
  const auto add = [&](const Parameter& parameter, const std::string& name, Value value) {
    variants.push_back({&entry, std::string(entry.name) + "_" + name, defaults});
    variants.back().settings.set(std::string(parameter.name), std::move(value));
  };
  for (const Parameter& parameter : entry.parameters) {
    const std::string name(parameter.name);
    if (parameter.kind == Kind::flag) {
      add(parameter, name, parameter.default_json == "false");
      if (!defaults.has("direct") || name == "direct") continue;
      add(parameter, name + "_direct", parameter.default_json == "false");
      variants.back().settings.set("direct", true);
    }
    // Which drivers an MPI library has is its own affair.
    if (parameter.kind == Kind::choice && name != "prefix")
      for (const std::string_view choice : split_choices(parameter.choices))
        if (defaults.text(name) != choice) add(parameter, name + "_" + std::string(choice), std::string(choice));
    if (parameter.kind == Kind::bytes && parameter.minimum == 0) add(parameter, "no_" + name, std::uint64_t{0});
    if (name == "batch" || name == "wait") add(parameter, name, std::uint64_t{3});
  }
  std::erase_if(variants, [](const Variant& variant) { return !makes_sense(variant); });
  return variants;
}

std::vector<Variant> all_variants() {
  std::vector<const InterfaceEntry*> entries{&template_entry};
  for (const InterfaceEntry* entry : all_interfaces()) entries.push_back(entry);
  for (const Module& module : all_modules())
    if (const InterfaceEntry* entry = load_module(module).entry; entry != nullptr) entries.push_back(entry);
  std::vector<Variant> all;
  for (const InterfaceEntry* entry : entries) {
    if (!entry->capabilities.stores() || !works_anywhere(*entry)) continue;
    for (Variant& variant : variants_of(*entry)) all.push_back(std::move(variant));
  }
  for (Variant& variant : all) std::replace(variant.name.begin(), variant.name.end(), '-', '_');
  return all;
}

std::vector<Variant> queued_variants() {
  std::vector<Variant> queued = all_variants();
  std::erase_if(queued, [](const Variant& v) { return v.entry->make(v.settings)->largest_depth() == 1; });
  return queued;
}

bool can_store(Interface& interface, const std::string& path) {
  constexpr std::uint64_t block = 4096;
  const Group group;
  const Pages memory(block);
  const Extent extent{0, 0, block};
  try {
    const auto file = interface.open({.path = path,
                                      .access = Access::write,
                                      .creation = Creation::create,
                                      .file_size = 16 * block,
                                      .group = &group});
    file->write({{&extent, 1}, memory.data()});
    file->close();
    const auto again = interface.open({.path = path, .file_size = 16 * block, .group = &group});
    again->read({{&extent, 1}, memory.data()});
    again->close();
    interface.remove(path);
    return true;
  } catch (const IoError& error) {
    interface.remove(path);
    return error.details().error_number != EINVAL && error.details().error_number != EOPNOTSUPP;
  }
}

}  // namespace strider
