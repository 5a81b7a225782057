#include "measure/job_limits.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "foundation/mount_table.hpp"
#include "measure/text_scan.hpp"

namespace strider {
namespace {

/// A control group of this process, or a parent of one.
struct Group {
  std::string folder;
  bool is_new;  ///< of version 2
};

std::string text_of(const std::string& path) { return read_small_file(path).value_or(""); }

std::optional<std::uint64_t> number_in(const std::string& path) {
  const std::string text = text_of(path);
  const std::vector<std::string_view> words = words_of(std::string_view(text).substr(0, text.find('\n')));
  return words.size() == 1 ? number_of(words[0]) : std::nullopt;
}

/// The number after a name at the start of a line; 0 without it.
std::uint64_t named(std::string_view text, std::string_view name) {
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() >= 2 && words[0] == name) return number_of(words[1]).value_or(0);
  }
  return 0;
}

bool lists(std::string_view names, std::string_view name) {
  while (!names.empty())
    if (take_until(names, ',') == name) return true;
  return false;
}

/// The group of a controller in /proc/self/cgroup; that of version 2 has no controller.
std::optional<std::string> own_group(std::string_view text, std::string_view controller) {
  for (std::string_view line : lines_of(text)) {
    take_until(line, ':');
    const std::string_view names = take_until(line, ':');
    if (!line.empty() && (controller.empty() ? names.empty() : lists(names, controller))) return std::string(line);
  }
  return std::nullopt;
}

/// The path of a group below a mount that shows a part of the hierarchy. A container may see only its own group, under
/// another path than the file names, or ".." for a group outside of its namespace: then the mount is the nearest one.
std::string below(const std::string& path, const std::string& shown) {
  if ((path + '/').find("/../") != std::string::npos || !is_below(path, shown)) return "";
  return shown == "/" ? path : path.substr(shown.size());
}

/// The groups of this process that may limit a controller, and their parents.
std::vector<Group> groups_of(std::string_view controller, const std::string& root) {
  std::vector<Group> found;
  const std::string own = text_of(root + "/proc/self/cgroup");
  const std::string table = text_of(root + "/proc/self/mountinfo");
  for (const std::string_view line : lines_of(table)) {
    const Mount mount = mount_of_line(line);
    const bool is_new = mount.type == "cgroup2";
    const std::string_view options = line.substr(std::min(line.rfind(' ') + 1, line.size()));
    if (!is_new && (mount.type != "cgroup" || !lists(options, controller))) continue;
    const auto path = own_group(own, is_new ? "" : controller);
    if (!path) continue;
    const std::string top = root + mount.point;
    std::string folder = top + below(*path, mount.root);
    while (folder.size() > top.size()) {
      found.push_back({folder, is_new});
      folder.resize(folder.rfind('/'));
    }
    found.push_back({top, is_new});
  }
  return found;
}

/// The limit of a group less the bytes that it cannot give back: the page cache is dropped for what needs the memory.
std::optional<std::uint64_t> memory_left(const Group& group) {
  const auto limit = number_in(group.folder + (group.is_new ? "/memory.max" : "/memory.limit_in_bytes"));
  if (!limit) return std::nullopt;
  const std::uint64_t used =
      number_in(group.folder + (group.is_new ? "/memory.current" : "/memory.usage_in_bytes")).value_or(0);
  const std::string stat = text_of(group.folder + "/memory.stat");
  const std::string total = group.is_new ? "" : "total_";
  const std::uint64_t cache = named(stat, total + "inactive_file") + named(stat, total + "active_file");
  const std::uint64_t kept = used - std::min(used, cache);
  return *limit - std::min(*limit, kept);
}

/// The processors that the quota of a group is worth; nothing without a quota, which has no number.
std::optional<std::uint64_t> quota_of(const Group& group) {
  std::optional<std::uint64_t> quota, period;
  if (group.is_new) {
    const std::string text = text_of(group.folder + "/cpu.max");
    const std::vector<std::string_view> words = words_of(std::string_view(text).substr(0, text.find('\n')));
    if (words.size() == 2) quota = number_of(words[0]), period = number_of(words[1]);
  } else {
    quota = number_in(group.folder + "/cpu.cfs_quota_us");
    period = number_in(group.folder + "/cpu.cfs_period_us");
  }
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return *quota / *period;
}

}  // namespace

std::uint64_t available_memory_bytes(const std::string& root) {
  const std::uint64_t machine = named(text_of(root + "/proc/meminfo"), "MemAvailable:") * 1024;
  std::optional<std::uint64_t> least;
  if (machine > 0) least = machine;
  for (const Group& group : groups_of("memory", root))
    if (const auto left = memory_left(group); left && (!least || *left < *least)) least = left;
  return least ? std::max<std::uint64_t>(*least, 1) : 0;  // 0 is unknown
}

std::uint32_t usable_processors(std::uint32_t allowed, const std::string& root) {
  std::uint64_t least = allowed;
  for (const Group& group : groups_of("cpu", root))
    if (const auto quota = quota_of(group)) least = std::min(least, *quota);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(least, 1));
}

}  // namespace strider
