#include "store.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace forgetfs {
namespace {

void write_node(const Node& node, bool disk, const std::filesystem::path& place) {
  if (node.is_folder()) {
    std::filesystem::create_directories(place);
    for (const auto& [name, below] : disk ? node.stable_names : node.names) write_node(*below, disk, place / name);
  } else if (S_ISLNK(node.mode)) {
    std::filesystem::create_symlink(node.target, place);
  } else {
    const Bytes& image = disk ? node.disk : node.now;
    std::ofstream file(place, std::ios::binary);
    file.write(image.data(), static_cast<std::streamsize>(image.size()));
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

bool dump(Store& store, bool disk, const std::string& folder) {
  const std::scoped_lock lock(store.mutex);
  try {
    write_node(*store.tree.root(), disk, folder);
  } catch (const std::filesystem::filesystem_error&) {
    return false;
  }
  return true;
}

}  // namespace forgetfs
