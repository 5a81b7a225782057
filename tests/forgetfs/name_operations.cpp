// Calls on names, folders and attributes.
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include <cerrno>
#include <ctime>

#include "operations.hpp"

namespace forgetfs {
namespace {

void look_up(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const Call call = call_on(request, "lookup", parent, name);
  begin(request, call, [request, call, name = std::string(name)](Store& store, const Fault*) {
    const Ref above = call.node->parent.lock();
    const auto found = call.node->names.find(name);
    const bool named = found != call.node->names.end();
    // A handle names its node as the folder "." of itself.
    const Ref node = name == "." ? call.node : name == ".." ? above : named ? found->second : nullptr;
    if (node == nullptr) return (void)fuse_reply_err(request, ENOENT);
    const fuse_entry_param entry = entry_of(store, node);
    fuse_reply_entry(request, &entry);
  });
}

void forget(fuse_req_t request, fuse_ino_t number, std::uint64_t lookups) {
  {
    Store& store = store_of(request);
    const std::scoped_lock lock(store.mutex);
    store.tree.forget(number, lookups);
  }
  fuse_reply_none(request);
}

void get_state(fuse_req_t request, fuse_ino_t number, fuse_file_info*) {
  const Call call = call_on(request, "getattr", number);
  begin(request, call, [request, call](Store&, const Fault*) {
    const struct stat state = state_of(*call.node);
    fuse_reply_attr(request, &state, 0);
  });
}

void set_state(fuse_req_t request, fuse_ino_t number, struct stat* wanted, int what, fuse_file_info*) {
  Call call = call_on(request, (what & FUSE_SET_ATTR_SIZE) != 0 ? "truncate" : "setattr", number);
  call.offset = (what & FUSE_SET_ATTR_SIZE) != 0 ? static_cast<std::uint64_t>(wanted->st_size) : 0;
  begin(request, call, [request, call, what, wanted = *wanted](Store& store, const Fault* fault) {
    Node& node = *call.node;
    if ((what & FUSE_SET_ATTR_MODE) != 0) node.mode = (node.mode & S_IFMT) | (wanted.st_mode & 07777U);
    if ((what & FUSE_SET_ATTR_UID) != 0) node.owner = wanted.st_uid;
    if ((what & FUSE_SET_ATTR_GID) != 0) node.group = wanted.st_gid;
    const bool lost = store.power_is_off || (fault != nullptr && fault->kind == "dropped");
    if ((what & FUSE_SET_ATTR_SIZE) != 0 && !lost) node.put({static_cast<std::uint64_t>(wanted.st_size), {}, true});
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if ((what & FUSE_SET_ATTR_ATIME) != 0) node.accessed = wanted.st_atim;
    if ((what & FUSE_SET_ATTR_MTIME) != 0) node.modified = wanted.st_mtim;
    if ((what & FUSE_SET_ATTR_ATIME_NOW) != 0) node.accessed = now;
    if ((what & FUSE_SET_ATTR_MTIME_NOW) != 0) node.modified = now;
    const struct stat state = state_of(node);
    fuse_reply_attr(request, &state, 0);
  });
}

void make(fuse_req_t request, const char* op, fuse_ino_t parent, const char* name, mode_t mode,
          const std::string& target = {}) {
  const Call call = call_on(request, op, parent, name);
  begin(request, call, [request, call, name = std::string(name), mode, target](Store& store, const Fault*) {
    const Ref node = make_named(store, request, call.node, name, mode);
    if (node == nullptr) return (void)fuse_reply_err(request, EEXIST);
    node->target = target;
    const fuse_entry_param entry = entry_of(store, node);
    fuse_reply_entry(request, &entry);
  });
}
void make_node(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, dev_t) {
  make(request, "mknod", parent, name, mode);
}
void make_folder(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  make(request, "mkdir", parent, name, S_IFDIR | (mode & 07777U));
}
void make_symlink(fuse_req_t request, const char* target, fuse_ino_t parent, const char* name) {
  make(request, "symlink", parent, name, S_IFLNK | 0777, target);
}
void read_symlink(fuse_req_t request, fuse_ino_t number) {
  const Call call = call_on(request, "readlink", number);
  begin(request, call,
        [request, call](Store&, const Fault*) { fuse_reply_readlink(request, call.node->target.c_str()); });
}

void link_node(fuse_req_t request, fuse_ino_t number, fuse_ino_t parent, const char* name) {
  const Call call = call_on(request, "link", parent, name);
  const Ref node = call_on(request, "link", number).node;
  begin(request, call, [request, call, node, name = std::string(name)](Store& store, const Fault*) {
    if (call.node->names.contains(name)) return (void)fuse_reply_err(request, EEXIST);
    store.tree.give_name(call.node, name, node);
    const fuse_entry_param entry = entry_of(store, node);
    fuse_reply_entry(request, &entry);
  });
}

void remove_name(fuse_req_t request, const char* op, fuse_ino_t parent, const char* name) {
  const Call call = call_on(request, op, parent, name);
  begin(request, call, [request, call, name = std::string(name)](Store& store, const Fault*) {
    const auto found = call.node->names.find(name);
    if (found == call.node->names.end()) return (void)fuse_reply_err(request, ENOENT);
    if (found->second->is_folder() && !found->second->names.empty()) return (void)fuse_reply_err(request, ENOTEMPTY);
    store.tree.take_name(call.node, name);
    fuse_reply_err(request, 0);
  });
}
void unlink_name(fuse_req_t request, fuse_ino_t parent, const char* name) {
  remove_name(request, "unlink", parent, name);
}
void remove_folder(fuse_req_t request, fuse_ino_t parent, const char* name) {
  remove_name(request, "rmdir", parent, name);
}

void rename_node(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t new_parent, const char* new_name,
                 unsigned flags) {
  const Call call = call_on(request, "rename", parent, name);
  const Ref to = call_on(request, "rename", new_parent).node;
  begin(request, call,
        [request, call, to, name = std::string(name), new_name = std::string(new_name), flags](Store& store,
                                                                                               const Fault*) {
          const auto found = call.node->names.find(name);
          if (found == call.node->names.end()) return (void)fuse_reply_err(request, ENOENT);
          if ((flags & ~1U) != 0) return (void)fuse_reply_err(request, EINVAL);
          const Ref node = found->second;
          const auto taken = to->names.find(new_name);
          if (taken != to->names.end()) {
            if ((flags & 1U) != 0) return (void)fuse_reply_err(request, EEXIST);
            if (taken->second == node) return (void)fuse_reply_err(request, 0);
            if (!taken->second->names.empty()) return (void)fuse_reply_err(request, ENOTEMPTY);
            store.tree.take_name(to, new_name);
          }
          store.tree.take_name(call.node, name);
          store.tree.give_name(to, new_name, node);
          fuse_reply_err(request, 0);
        });
}

/// An open folder, with its names as they were when it was read from the beginning.
using Listing = std::vector<std::pair<std::string, Ref>>;
Listing& listing_of(const fuse_file_info* file) { return *reinterpret_cast<Listing*>(file->fh); }

void open_folder(fuse_req_t request, fuse_ino_t number, fuse_file_info* file) {
  const Call call = call_on(request, "opendir", number);
  begin(request, call, [request, file = *file](Store&, const Fault*) {
    fuse_file_info made = file;
    made.fh = reinterpret_cast<std::uint64_t>(new Listing);
    fuse_reply_open(request, &made);
  });
}

void read_folder(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset, fuse_file_info* file) {
  const Call call = call_on(request, "readdir", number);
  begin(request, call, [request, call, size, offset, listing = &listing_of(file)](Store&, const Fault*) {
    if (offset == 0) {  // from the beginning, possibly once more
      *listing = {{".", call.node}, {"..", call.node}};
      for (const auto& entry : call.node->names) listing->emplace_back(entry);
    }
    Bytes list(size);
    std::size_t used = 0;
    for (auto i = static_cast<std::size_t>(offset); i < listing->size(); ++i) {
      const auto& [name, node] = (*listing)[i];
      const struct stat state = state_of(*node);
      const std::size_t needed =
          fuse_add_direntry(request, list.data() + used, size - used, name.c_str(), &state, static_cast<off_t>(i + 1));
      if (needed > size - used) break;
      used += needed;
    }
    fuse_reply_buf(request, list.data(), used);
  });
}

void close_folder(fuse_req_t request, fuse_ino_t, fuse_file_info* file) {
  delete &listing_of(file);
  fuse_reply_err(request, 0);
}

void get_space(fuse_req_t request, fuse_ino_t number) {
  begin(request, call_on(request, "statfs", number), [request](Store&, const Fault*) {
    struct statvfs space{};
    space.f_bsize = space.f_frsize = 4096;
    space.f_blocks = space.f_bfree = space.f_bavail = 1 << 24;
    space.f_files = space.f_ffree = space.f_favail = 1 << 24;
    space.f_namemax = 255;
    fuse_reply_statfs(request, &space);
  });
}

void set_attribute(fuse_req_t request, fuse_ino_t number, const char* name, const char* value, std::size_t size,
                   int flags) {
  const Call call = call_on(request, "setxattr", number);
  begin(request, call,
        [request, call, name = std::string(name), value = std::string(value, size), flags](Store&, const Fault*) {
          const bool there = call.node->attributes.contains(name);
          if (there && flags == XATTR_CREATE) return (void)fuse_reply_err(request, EEXIST);
          if (!there && flags == XATTR_REPLACE) return (void)fuse_reply_err(request, ENODATA);
          call.node->attributes[name] = value;
          fuse_reply_err(request, 0);
        });
}

void reply_sized(fuse_req_t request, const std::string& value, std::size_t size) {
  if (size == 0) fuse_reply_xattr(request, value.size());
  else if (value.size() > size) fuse_reply_err(request, ERANGE);
  else fuse_reply_buf(request, value.data(), value.size());
}

void get_attribute(fuse_req_t request, fuse_ino_t number, const char* name, std::size_t size) {
  const Call call = call_on(request, "getxattr", number);
  begin(request, call, [request, call, name = std::string(name), size](Store&, const Fault*) {
    const auto found = call.node->attributes.find(name);
    if (found == call.node->attributes.end()) return (void)fuse_reply_err(request, ENODATA);
    reply_sized(request, found->second, size);
  });
}

void list_attributes(fuse_req_t request, fuse_ino_t number, std::size_t size) {
  const Call call = call_on(request, "listxattr", number);
  begin(request, call, [request, call, size](Store&, const Fault*) {
    std::string list;
    for (const auto& [name, value] : call.node->attributes) list += name + '\0';
    reply_sized(request, list, size);
  });
}

void remove_attribute(fuse_req_t request, fuse_ino_t number, const char* name) {
  const Call call = call_on(request, "removexattr", number);
  begin(request, call, [request, call, name = std::string(name)](Store&, const Fault*) {
    fuse_reply_err(request, call.node->attributes.erase(name) == 1 ? 0 : ENODATA);
  });
}

}  // namespace

void set_name_operations(fuse_lowlevel_ops& calls) {
  calls.lookup = look_up;
  calls.forget = forget;
  calls.getattr = get_state;
  calls.setattr = set_state;
  calls.mknod = make_node;
  calls.mkdir = make_folder;
  calls.symlink = make_symlink;
  calls.readlink = read_symlink;
  calls.link = link_node;
  calls.unlink = unlink_name;
  calls.rmdir = remove_folder;
  calls.rename = rename_node;
  calls.opendir = open_folder;
  calls.readdir = read_folder;
  calls.releasedir = close_folder;
  calls.statfs = get_space;
  calls.setxattr = set_attribute;
  calls.getxattr = get_attribute;
  calls.listxattr = list_attributes;
  calls.removexattr = remove_attribute;
}

}  // namespace forgetfs
