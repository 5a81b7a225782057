#include "trees/tree.hpp"

namespace strider {

const TreeEntry* find_tree(std::string_view name) {
  for (const TreeEntry* entry : all_trees())
    if (entry->name == name) return entry;
  return nullptr;
}

}  // namespace strider
