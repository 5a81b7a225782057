#include "interfaces/interface.hpp"

namespace strider {

std::unique_ptr<Directory> Interface::open_directory(const std::string& path) {
  throw IoError({"open_directory", path, 0, 0, 0}, "the interface has no metadata operations");
}

const InterfaceEntry* find_interface(std::string_view name) {
  for (const InterfaceEntry* entry : all_interfaces())
    if (entry->name == name) return entry;
  return nullptr;
}

}  // namespace strider
