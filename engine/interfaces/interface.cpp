#include "interfaces/interface.hpp"

#include <stdexcept>

#include "interfaces/modules.hpp"

namespace strider {

std::size_t QueuedFile::complete_within(std::span<std::uint32_t>, std::uint64_t) {
  throw std::logic_error("the interface cannot wait for completions with a time limit");
}

std::unique_ptr<Directory> Interface::open_directory(const std::string& path) {
  throw IoError({"open_directory", path, 0, 0, 0}, "the interface has no metadata operations");
}

const InterfaceEntry* find_interface(std::string_view name) {
  for (const InterfaceEntry* entry : all_interfaces())
    if (entry->name == name) return entry;
  const Module* module = find_module(name);
  if (module == nullptr) return nullptr;
  const LoadedModule loaded = load_module(*module);
  if (loaded.entry == nullptr)
    throw InputError(
        "interface", "the interface " + std::string(name) + " is not available: " + loaded.problem,
        "strider doctor lists the available interfaces; run the setup again after installing the missing library");
  return loaded.entry;
}

}  // namespace strider
