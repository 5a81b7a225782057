#pragma once
#include <functional>

#include "store.hpp"

namespace forgetfs {

/// Effect of a call, with the lock held and with its fault, if any.
using Act = std::function<void(Store&, const Fault*)>;

Store& store_of(fuse_req_t request);
/// A call on a node, or on a name in a folder.
Call call_on(fuse_req_t request, const char* op, fuse_ino_t number, const char* name = nullptr);
/// Logs a call, lets the faults have their way with it, and carries it out, now or later.
void begin(fuse_req_t request, Call call, Act act);

/// As fuse_lowlevel_ops has them: those of open files, and those of names and attributes.
void set_file_operations(fuse_lowlevel_ops& calls);
void set_name_operations(fuse_lowlevel_ops& calls);

struct stat state_of(const Node& node);
/// The answer to a lookup.
fuse_entry_param entry_of(Store& store, const Ref& node);
/// A new node under a name; nothing if the name is taken.
Ref make_named(Store& store, fuse_req_t request, const Ref& folder, const std::string& name, mode_t mode);

}  // namespace forgetfs
