// The requests of FUSE, one callback each.
#define FUSE_USE_VERSION 314
#include <fcntl.h>
#include <fuse3/fuse_lowlevel.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "foundation/error.hpp"
#include "listio/mount/answer.hpp"
#include "listio/mount/file_system.hpp"
#include "listio/mount/lock_operations.hpp"
#include "listio/protocol/file_time.hpp"

namespace strider::listio {
namespace {

constexpr unsigned most_write_bytes = 1 << 20;
constexpr double attributes_valid_s = 0, names_valid_s = 0;  // other mounts and clients change them

/// After an answer that did not reach the kernel: its request is gone, so nothing can be thrown.
void close_unanswered(FileSystem& system, std::uint64_t handle) noexcept {
  try {
    system.closed(handle);
  } catch (const std::exception& failure) {
    log_failure("close", failure.what());
  }
}

mode_t type_of(EntryKind kind) {
  return kind == EntryKind::directory ? S_IFDIR : kind == EntryKind::link ? S_IFLNK : S_IFREG;
}

struct stat attributes_of(const FileSystem& system, const std::string& path, const FileStat& found) {
  struct stat attributes{};
  attributes.st_ino = found.inode;  // the same on all mounts
  attributes.st_mode = found.mode | type_of(found.kind);
  attributes.st_nlink = FileSystem::is_aside(path) ? 0 : 1;  // subdirectories are not counted
  attributes.st_uid = ::getuid();
  attributes.st_gid = ::getgid();
  attributes.st_size = static_cast<off_t>(found.bytes);
  attributes.st_blocks = static_cast<blkcnt_t>((found.bytes + 511) / 512);
  attributes.st_blksize = static_cast<blksize_t>(system.client.volume().strip_bytes);
  attributes.st_mtim = time_of(found.modified_ns);
  attributes.st_atim = attributes.st_ctim = attributes.st_mtim;
  return attributes;
}

/// One more lookup of a path that exists.
fuse_entry_param entry_of(FileSystem& system, const std::string& path, const FileStat& found) {
  fuse_entry_param entry{};
  entry.ino = system.nodes.look_up(path, FileSystem::identity_of(found));
  entry.generation = system.generation;
  entry.attr = attributes_of(system, path, found);
  entry.attr_timeout = attributes_valid_s;
  entry.entry_timeout = names_valid_s;
  return entry;
}
fuse_entry_param entry_of(FileSystem& system, const std::string& path) {
  return entry_of(system, path, system.client.stat(path));
}

/// Of the file or directory that a node is, even if another one has its path now.
struct stat attributes_of(FileSystem& system, Nodes::Number node) {
  try {
    const FileSystem::Found found = system.look(node);
    return attributes_of(system, found.path, found.stat);
  } catch (const IoError& error) {
    const std::optional<FileStat> nameless =
        error.details().error_number == ESTALE ? system.look_nameless(node) : std::nullopt;
    if (!nameless) throw;
    struct stat attributes = attributes_of(system, "", *nameless);
    attributes.st_nlink = 0;
    return attributes;
  }
}

/// Opens the file that a node is. ESTALE, for the kernel to look again, if another one has its path.
std::pair<File, FileStat> open_node(FileSystem& system, Nodes::Number node) {
  const auto [path, found] = system.look(node);
  File file = system.client.open(path);
  if (file.id != found.id) throw IoError({"open", path, 0, 0, ESTALE});
  return {std::move(file), found};
}

void choose_caching(const FileSystem& system, fuse_file_info& info) {
  // The page cache would keep appended bytes at the end of the file that this kernel knows.
  info.direct_io = system.options.caching == Caching::none || (info.flags & O_APPEND) != 0;
  info.keep_cache = 0;
}

void start(void*, fuse_conn_info* connection) {
  connection->max_write = most_write_bytes;
  connection->max_readahead = most_write_bytes;
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_ATOMIC_O_TRUNC);
}

void look_up(fuse_req_t request, fuse_ino_t parent, const char* name) {
  answer(request, [&](FileSystem& system) {
    const std::string path = system.nodes.child(parent, name);
    if (FileSystem::is_aside(path)) throw IoError({"lookup", path, 0, 0, ENOENT});
    const fuse_entry_param entry = entry_of(system, path);
    if (fuse_reply_entry(request, &entry) != 0) system.nodes.forget(entry.ino, 1);
  });
}

void forget(fuse_req_t request, fuse_ino_t node, std::uint64_t lookups) {
  system_of(request).nodes.forget(node, lookups);
  fuse_reply_none(request);
}

void get_attributes(fuse_req_t request, fuse_ino_t node, fuse_file_info*) {
  answer(request, [&](FileSystem& system) {
    const struct stat attributes = attributes_of(system, node);
    fuse_reply_attr(request, &attributes, attributes_valid_s);
  });
}

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ns_of(now);
}

/// Size, mode and time of the last change can be set; of owners only the present ones, and of other times nothing.
void set_attributes(fuse_req_t request, fuse_ino_t node, struct stat* wanted, int which, fuse_file_info* info) {
  answer(request, [&](FileSystem& system) {
    const auto sets = [which](int what) { return (which & what) != 0; };
    if ((sets(FUSE_SET_ATTR_UID) && wanted->st_uid != ::getuid()) ||
        (sets(FUSE_SET_ATTR_GID) && wanted->st_gid != ::getgid()))
      throw IoError({"chown", "", 0, 0, EPERM});
    if (sets(FUSE_SET_ATTR_SIZE))
      system.client.truncate(info != nullptr ? system.handle(info->fh).file : open_node(system, node).first,
                             static_cast<std::uint64_t>(wanted->st_size));
    const bool sets_time = sets(FUSE_SET_ATTR_MTIME_NOW) || sets(FUSE_SET_ATTR_MTIME);
    if (sets(FUSE_SET_ATTR_MODE) || sets_time) {
      const auto [path, found] = system.look(node);
      if (sets(FUSE_SET_ATTR_MODE)) system.client.set_mode(path, wanted->st_mode, found.id);
      if (sets_time)
        system.client.set_time(path, sets(FUSE_SET_ATTR_MTIME_NOW) ? now_ns() : ns_of(wanted->st_mtim), found.id);
    }
    const struct stat attributes = attributes_of(system, node);
    fuse_reply_attr(request, &attributes, attributes_valid_s);
  });
}

void make_link(fuse_req_t request, const char* text, fuse_ino_t parent, const char* name) {
  answer(request, [&](FileSystem& system) {
    const std::string path = system.nodes.child(parent, name);
    system.client.make_link(path, text);
    const fuse_entry_param entry = entry_of(system, path);
    fuse_reply_entry(request, &entry);
  });
}

void make_hard_link(fuse_req_t request, fuse_ino_t, fuse_ino_t, const char*) { fuse_reply_err(request, EPERM); }

void read_link(fuse_req_t request, fuse_ino_t node) {
  answer(request, [&](FileSystem& system) {
    fuse_reply_readlink(request, system.client.read_link(system.nodes.path(node)).c_str());
  });
}

void make_directory(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  answer(request, [&](FileSystem& system) {
    const std::string path = system.nodes.child(parent, name);
    system.client.make_directory(path, mode);
    const fuse_entry_param entry = entry_of(system, path);
    fuse_reply_entry(request, &entry);
  });
}

void remove_directory(fuse_req_t request, fuse_ino_t parent, const char* name) {
  answer(request, [&](FileSystem& system) {
    const std::string path = system.nodes.child(parent, name);
    system.client.remove_directory(path);
    system.nodes.remove_directory(path);
    fuse_reply_err(request, 0);
  });
}

void remove_file(fuse_req_t request, fuse_ino_t parent, const char* name) {
  answer(request, [&](FileSystem& system) {
    const std::string path = system.nodes.child(parent, name);
    system.unlink(path);
    fuse_reply_err(request, 0);
  });
}

void move(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t new_parent, const char* new_name,
          unsigned flags) {
  answer(request, [&](FileSystem& system) {
    const std::string from = system.nodes.child(parent, name), to = system.nodes.child(new_parent, new_name);
    // Neither "not if it exists" nor "exchange" can be done at once.
    if (flags != 0) throw IoError({"rename", from, 0, 0, EINVAL});
    system.rename(from, to);
    fuse_reply_err(request, 0);
  });
}

void open(fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
  answer(request, [&](FileSystem& system) {
    auto [file, found] = open_node(system, node);
    info->fh = system.opened(std::move(file), node, found);
    choose_caching(system, *info);
    if (fuse_reply_open(request, info) != 0) close_unanswered(system, info->fh);
  });
}

void create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* info) {
  answer(request, [&](FileSystem& system) {
    const std::string path = system.nodes.child(parent, name);
    const Creation creation = (info->flags & O_EXCL) != 0 ? Creation::exclusive : Creation::if_missing;
    File file = system.client.open(path, creation, mode, system.options.spreading);
    if ((info->flags & O_TRUNC) != 0 && system.client.size(file) > 0) system.client.truncate(file, 0);
    const FileStat found = system.client.stat(path);
    if (found.id != file.id) throw IoError({"create", path, 0, 0, ESTALE});
    const fuse_entry_param entry = entry_of(system, path, found);
    info->fh = system.opened(std::move(file), entry.ino, found);
    choose_caching(system, *info);
    if (fuse_reply_create(request, &entry, info) != 0) {
      close_unanswered(system, info->fh);
      system.nodes.forget(entry.ino, 1);
    }
  });
}

void make_node(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, dev_t) {
  answer(request, [&](FileSystem& system) {
    const std::string path = system.nodes.child(parent, name);
    if (!S_ISREG(mode)) throw IoError({"mknod", path, 0, 0, EPERM});
    system.client.open(path, Creation::exclusive, mode, system.options.spreading);
    const fuse_entry_param entry = entry_of(system, path);
    fuse_reply_entry(request, &entry);
  });
}

void read(fuse_req_t request, fuse_ino_t, size_t size, off_t offset, fuse_file_info* info) {
  answer(request, [&](FileSystem& system) {
    const std::span<std::byte> bytes = system.buffer(size);
    const std::uint64_t count =
        system.client.read(system.handle(info->fh).file, bytes, static_cast<std::uint64_t>(offset));
    fuse_reply_buf(request, reinterpret_cast<const char*>(bytes.data()), count);
  });
}

void write(fuse_req_t request, fuse_ino_t, const char* bytes, size_t size, off_t offset, fuse_file_info* info) {
  answer(request, [&](FileSystem& system) {
    FileSystem::Handle& handle = system.handle(info->fh);
    const File& file = handle.file;
    // Other mounts may have appended more than this kernel knows. Pages of mapped memory keep their place.
    const bool appends = (info->flags & O_APPEND) != 0 && info->writepage == 0;
    const std::uint64_t begin = appends ? system.client.size(file) : static_cast<std::uint64_t>(offset);
    system.client.write(file, {reinterpret_cast<const std::byte*>(bytes), size}, begin);
    // The kernel sends no FSYNC for writes without the page cache.
    if ((info->flags & (O_SYNC | O_DSYNC)) != 0) system.sync_file(handle);
    fuse_reply_write(request, size);
  });
}

void sync(fuse_req_t request, fuse_ino_t, int, fuse_file_info* info) {
  answer(request, [&](FileSystem& system) {
    system.sync_file(system.handle(info->fh));
    fuse_reply_err(request, 0);
  });
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  answer(request, [&](FileSystem& system) {
    try {
      system.locks.release(info->fh);
    } catch (const IoError&) {  // NOLINT(bugprone-empty-catch): its locks end with the connection
    }
    system.closed(info->fh);
    fuse_reply_err(request, 0);
  });
}

/// The entries of an open directory: those that it had when it was read from its begin.
struct Listing {
  std::vector<DirectoryPage::Name> names;
  std::uint64_t name_losses = 0;  ///< as in `FileSystem::Handle`
};

void fill(FileSystem& system, fuse_ino_t node, Listing& listing) {
  const auto [path, self] = system.look(node);
  const std::size_t slash = path.rfind('/');
  const FileStat above =
      path.empty() ? self : system.client.stat(slash == std::string::npos ? "" : path.substr(0, slash));
  listing.names = {{".", EntryKind::directory, self.inode}, {"..", EntryKind::directory, above.inode}};
  for (DirectoryPage::Name& name : system.client.read_directory(path))
    if (!path.empty() || !FileSystem::is_aside(name.name)) listing.names.push_back(std::move(name));
}

void open_directory(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  answer(request, [&](FileSystem& system) {
    auto listing = std::make_unique<Listing>();
    listing->name_losses = system.name_losses();
    info->fh = reinterpret_cast<std::uint64_t>(listing.get());
    if (fuse_reply_open(request, info) == 0) static_cast<void>(listing.release());  // until `release_directory`
  });
}

void read_directory(fuse_req_t request, fuse_ino_t node, size_t size, off_t offset, fuse_file_info* info) {
  answer(request, [&](FileSystem& system) {
    Listing& listing = *reinterpret_cast<Listing*>(info->fh);
    // At first, and after rewinddir; a server of NFS may continue in a directory that it has just opened.
    if (offset == 0 || listing.names.empty()) fill(system, node, listing);
    const auto& names = listing.names;
    std::vector<char> page(size);
    std::size_t filled = 0;
    for (auto i = static_cast<std::size_t>(offset); i < names.size(); ++i) {
      struct stat attributes{};
      attributes.st_ino = names[i].inode;
      attributes.st_mode = type_of(names[i].kind);
      const std::size_t length = fuse_add_direntry(request, page.data() + filled, size - filled, names[i].name.c_str(),
                                                   &attributes, static_cast<off_t>(i + 1));
      if (length > size - filled) break;
      filled += length;
    }
    fuse_reply_buf(request, page.data(), filled);
  });
}

void release_directory(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  delete reinterpret_cast<Listing*>(info->fh);
  fuse_reply_err(request, 0);
}

void sync_directory(fuse_req_t request, fuse_ino_t, int, fuse_file_info* info) {
  answer(request, [&](FileSystem& system) {
    system.sync_names(reinterpret_cast<Listing*>(info->fh)->name_losses);
    fuse_reply_err(request, 0);
  });
}

void get_space(fuse_req_t request, fuse_ino_t) {
  answer(request, [&](FileSystem& system) {
    struct statvfs space{};
    if (::statvfs(system.options.space.c_str(), &space) != 0)
      throw std::system_error(errno, std::generic_category(), system.options.space);
    fuse_reply_statfs(request, &space);
  });
}

}  // namespace

const fuse_lowlevel_ops& FileSystem::operations() {
  static const fuse_lowlevel_ops all = [] {
    fuse_lowlevel_ops table{};
    table.init = start;
    table.lookup = look_up;
    table.forget = forget;
    table.getattr = get_attributes;
    table.setattr = set_attributes;
    table.link = make_hard_link;
    table.symlink = make_link;
    table.readlink = read_link;
    table.mkdir = make_directory;
    table.rmdir = remove_directory;
    table.unlink = remove_file;
    table.rename = move;
    table.mknod = make_node;
    table.open = open;
    table.create = create;
    table.read = read;
    table.write = write;
    table.fsync = sync;
    table.release = release;
    table.opendir = open_directory;
    table.readdir = read_directory;
    table.releasedir = release_directory;
    table.fsyncdir = sync_directory;
    table.statfs = get_space;
    add_lock_operations(table);
    return table;
  }();
  return all;
}

}  // namespace strider::listio
