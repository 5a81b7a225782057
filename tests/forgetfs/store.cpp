#include "store.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace forgetfs {
namespace {

/// Which image of content and names to write.
struct Image {
  std::function<Bytes(const Node&)> content;
  std::function<const Names&(const Node&, int depth)> names;
};

Image now_image() {
  return {[](const Node& node) { return node.now; }, [](const Node& node, int) -> const Names& { return node.names; }};
}

Image disk_image() {
  return {[](const Node& node) { return node.disk; },
          [](const Node& node, int) -> const Names& { return node.stable_names; }};
}

/// Folders of the second level stand for machines, of which each has its own journal of names.
Image torn_image(std::mt19937_64& random) {
  constexpr std::uint64_t sector = 512;
  return {[&](const Node& node) { return node.torn(sector, random); },
          [&random, has_names = false](const Node& node, int depth) mutable -> const Names& {
            if (depth <= 2) has_names = (random() & 1) != 0;
            return has_names ? node.names : node.stable_names;
          }};
}

/// One folder of the second level has lost its power, plainly or torn; all others have everything.
Image part_image(const Node* lost, std::mt19937_64& random) {
  constexpr std::uint64_t sector = 512;
  const bool is_torn = (random() & 1) != 0, has_names = is_torn && (random() & 1) != 0;
  const auto is_lost = std::make_shared<bool>(false);
  return {[is_lost, is_torn, &random](const Node& node) {
            if (!*is_lost) return node.now;
            return is_torn ? node.torn(sector, random) : node.disk;
          },
          [is_lost, has_names, lost](const Node& node, int depth) -> const Names& {
            if (depth <= 2) *is_lost = &node == lost;
            return *is_lost && !has_names ? node.stable_names : node.names;
          }};
}

/// Null if there is none.
const Node* any_folder_of_second_level(const Node& root, std::mt19937_64& random) {
  std::vector<const Node*> folders;
  for (const auto& [name, first] : root.names)
    for (const auto& [below, second] : first->names)
      if (second->is_folder()) folders.push_back(second.get());
  return folders.empty() ? nullptr : folders[random() % folders.size()];
}

void write_node(const Node& node, const Image& image, const std::filesystem::path& place, int depth = 0) {
  if (node.is_folder()) {
    std::filesystem::create_directories(place);
    for (const auto& [name, below] : image.names(node, depth)) write_node(*below, image, place / name, depth + 1);
  } else if (S_ISLNK(node.mode)) {
    std::filesystem::create_symlink(node.target, place);
  } else {
    const Bytes content = image.content(node);
    std::ofstream file(place, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file.flush()) throw std::filesystem::filesystem_error("cannot write", place, {EIO, std::generic_category()});
  }
}

}  // namespace

void cut_power(Store& store, std::uint64_t unit, std::uint64_t seed) {
  store.parking.let_go(EIO);
  std::vector<std::uint64_t> known;
  {
    const std::scoped_lock lock(store.mutex);
    store.power_is_off = true;
    known = store.tree.known();
  }
  // Without the mutex: the kernel hands on unwritten data before it forgets a file.
  for (const std::uint64_t number : known) fuse_lowlevel_notify_inval_inode(store.session, number, 0, 0);
  const std::scoped_lock lock(store.mutex);
  if (unit == 0) store.tree.cut();
  else store.tree.tear(unit, seed);
  store.power_is_off = false;
}

void take_snapshot(Store& store) {
  if (store.snapshots.empty() || !store.frozen.empty()) return;
  if (++store.snapshots_made % store.snapshots_every != 0) return;
  const std::string place = store.snapshots + "/" + std::to_string(store.snapshots_made);
  std::mt19937_64 random(store.snapshots_made);
  write_node(*store.tree.root(), disk_image(), place);
  write_node(*store.tree.root(), torn_image(random), place + "-torn");
  if (!store.snapshots_in_part) return;
  const Node* const lost = any_folder_of_second_level(*store.tree.root(), random);
  write_node(*store.tree.root(), part_image(lost, random), place + "-part");
}

void thaw(Store& store, bool cut) {
  std::vector<std::uint64_t> numbers;
  {
    const std::scoped_lock lock(store.mutex);
    for (const auto& [node, before] : store.frozen) numbers.push_back(node->number);
  }
  // Without the mutex, as in `cut_power`: data that the kernel hands on now is undone.
  for (const std::uint64_t number : numbers) fuse_lowlevel_notify_inval_inode(store.session, number, 0, 0);
  const std::scoped_lock lock(store.mutex);
  store.tree.put_back(store.frozen, cut);
  store.frozen.clear();
}

bool dump(Store& store, bool disk, const std::string& folder) {
  const std::scoped_lock lock(store.mutex);
  try {
    write_node(*store.tree.root(), disk ? disk_image() : now_image(), folder);
  } catch (const std::filesystem::filesystem_error&) {
    return false;
  }
  return true;
}

}  // namespace forgetfs
