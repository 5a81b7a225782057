#include "listio/mount/nodes.hpp"

#include <cerrno>
#include <vector>

#include "foundation/error.hpp"
#include "listio/protocol/parse.hpp"

namespace strider::listio {

Nodes::Nodes() {
  nodes_[root] = {"", 1, 0, 0};
  numbers_[""] = root;
}

Nodes::Number Nodes::look_up(const std::string& path) {
  const auto [place, is_new] = numbers_.try_emplace(path, next_);
  if (is_new) nodes_[next_++].path = path;
  ++nodes_[place->second].lookups;
  return place->second;
}

void Nodes::forget(Number number, std::uint64_t lookups) {
  const auto found = nodes_.find(number);
  if (found == nodes_.end()) return;
  found->second.lookups -= std::min(lookups, found->second.lookups);
  drop_if_unused(number);
}

const std::string& Nodes::path(Number number) const {
  const auto found = nodes_.find(number);
  const int error = found == nodes_.end() ? ESTALE : found->second.error;
  if (error != 0) throw IoError({"find", "", 0, 0, error});
  return found->second.path;
}

std::string Nodes::child(Number parent, std::string_view name) const {
  const std::string& folder = path(parent);
  std::string path = folder.empty() ? std::string(name) : folder + "/" + std::string(name);
  if (name.size() > most_name_bytes || path.size() > most_path_bytes) throw IoError({"find", path, 0, 0, ENAMETOOLONG});
  return path;
}

void Nodes::rename(const std::string& from, const std::string& to) {
  if (from == to) return;
  remove(to);
  const std::string below = from + "/";
  std::vector<std::pair<std::string, Number>> moved;
  if (const auto itself = numbers_.extract(from)) moved.emplace_back(to, itself.mapped());
  for (auto place = numbers_.lower_bound(below); place != numbers_.end() && place->first.starts_with(below);) {
    moved.emplace_back(to + place->first.substr(from.size()), place->second);
    place = numbers_.erase(place);
  }
  for (auto& [path, number] : moved) {
    nodes_[number].path = path;
    numbers_[path] = number;
  }
}

void Nodes::remove(const std::string& path) { remove(path, ESTALE); }

void Nodes::remove_directory(const std::string& path) { remove(path, ENOENT); }

void Nodes::remove(const std::string& path, int error) {
  const auto named = numbers_.extract(path);
  if (!named) return;
  nodes_[named.mapped()].error = error;
  drop_if_unused(named.mapped());
}

void Nodes::open(Number number) { ++nodes_.at(number).opens; }

void Nodes::close(Number number) {
  const auto found = nodes_.find(number);
  if (found == nodes_.end() || found->second.opens == 0) return;
  --found->second.opens;
  drop_if_unused(number);
}

bool Nodes::is_open(const std::string& path) const {
  const auto named = numbers_.find(path);
  return named != numbers_.end() && nodes_.at(named->second).opens > 0;
}

void Nodes::drop_if_unused(Number number) {
  const auto found = nodes_.find(number);
  if (number == root || found == nodes_.end() || found->second.lookups > 0 || found->second.opens > 0) return;
  if (found->second.error == 0) numbers_.erase(found->second.path);
  nodes_.erase(found);
}

}  // namespace strider::listio
