#pragma once
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "foundation/folder.hpp"

namespace strider {

/// A folder that stands in for the root, with files of /proc and /sys as a machine had them.
class RecordedTree {
 public:
  void file(const std::string& path, std::string_view contents) const {
    const std::filesystem::path place = root() + path;
    std::filesystem::create_directories(place.parent_path());
    std::ofstream(place) << contents;
  }
  std::string root() const { return folder_.file("root"); }

 private:
  Folder folder_;
};

}  // namespace strider
