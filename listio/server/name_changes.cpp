#include "listio/server/name_changes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <vector>

#include "listio/server/small_files.hpp"

namespace strider::listio {
namespace {

/// Takes the elements with the path `from`, and those below it, out of a set or map; `key_of` makes a key of a path.
template <typename Container, typename KeyOf>
auto take_below(Container& container, const std::string& from, const KeyOf& key_of) {
  std::vector<typename Container::node_type> taken;
  if (const auto exact = container.find(key_of(from)); exact != container.end())
    taken.push_back(container.extract(exact));
  // In the order of names '0' follows '/'.
  auto each = container.lower_bound(key_of(from + "/"));
  const auto end = container.lower_bound(key_of(from + "0"));
  while (each != end) taken.push_back(container.extract(each++));
  return taken;
}

}  // namespace

std::string names_path(const std::string& path) { return path.empty() ? "names" : "names/" + path; }

std::string names_directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return names_path(slash == std::string::npos ? "" : path.substr(0, slash));
}

void NameChanges::hurry(const std::string& path) {
  const auto found = changed_.find(path);
  if (found != changed_.end()) found->second |= urgent;
}

void NameChanges::forget(const std::string& path) {
  changed_.erase(path);
  for (unsigned turn = 0; turn < turns; ++turn) syncing_.erase({turn, path});
}

void NameChanges::forget_all() {
  changed_.clear();
  syncing_.clear();
}

void NameChanges::rename(const std::string& from, const std::string& to) {
  for (auto& node : take_below(changed_, from, [](const std::string& path) { return path; }))
    changed_[to + node.key().substr(from.size())] |= node.mapped();
  for (unsigned turn = 0; turn < turns; ++turn)
    for (auto& node : take_below(syncing_, from, [&](const std::string& path) { return std::pair(turn, path); })) {
      node.value().second.replace(0, from.size(), to);
      syncing_.insert(std::move(node));
    }
}

unsigned NameChanges::turn_of(unsigned changes) {
  if ((changes & lost) == 0) return (changes & gained) == 0 ? 0 : 1;
  return (changes & gained) != 0 ? 2 : 3;
}

void NameChanges::begin_sync(SyncNamesRequest::Part part) {
  const bool is_all = part == SyncNamesRequest::Part::all;
  std::erase_if(changed_, [&](const auto& change) {
    const auto& [path, changes] = change;
    // A copy that came back would be taken for that of a file that has lost its name.
    const bool counts =
        is_all || (changes & (lost | urgent)) != 0 || ((changes & gained) != 0 && path.starts_with("names"));
    if (counts) syncing_.insert({turn_of(changes), path});
    return counts;
  });
}

std::size_t NameChanges::left(unsigned turn) const {
  const auto begin = syncing_.lower_bound({turn, ""}), end = syncing_.lower_bound({turn + 1, ""});
  return static_cast<std::size_t>(std::distance(begin, end));
}

std::optional<std::string> NameChanges::next(unsigned turn) {
  if (syncing_.empty() || syncing_.begin()->first != turn) return {};
  return std::move(syncing_.extract(syncing_.begin()).value().second);
}

Errno sync_tree(int folder, const std::string& name) {
  Descriptor directory;
  if (const Errno error = open_below(folder, name, O_DIRECTORY, directory); error != 0)
    return error == ENOENT ? 0 : error;
  std::vector<std::string> names;
  if (const Errno error = list_names(directory.get(), names); error != 0) return error;
  for (const std::string& each : names) {
    struct stat found{};
    if (::fstatat(directory.get(), each.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    if (S_ISDIR(found.st_mode)) {
      if (const Errno error = sync_tree(directory.get(), each); error != 0) return error;
    } else if (S_ISREG(found.st_mode)) {
      Descriptor file;
      if (const Errno error = open_below(directory.get(), each, 0, file); error != 0) return error;
      if (::fsync(file.get()) != 0) return errno;
    }
  }
  return ::fsync(directory.get()) != 0 ? errno : 0;
}

}  // namespace strider::listio
