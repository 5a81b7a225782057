#include "store.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

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
  // Without the mutex: the kernel hands on what it has not written yet before it forgets a file.
  for (const std::uint64_t number : known) fuse_lowlevel_notify_inval_inode(store.session, number, 0, 0);
  const std::scoped_lock lock(store.mutex);
  if (unit == 0) store.tree.cut();
  else store.tree.tear(unit, seed);
  store.power_is_off = false;
}

void take_snapshot(Store& store) {
  if (store.snapshots.empty()) return;
  const std::string place = store.snapshots + "/" + std::to_string(++store.snapshots_made);
  std::mt19937_64 random(store.snapshots_made);
  write_node(*store.tree.root(), disk_image(), place);
  write_node(*store.tree.root(), torn_image(random), place + "-torn");
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
