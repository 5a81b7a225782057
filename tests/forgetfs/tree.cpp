#include "tree.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <optional>
#include <set>

namespace forgetfs {
namespace {

void replay(Bytes& image, const Piece& piece) {
  if (piece.truncates) return image.resize(piece.offset);
  if (image.size() < piece.offset + piece.data.size()) image.resize(piece.offset + piece.data.size());
  std::ranges::copy(piece.data, image.begin() + static_cast<std::ptrdiff_t>(piece.offset));
}

/// Those units of a write that land.
void replay_some(Bytes& image, const Piece& piece, std::uint64_t unit, std::mt19937_64& random) {
  if (piece.truncates) {
    if ((random() & 1) != 0) replay(image, piece);
    return;
  }
  for (std::uint64_t done = 0; done < piece.data.size();) {
    const std::uint64_t at = piece.offset + done;
    const std::uint64_t length = std::min<std::uint64_t>(piece.data.size() - done, unit - at % unit);
    const auto begin = piece.data.begin() + static_cast<std::ptrdiff_t>(done);
    if ((random() & 1) != 0) replay(image, {at, Bytes(begin, begin + static_cast<std::ptrdiff_t>(length))});
    done += length;
  }
}

}  // namespace

std::string Node::path() const {
  const Ref above = parent.lock();
  return above == nullptr ? name : above->path() + "/" + name;
}

void Node::put(Piece piece) {
  if (!piece.truncates) {
    const std::uint64_t end = std::min<std::uint64_t>(now.size(), piece.offset + piece.data.size());
    // A byte that never changes is as it was before as well.
    for (std::uint64_t place = old.size(); place < end; ++place) old.push_back(now[place]);
    for (std::uint64_t place = piece.offset; place < end; ++place)
      if (now[place] != piece.data[place - piece.offset]) old[place] = now[place];
  }
  replay(now, piece);
  clock_gettime(CLOCK_REALTIME, &modified);
  log.push_back(std::move(piece));
}

void Node::make_stable() {
  for (const Piece& piece : log) replay(disk, piece);
  log.clear();
}

void Node::lose_content() {
  log.clear();
  now = disk;
  old.clear();
}

Bytes Node::torn(std::uint64_t unit, std::mt19937_64& random) const {
  Bytes image = disk;
  for (const Piece& piece : log) replay_some(image, piece, unit, random);
  return image;
}

Tree::Tree(NameSync name_sync) : name_sync_(name_sync), root_(make(S_IFDIR | 0755, 0, 0)) { remember(root_); }

Ref Tree::find(std::uint64_t number) const {
  const auto known = known_.find(number);
  if (known != known_.end()) return known->second;
  Ref found;  // forgotten by the kernel, and asked for by a handle (open_by_handle_at)
  for_each([&](const Ref& node) {
    if (node->number == number) found = node;
  });
  return found;
}

Ref Tree::make(mode_t mode, uid_t owner, gid_t group) {
  auto node = std::make_shared<Node>();
  node->number = next_++;
  node->mode = mode;
  node->owner = owner;
  node->group = group;
  node->links = 0;
  clock_gettime(CLOCK_REALTIME, &node->modified);
  node->accessed = node->modified;
  return node;
}

void Tree::give_name(const Ref& folder, const std::string& name, const Ref& node) {
  folder->names[name] = node;
  if (node->links++ > 0) return;  // a further link: known by its first name
  node->parent = folder;
  node->name = name;
}

void Tree::take_name(const Ref& folder, const std::string& name) {
  const auto found = folder->names.find(name);
  --found->second->links;
  folder->names.erase(found);
}

void Tree::remember(const Ref& node) {
  ++node->lookups;
  known_[node->number] = node;
}

void Tree::forget(std::uint64_t number, std::uint64_t lookups) {
  const auto known = known_.find(number);
  if (known == known_.end() || known->second == root_) return;
  const Ref node = known->second;
  node->lookups -= std::min(node->lookups, lookups);
  if (node->lookups == 0) known_.erase(known);
}

void Tree::sync(const Ref& node) {
  node->make_stable();
  if (node->is_folder()) {
    node->stable_names = node->names;
    return;
  }
  if (name_sync_ == NameSync::folder_only) return;
  for_each([&](const Ref& folder) {
    if (!folder->is_folder()) return;
    std::erase_if(folder->stable_names, [&](const auto& entry) { return entry.second == node; });
    for (const auto& [name, entry] : folder->names)
      if (entry == node) folder->stable_names[name] = node;
  });
  Ref below = node;
  for (Ref above = node->parent.lock(); above != nullptr; below = above, above = above->parent.lock())
    if (above->names.contains(below->name)) above->stable_names[below->name] = below;
}

void Tree::sync_all() {
  for_each([](const Ref& node) {
    node->make_stable();
    node->stable_names = node->names;
  });
}

void Tree::lose(std::uint64_t unit, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for_each([](const Ref& folder) { folder->names = folder->stable_names; });
  const auto lose_content = [&](const Ref& node) {
    if (unit != 0) node->disk = node->torn(unit, random);
    node->lose_content();
  };
  for_each(lose_content);
  for (const auto& [number, node] : known_) lose_content(node);  // files that lost their name and are still open
  count_links();
}

Kept Tree::keep(const std::string& path) const {
  Ref folder = root_;
  for (std::size_t begin = 1; folder != nullptr && begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const auto found = folder->names.find(path.substr(begin, end - begin));
    folder = found == folder->names.end() ? nullptr : found->second;
    begin = end + 1;
  }
  Kept kept;
  std::vector<Ref> pending{folder};
  std::set<const Node*> seen{nullptr};
  while (!pending.empty()) {
    const Ref node = pending.back();
    pending.pop_back();
    if (!seen.insert(node.get()).second) continue;
    kept.emplace_back(node, *node);
    for (const Names* const names : {&node->names, &node->stable_names})
      for (const auto& [name, below] : *names) pending.push_back(below);
  }
  return kept;
}

void Tree::put_back(const Kept& kept, bool cut) {
  for (const auto& [node, before] : kept) {
    const std::uint64_t lookups = node->lookups;
    *node = before;
    node->lookups = lookups;
    if (!cut) continue;
    node->names = node->stable_names;
    node->lose_content();
  }
  count_links();
}

void Tree::count_links() {
  for_each([](const Ref& node) { node->links = 0; });
  for_each([](const Ref& folder) {
    for (const auto& [name, node] : folder->names) {
      ++node->links;
      node->parent = folder;
      node->name = name;
    }
  });
}

void Tree::for_each(const std::function<void(const Ref&)>& action) const {
  std::vector<Ref> pending{root_};
  std::set<const Node*> seen;
  while (!pending.empty()) {
    const Ref node = pending.back();
    pending.pop_back();
    if (!seen.insert(node.get()).second) continue;
    action(node);
    for (const auto& [name, below] : node->names) pending.push_back(below);
  }
}

std::vector<std::uint64_t> Tree::known() const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, node] : known_) numbers.push_back(number);
  return numbers;
}

}  // namespace forgetfs
