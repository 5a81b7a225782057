#include "interfaces/pvfs2/calls.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>

// What the library hands out comes from an allocator of its own. Lists of entries have no call that frees them in its
// headers; its programs do it by this one.
extern "C" void PINT_free(void* memory);

namespace strider {
namespace {

constexpr int entries_at_a_time = 64;
constexpr PVFS_permissions owner_file = PVFS_U_READ | PVFS_U_WRITE;
constexpr PVFS_permissions owner_folder = PVFS_USER_ALL;
constexpr PVFS_permissions any_link = 0777;

/// A path's folder and the name in it, in memory that the library may write to.
struct Split {
  explicit Split(const char* path) {
    const std::string_view text(path);
    const std::size_t slash = text.rfind('/');
    folder = slash == 0 ? "/" : text.substr(0, slash);
    name = text.substr(slash + 1);
  }
  std::string folder, name;
};

/// What LibraryDirectory calls an open file.
struct Object {
  PVFS_object_ref ref;
  std::string path;
};

Object& object_of(Directory::Handle handle) { return *reinterpret_cast<Object*>(handle); }

PVFS_sys_attr attributes_for(const PVFS_credential& credential, PVFS_permissions permissions) {
  PVFS_sys_attr attributes{};
  attributes.owner = credential.userid;
  attributes.group = credential.group_array[0];
  attributes.perms = permissions;
  attributes.atime = attributes.mtime = attributes.ctime = static_cast<PVFS_time>(std::time(nullptr));
  attributes.mask = PVFS_ATTR_SYS_ALL_SETABLE;  // less is refused
  return attributes;
}

struct FreeDistribution {
  void operator()(PVFS_sys_dist* distribution) const { PVFS_sys_dist_free(distribution); }
};
using DistributionHandle = std::unique_ptr<PVFS_sys_dist, FreeDistribution>;

ItemType type_of(PVFS_ds_type type) {
  switch (type) {
    case PVFS_TYPE_METAFILE: return ItemType::file;
    case PVFS_TYPE_DIRECTORY: return ItemType::directory;
    case PVFS_TYPE_SYMLINK: return ItemType::symbolic_link;
    default: return ItemType::other;
  }
}

}  // namespace

PVFS_error Pvfs2Calls::find(const std::string& path, PVFS_object_ref& object) const {
  object = client->root();
  std::string_view rest(path);
  if (!top.empty() && rest.starts_with(top) && (rest.size() == top.size() || rest[top.size()] == '/')) {
    object = top_ref;
    rest.remove_prefix(top.size());
  }
  while (rest.starts_with('/')) rest.remove_prefix(1);
  if (rest.empty()) return 0;
  std::string relative(rest);
  PVFS_sysresp_lookup found{};
  const PVFS_error error = client->run({"PVFS_sys_ref_lookup", path}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_ref_lookup(client->system(), relative.data(), object, client->credential(), &found,
                                PVFS2_LOOKUP_LINK_NO_FOLLOW, id, PVFS_HINT_NULL, nullptr);
  });
  object = found.ref;
  return error;
}

PVFS_error Pvfs2Calls::create(const char* path, const Pvfs2Creation* creation, PVFS_object_ref& object) const {
  Split split(path);
  PVFS_object_ref folder{};
  if (const PVFS_error error = find(split.folder, folder); error < 0) return error;
  PVFS_sys_attr wanted = attributes_for(*client->credential(), owner_file);
  DistributionHandle distribution;
  PVFS_sys_layout layout{};
  if (creation != nullptr) {
    layout.algorithm = creation->order == Pvfs2Order::random ? PVFS_SYS_LAYOUT_RANDOM : PVFS_SYS_LAYOUT_NONE;
    if (creation->layout.data_files > 0) {
      wanted.dfile_count = static_cast<std::int32_t>(creation->layout.data_files);
      wanted.mask |= PVFS_ATTR_SYS_DFILE_COUNT;
    }
    if (!creation->layout.distribution.empty()) {
      distribution.reset(PVFS_sys_dist_lookup(creation->layout.distribution.c_str()));
      if (distribution == nullptr) return -PVFS_EINVAL;
      auto stripe_size = static_cast<PVFS_size>(creation->layout.stripe_size);
      if (stripe_size > 0) PVFS_sys_dist_setparam(distribution.get(), "strip_size", &stripe_size);
    }
  }
  PVFS_sysresp_create made{};
  const std::string whole(path);
  const PVFS_error error = client->run({"PVFS_sys_create", whole}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_create(split.name.data(), folder, wanted, client->credential(), distribution.get(),
                            creation != nullptr ? &layout : nullptr, &made, id, PVFS_HINT_NULL, nullptr);
  });
  object = made.ref;
  return error;
}

PVFS_error Pvfs2Calls::attributes_of(const std::string& path, PVFS_object_ref object, std::uint32_t mask,
                                     PVFS_sysresp_getattr& found) const {
  return client->run({"PVFS_sys_getattr", path}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_getattr(object, mask, client->credential(), &found, id, PVFS_HINT_NULL, nullptr);
  });
}

PVFS_error Pvfs2Calls::move(const Pvfs2Call& call, const Pvfs2Transfer& transfer, std::int64_t& moved) const {
  PVFS_sysresp_io result{};
  const PVFS_error error = client->run(call, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_io(transfer.file, transfer.in_file, transfer.offset, transfer.memory, transfer.in_memory,
                        client->credential(), &result, transfer.type, id, PVFS_HINT_NULL, nullptr);
  });
  moved = result.total_completed;
  return error;
}

int Pvfs2Calls::flush(const std::string& path, PVFS_object_ref file) const {
  return pvfs2_errno(client->run({"PVFS_sys_flush", path}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_flush(file, client->credential(), id, PVFS_HINT_NULL, nullptr);
  }));
}

int Pvfs2Calls::set_attribute(const std::string& path, const char* name, std::string_view value) const {
  PVFS_object_ref object{};
  if (const PVFS_error error = find(path, object); error < 0) return pvfs2_errno(error);
  std::string key_text(name), text(value);
  PVFS_ds_keyval key{key_text.data(), static_cast<std::int32_t>(key_text.size()) + 1, 0};
  PVFS_ds_keyval content{text.data(), static_cast<std::int32_t>(text.size()), 0};
  return pvfs2_errno(client->run({"PVFS_sys_seteattr", path}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_seteattr(object, client->credential(), &key, &content, 0, id, PVFS_HINT_NULL, nullptr);
  }));
}

std::int64_t Pvfs2Calls::get_attribute(const std::string& path, PVFS_object_ref object, const char* name,
                                       std::span<char> out) const {
  std::string key_text(name);
  PVFS_ds_keyval key{key_text.data(), static_cast<std::int32_t>(key_text.size()) + 1, 0};
  PVFS_ds_keyval content{out.data(), static_cast<std::int32_t>(out.size()), 0};
  PVFS_error refused = 0;
  PVFS_sysresp_geteattr found{&content, &refused};
  PVFS_error error = client->run({"PVFS_sys_geteattr", path}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_geteattr_list(object, client->credential(), 1, &key, &found, id, PVFS_HINT_NULL, nullptr);
  });
  if (error >= 0) error = refused;
  return error < 0 ? pvfs2_errno(error) : content.read_sz;
}

int Pvfs2Calls::mkdir(const char* path) const {
  Split split(path);
  PVFS_object_ref folder{};
  if (const PVFS_error error = find(split.folder, folder); error < 0) return pvfs2_errno(error);
  PVFS_sysresp_mkdir made{};
  const std::string whole(path);
  return pvfs2_errno(client->run({"PVFS_sys_mkdir", whole}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_mkdir(split.name.data(), folder, attributes_for(*client->credential(), owner_folder),
                           client->credential(), &made, id, PVFS_HINT_NULL, nullptr);
  }));
}

int Pvfs2Calls::unlink(const char* path) const {
  Split split(path);
  PVFS_object_ref folder{};
  if (const PVFS_error error = find(split.folder, folder); error < 0) return pvfs2_errno(error);
  const std::string whole(path);
  return pvfs2_errno(client->run({"PVFS_sys_remove", whole}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_remove(split.name.data(), folder, client->credential(), id, PVFS_HINT_NULL, nullptr);
  }));
}

int Pvfs2Calls::list(const char* path, EntryVisitor& visitor) const {
  const std::string whole(path);
  PVFS_object_ref folder{};
  PVFS_error error = find(whole, folder);
  PVFS_ds_position token = PVFS_READDIR_START;
  while (error >= 0 && token != PVFS_READDIR_END) {
    PVFS_sysresp_readdir found{};
    error = client->run({"PVFS_sys_readdir", whole}, [&](PVFS_sys_op_id* id) {
      return PVFS_isys_readdir(folder, token, entries_at_a_time, client->credential(), &found, id, PVFS_HINT_NULL,
                               nullptr);
    });
    if (error < 0) break;
    for (std::uint32_t i = 0; i < found.pvfs_dirent_outcount; ++i) visitor.entry(found.dirent_array[i].d_name);
    token = found.pvfs_dirent_outcount == 0 ? PVFS_READDIR_END : found.token;
    PINT_free(found.dirent_array);
  }
  return pvfs2_errno(error);
}

int Pvfs2Calls::mknod(const char* path) const {
  PVFS_object_ref made{};
  return pvfs2_errno(create(path, nullptr, made));
}

int Pvfs2Calls::open(const char* path, OpenMode mode, Handle& handle) const {
  auto object = std::make_unique<Object>(Object{{}, path});
  const PVFS_error error =
      mode == OpenMode::create ? create(path, nullptr, object->ref) : find(object->path, object->ref);
  if (error >= 0) handle = reinterpret_cast<Handle>(object.release());
  return pvfs2_errno(error);
}

/// The contiguous bytes of `call`; how many were moved.
std::int64_t Pvfs2Calls::move_bytes(const Pvfs2Call& call, enum PVFS_io_type type, PVFS_object_ref file,
                                    std::byte* memory) const {
  Pvfs2Places in_memory;
  in_memory.contiguous(call.length);
  std::int64_t moved = 0;
  const PVFS_error error = move(call,
                                {.type = type,
                                 .file = file,
                                 .in_file = PVFS_BYTE,
                                 .offset = static_cast<PVFS_offset>(call.offset),
                                 .memory = memory,
                                 .in_memory = in_memory.get()},
                                moved);
  return error < 0 ? pvfs2_errno(error) : moved;
}

std::int64_t Pvfs2Calls::pwrite(Handle handle, const std::byte* from, std::uint64_t length,
                                std::uint64_t offset) const {
  const Object& object = object_of(handle);
  return move_bytes({"PVFS_sys_write", object.path, offset, length}, PVFS_IO_WRITE, object.ref,
                    const_cast<std::byte*>(from));
}

std::int64_t Pvfs2Calls::pread(Handle handle, std::byte* to, std::uint64_t length, std::uint64_t offset) const {
  const Object& object = object_of(handle);
  return move_bytes({"PVFS_sys_read", object.path, offset, length}, PVFS_IO_READ, object.ref, to);
}

int Pvfs2Calls::fsync(Handle handle) const { return flush(object_of(handle).path, object_of(handle).ref); }

int Pvfs2Calls::close(Handle handle) {
  const std::unique_ptr<Object> owned(&object_of(handle));
  return 0;
}

int Pvfs2Calls::lstat(const char* path, ItemState& state) const {
  const std::string whole(path);
  PVFS_object_ref object{};
  PVFS_error error = find(whole, object);
  PVFS_sysresp_getattr found{};
  if (error >= 0) error = attributes_of(whole, object, PVFS_ATTR_SYS_COMMON_ALL | PVFS_ATTR_SYS_SIZE, found);
  state.type = type_of(found.attr.objtype);
  state.size_bytes = static_cast<std::uint64_t>(found.attr.size);
  state.links = 0;  // OrangeFS counts none
  return pvfs2_errno(error);
}

int Pvfs2Calls::set(const char* path, const PVFS_sys_attr& wanted) const {
  const std::string whole(path);
  PVFS_object_ref object{};
  if (const PVFS_error error = find(whole, object); error < 0) return pvfs2_errno(error);
  return pvfs2_errno(client->run({"PVFS_sys_setattr", whole}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_setattr(object, wanted, client->credential(), id, PVFS_HINT_NULL, nullptr);
  }));
}

int Pvfs2Calls::chmod(const char* path, unsigned mode) const {
  PVFS_sys_attr wanted{};
  wanted.perms = mode & PVFS_PERM_VALID;
  wanted.mask = PVFS_ATTR_SYS_PERM;
  return set(path, wanted);
}

int Pvfs2Calls::set_times(const char* path) const {
  PVFS_sys_attr wanted{};  // without times of its own: now
  wanted.mask = PVFS_ATTR_SYS_ATIME | PVFS_ATTR_SYS_MTIME;
  return set(path, wanted);
}

int Pvfs2Calls::truncate(const char* path, std::uint64_t bytes) const {
  const std::string whole(path);
  PVFS_object_ref object{};
  if (const PVFS_error error = find(whole, object); error < 0) return pvfs2_errno(error);
  return pvfs2_errno(client->run({"PVFS_sys_truncate", whole}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_truncate(object, static_cast<PVFS_size>(bytes), client->credential(), id, PVFS_HINT_NULL, nullptr);
  }));
}

int Pvfs2Calls::rename(const char* from, const char* to) const {
  Split before(from), after(to);
  PVFS_object_ref old_folder{}, new_folder{};
  PVFS_error error = find(before.folder, old_folder);
  if (error >= 0) error = find(after.folder, new_folder);
  if (error < 0) return pvfs2_errno(error);
  const std::string whole(from);
  return pvfs2_errno(client->run({"PVFS_sys_rename", whole}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_rename(before.name.data(), old_folder, after.name.data(), new_folder, client->credential(), id,
                            PVFS_HINT_NULL, nullptr);
  }));
}

int Pvfs2Calls::symlink(const char* target, const char* path) const {
  Split split(path);
  std::string text(target);
  PVFS_object_ref folder{};
  if (const PVFS_error error = find(split.folder, folder); error < 0) return pvfs2_errno(error);
  PVFS_sysresp_symlink made{};
  const std::string whole(path);
  return pvfs2_errno(client->run({"PVFS_sys_symlink", whole}, [&](PVFS_sys_op_id* id) {
    return PVFS_isys_symlink(split.name.data(), folder, text.data(), attributes_for(*client->credential(), any_link),
                             client->credential(), &made, id, PVFS_HINT_NULL, nullptr);
  }));
}

std::int64_t Pvfs2Calls::readlink(const char* path, std::span<char> out) const {
  const std::string whole(path);
  PVFS_object_ref object{};
  PVFS_error error = find(whole, object);
  PVFS_sysresp_getattr found{};
  if (error >= 0) error = attributes_of(whole, object, PVFS_ATTR_SYS_TYPE | PVFS_ATTR_SYS_LNK_TARGET, found);
  if (error < 0) return pvfs2_errno(error);
  if (found.attr.link_target == nullptr) return -EINVAL;
  const std::size_t length = std::min(std::strlen(found.attr.link_target), out.size());
  std::memcpy(out.data(), found.attr.link_target, length);
  PVFS_util_release_sys_attr(&found.attr);
  return static_cast<std::int64_t>(length);
}

std::int64_t Pvfs2Calls::getxattr(const char* path, std::span<char> out) const {
  const std::string whole(path);
  PVFS_object_ref object{};
  if (const PVFS_error error = find(whole, object); error < 0) return pvfs2_errno(error);
  return get_attribute(whole, object, attribute, out);
}

}  // namespace strider
