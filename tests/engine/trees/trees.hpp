#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "trees/tree.hpp"

namespace strider {

/// The shape of a tree of directories with items.
struct Shape {
  std::uint64_t items = 1, depth = 0, fanout = 1;
  std::string place = "all";
  std::uint64_t name_length = 0, file_size = 0;
};

inline std::unique_ptr<Tree> balanced(const Shape& shape) {
  Settings settings;
  settings.set("items", shape.items);
  settings.set("depth", shape.depth);
  settings.set("fanout", shape.fanout);
  settings.set("place", shape.place);
  settings.set("name_length", shape.name_length);
  settings.set("file_size", shape.file_size);
  return find_tree("balanced")->make(settings);
}

}  // namespace strider
