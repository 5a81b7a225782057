// What all calls of the file system share: each is logged, and the faults have their way with it.
#include "operations.hpp"

#include <algorithm>
#include <cerrno>

namespace forgetfs {

Store& store_of(fuse_req_t request) { return *static_cast<Store*>(fuse_req_userdata(request)); }

Call call_on(fuse_req_t request, const char* op, fuse_ino_t number, const char* name) {
  Store& store = store_of(request);
  const std::scoped_lock lock(store.mutex);
  Call call{op, store.tree.find(number)};
  if (call.node != nullptr) call.path = call.node->path();
  if (name != nullptr) call.path += std::string("/") + name;
  return call;
}

void begin(fuse_req_t request, Call call, Act act) {
  Store& store = store_of(request);
  std::optional<Fault> fault;
  {
    const std::scoped_lock lock(store.mutex);
    fault = store.faults.choose(call);
    store.events.push_back({call.op, call.path, call.offset, call.length, call.flags, fuse_req_ctx(request)->pid,
                            fault ? fault->kind : "", call.stable && !fault});
  }
  if (call.node == nullptr) return (void)fuse_reply_err(request, ESTALE);
  const int error = fault ? error_of(fault->kind) : 0;
  if (error != 0) return (void)fuse_reply_err(request, error);
  const auto carry_out = [&store, call, fault, act = std::move(act)] {
    const std::scoped_lock lock(store.mutex);
    if (fault && call.op != "write") damage_file(*fault, *call.node);
    act(store, fault ? &*fault : nullptr);
  };
  if (fault && fault->kind == "hang") return store.parking.hold(request, std::nullopt, carry_out);
  if (fault && fault->kind == "delay")
    return store.parking.hold(request, std::chrono::milliseconds(fault->amount.value_or(1000)), carry_out);
  carry_out();
}

struct stat state_of(const Node& node) {
  struct stat state{};
  state.st_ino = node.number;
  state.st_mode = node.mode;
  state.st_uid = node.owner;
  state.st_gid = node.group;
  state.st_nlink = node.is_folder() ? 2 : std::max<nlink_t>(node.links, 1);
  state.st_size = static_cast<off_t>(S_ISLNK(node.mode) ? node.target.size() : node.now.size());
  state.st_blocks = (state.st_size + 511) / 512;
  state.st_blksize = 4096;
  state.st_atim = node.accessed;
  state.st_mtim = state.st_ctim = node.modified;
  return state;
}

// Nothing about names and attributes is kept by the kernel: the effect of a power cut is seen at once.
fuse_entry_param entry_of(Store& store, const Ref& node) {
  store.tree.remember(node);
  fuse_entry_param entry{};
  entry.ino = node->number;
  entry.attr = state_of(*node);
  return entry;
}

Ref make_named(Store& store, fuse_req_t request, const Ref& folder, const std::string& name, mode_t mode) {
  if (folder->names.contains(name)) return nullptr;
  const fuse_ctx* caller = fuse_req_ctx(request);
  const Ref node = store.tree.make(mode, caller->uid, caller->gid);
  store.tree.give_name(folder, name, node);
  return node;
}

namespace {

void initialise(void* data, fuse_conn_info* connection) {
  const Store& store = *static_cast<Store*>(data);
  connection->max_write = 1 << 20;
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_ATOMIC_O_TRUNC);  // a truncation is a call of its own
  connection->want |= connection->capable & FUSE_CAP_EXPORT_SUPPORT;    // for servers that open files by their handles
  if (store.options.caching == Caching::write_back) connection->want |= FUSE_CAP_WRITEBACK_CACHE;
}

}  // namespace

const fuse_lowlevel_ops& operations() {
  static const fuse_lowlevel_ops calls = [] {
    fuse_lowlevel_ops made{};
    made.init = initialise;
    set_file_operations(made);
    set_name_operations(made);
    return made;
  }();
  return calls;
}

}  // namespace forgetfs
