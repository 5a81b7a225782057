#include "interfaces/mounts.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "foundation/error.hpp"

namespace strider {
namespace {

std::string canonical(const std::string& directory) {
  std::error_code problem;
  const auto path = std::filesystem::canonical(directory, problem);
  if (problem) throw IoError({"realpath", directory, 0, 0, problem.value()});
  return path.string();
}

}  // namespace

Mount mount_of(const std::string& directory) {
  std::ifstream file("/proc/self/mountinfo", std::ios::binary);
  const std::string table{std::istreambuf_iterator<char>(file), {}};
  return mount_in(table, canonical(directory));
}

InsidePaths::InsidePaths(std::string directory, const std::string& mount, const std::string& root)
    : directory_(std::move(directory)) {
  const std::string whole = canonical(directory_), top = canonical(mount);
  if (!is_below(whole, top))
    throw IoError({"connect", directory_, 0, 0, 0}, "the target is not below " + mount,
                  "choose a target there, or set another `mount` of the interface");
  // Without a slash at its end, so that of the top nothing remains.
  inside_ = root;
  while (inside_.ends_with('/')) inside_.pop_back();
  if (!inside_.empty() && !inside_.starts_with('/')) inside_.insert(0, "/");
  inside_ += whole.substr(top == "/" ? 0 : top.size());
  if (inside_ == "/") inside_.clear();
}

std::string InsidePaths::operator()(const std::string& path) const {
  std::string inside = inside_ + path.substr(directory_.size());
  return inside.empty() ? "/" : inside;
}

}  // namespace strider
