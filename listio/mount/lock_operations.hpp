#pragma once

struct fuse_lowlevel_ops;

namespace strider::listio {

/// The callbacks of `fcntl` and `flock` locks, and of closing, which gives them up.
void add_lock_operations(fuse_lowlevel_ops& table);

}  // namespace strider::listio
