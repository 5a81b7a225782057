#pragma once
#include <string>
#include <string_view>

namespace strider {

/// A mounted file system, as the kernel's mount table has it.
struct Mount {
  std::string point;   ///< where it is mounted
  std::string root;    ///< what of it is mounted there: "/" but for bind mounts
  std::string source;  ///< as it was named to mount: "server:/volume"
  std::string type;    ///< "fuse.glusterfs"
};

/// The mount that a line of a mount table describes; empty where it describes none.
Mount mount_of_line(std::string_view line);

/// The entry of a mount table (the text of /proc/self/mountinfo) that holds an absolute path without symbolic links.
Mount mount_in(std::string_view table, const std::string& path);

/// Whether an absolute path is a directory or below it.
bool is_below(const std::string& path, const std::string& top);

}  // namespace strider
