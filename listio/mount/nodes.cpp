#include "listio/mount/nodes.hpp"

#include <cerrno>
#include <vector>

#include "foundation/error.hpp"
#include "listio/protocol/parse.hpp"

namespace strider::listio {

Nodes::Nodes() {
  nodes_[root].lookups = 1;
  numbers_[""] = root;
}

Nodes::Number Nodes::look_up(const std::string& path, const Identity& found) {
  const auto [known, is_new] = by_id_.try_emplace(found.id, next_);
  const Number number = known->second;
  if (is_new) {
    remove(path);
    nodes_[next_++] = {path, found};
    numbers_[path] = number;
  } else {
    move(number, path);
  }
  ++nodes_[number].lookups;
  return number;
}

const Nodes::Identity& Nodes::identity(Number number) const {
  const auto found = nodes_.find(number);
  if (found == nodes_.end()) throw IoError({"find", "", 0, 0, ESTALE});
  return found->second.identity;
}

void Nodes::move(Number number, const std::string& path) {
  Node& node = nodes_.at(number);
  if (node.error == 0) return rename(node.path, path);
  remove(path);
  node.path = path;
  node.error = 0;
  numbers_[path] = number;
}

void Nodes::forget(Number number, std::uint64_t lookups) {
  const auto found = nodes_.find(number);
  if (found == nodes_.end()) return;
  found->second.lookups -= std::min(lookups, found->second.lookups);
  drop_if_unused(number);
}

int Nodes::error_of(Number number) const {
  const auto found = nodes_.find(number);
  return found == nodes_.end() ? ESTALE : found->second.error;
}

const std::string& Nodes::path(Number number) const {
  if (const int error = error_of(number); error != 0) throw IoError({"find", "", 0, 0, error});
  return nodes_.at(number).path;
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
    remove(path);
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
  by_id_.erase(found->second.identity.id);
  nodes_.erase(found);
}

}  // namespace strider::listio
