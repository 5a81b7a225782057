#pragma once
#include <string>

#include "foundation/mount_table.hpp"
#include "foundation/parameter.hpp"

namespace strider {

/// The file system that a directory is on. Throws IoError where the directory cannot be reached.
Mount mount_of(const std::string& directory);

/// Paths below a local directory, as a file system's own library names them. Made once for each case: what is done for
/// a path must cost nothing.
class InsidePaths {
 public:
  InsidePaths() = default;
  /// The local directory `mount` is `root` inside. Throws IoError where `directory` is not below it.
  InsidePaths(std::string directory, const std::string& mount, const std::string& root);
  /// Of the directory, or of something below it.
  std::string operator()(const std::string& path) const;

 private:
  std::string directory_, inside_;
};

/// What interfaces have that reach a file system past its mount.
inline constexpr Parameter mount_parameter{"mount", Kind::directory, "\"\"",
                                           "Local directory that corresponds to the library's path `root`; empty: the "
                                           "mount point of the target's file system."};
inline constexpr Parameter root_parameter{
    "root", Kind::path, "\"\"",
    "The library's path of the directory `mount`; empty: the path in the mount table, or the root of the file system."};

}  // namespace strider
