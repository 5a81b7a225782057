// Calls on open files.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "operations.hpp"

namespace forgetfs {
namespace {

fuse_file_info opened(const Store& store, const fuse_file_info& file) {
  fuse_file_info made = file;
  made.direct_io = store.options.caching == Caching::none ? 1 : 0;
  made.keep_cache = 0;
  return made;
}

void open_file(fuse_req_t request, fuse_ino_t number, fuse_file_info* file) {
  Call call = call_on(request, "open", number);
  call.flags = file->flags;
  begin(request, call, [request, call, file = *file](Store& store, const Fault*) {
    const fuse_file_info made = opened(store, file);
    fuse_reply_open(request, &made);
  });
}

void create_file(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* file) {
  Call call = call_on(request, "create", parent, name);
  call.flags = file->flags;
  begin(request, call, [request, call, name = std::string(name), mode, file = *file](Store& store, const Fault*) {
    Ref node = make_named(store, request, call.node, name, S_IFREG | (mode & 07777U));
    if (node == nullptr && (file.flags & O_EXCL) != 0) return (void)fuse_reply_err(request, EEXIST);
    if (node == nullptr) node = call.node->names.at(name);
    else store.faults.created(*node);
    const fuse_file_info made = opened(store, file);
    const fuse_entry_param entry = entry_of(store, node);
    fuse_reply_create(request, &entry, &made);
  });
}

void read_file(fuse_req_t request, fuse_ino_t number, std::size_t length, off_t offset, fuse_file_info* file) {
  Call call = call_on(request, "read", number);
  call.offset = static_cast<std::uint64_t>(offset);
  call.length = length;
  call.flags = file->flags;
  begin(request, call, [request, call](Store&, const Fault* fault) {
    const Bytes& now = call.node->now;
    const std::uint64_t begin = std::min<std::uint64_t>(call.offset, now.size());
    const std::uint64_t end = std::min<std::uint64_t>(call.offset + call.length, now.size());
    Bytes data(now.begin() + static_cast<std::ptrdiff_t>(begin), now.begin() + static_cast<std::ptrdiff_t>(end));
    if (fault != nullptr) damage_read(*fault, call, data);
    fuse_reply_buf(request, data.data(), data.size());
  });
}

void write_file(fuse_req_t request, fuse_ino_t number, const char* from, std::size_t length, off_t offset,
                fuse_file_info* file) {
  Call call = call_on(request, "write", number);
  call.offset = static_cast<std::uint64_t>(offset);
  call.length = length;
  call.flags = file->flags;
  // The kernel follows such a write with a sync, but for files that it does not cache.
  call.stable = store_of(request).options.caching == Caching::none && (file->flags & (O_SYNC | O_DSYNC)) != 0;
  Bytes data(from, from + length);
  call.data = &data;
  begin(request, call, [request, call, data](Store& store, const Fault* fault) mutable {
    const std::size_t reported =
        fault != nullptr && fault->kind == "short" ? std::max<std::size_t>(1, data.size() / 2) : data.size();
    data.resize(reported);
    if (!store.power_is_off) {
      const Call done{call.op, call.node, call.offset, reported};
      if (fault == nullptr) call.node->put({call.offset, std::move(data)});
      else
        for (Piece& piece : damage_write(*fault, done, data)) call.node->put(std::move(piece));
      if (fault != nullptr) damage_file(*fault, *call.node);
      if (call.stable) store.tree.sync(call.node);
    }
    fuse_reply_write(request, reported);
  });
}

void flush_file(fuse_req_t request, fuse_ino_t number, fuse_file_info*) {
  begin(request, call_on(request, "flush", number), [request](Store&, const Fault*) { fuse_reply_err(request, 0); });
}

void close_file(fuse_req_t request, fuse_ino_t number, fuse_file_info*) {
  begin(request, call_on(request, "release", number), [request](Store&, const Fault*) { fuse_reply_err(request, 0); });
}

void sync_node(fuse_req_t request, const char* op, fuse_ino_t number) {
  const Call call = call_on(request, op, number);
  begin(request, call, [request, call](Store& store, const Fault* fault) {
    const bool lost = store.power_is_off || (fault != nullptr && fault->kind == "dropped");
    const bool changes = !call.node->is_stable();
    if (!lost) store.tree.sync(call.node);
    if (!lost && changes) take_snapshot(store);
    fuse_reply_err(request, 0);
  });
}
void sync_file(fuse_req_t request, fuse_ino_t number, int only_data, fuse_file_info*) {
  sync_node(request, only_data != 0 ? "fdatasync" : "fsync", number);
}
void sync_folder(fuse_req_t request, fuse_ino_t number, int, fuse_file_info*) {
  sync_node(request, "fsyncdir", number);
}

void allocate(fuse_req_t request, fuse_ino_t number, int mode, off_t offset, off_t length, fuse_file_info*) {
  Call call = call_on(request, "fallocate", number);
  call.offset = static_cast<std::uint64_t>(offset);
  call.length = static_cast<std::uint64_t>(length);
  begin(request, call, [request, call, mode](Store&, const Fault*) {
    if ((mode & ~FALLOC_FL_KEEP_SIZE) != 0) return (void)fuse_reply_err(request, EOPNOTSUPP);
    const std::uint64_t end = call.offset + call.length;
    if (mode == 0 && end > call.node->now.size()) call.node->put({end, {}, true});
    fuse_reply_err(request, 0);
  });
}

}  // namespace

void set_file_operations(fuse_lowlevel_ops& calls) {
  calls.open = open_file;
  calls.create = create_file;
  calls.read = read_file;
  calls.write = write_file;
  calls.flush = flush_file;
  calls.release = close_file;
  calls.fsync = sync_file;
  calls.fsyncdir = sync_folder;
  calls.fallocate = allocate;
}

}  // namespace forgetfs
