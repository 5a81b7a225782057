#include "interfaces/interface.hpp"

namespace strider {

const InterfaceEntry* find_interface(std::string_view name) {
  for (const InterfaceEntry* entry : all_interfaces())
    if (entry->name == name) return entry;
  return nullptr;
}

}  // namespace strider
