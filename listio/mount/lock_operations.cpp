#define FUSE_USE_VERSION 314
#include "listio/mount/lock_operations.hpp"

#include <fcntl.h>
#include <fuse3/fuse_lowlevel.h>
#include <sys/file.h>

#include "listio/mount/answer.hpp"
#include "listio/mount/file_system.hpp"

namespace strider::listio {
namespace {

LockKind kind_of(short type) {
  return type == F_WRLCK ? LockKind::exclusive : type == F_RDLCK ? LockKind::shared : LockKind::none;
}

/// The kernel has made its offsets those of the file; a length of 0 is the rest of the file.
MountLocks::Lock lock_of(FileSystem& system, const fuse_file_info& info, const struct flock& wanted) {
  const auto offset = static_cast<std::uint64_t>(wanted.l_start), length = static_cast<std::uint64_t>(wanted.l_len);
  return {system.handle(info.fh).file,
          info.lock_owner,
          info.fh,
          wanted.l_pid,
          kind_of(wanted.l_type),
          {offset, length == 0 ? most_file_bytes - offset : length}};
}

void get_lock(fuse_req_t request, fuse_ino_t, fuse_file_info* info, struct flock* wanted) {
  answer(request, [&](FileSystem& system) {
    struct flock lock = *wanted;
    if (const auto found = system.locks.find(lock_of(system, *info, *wanted))) {
      lock.l_type = found->kind == LockKind::exclusive ? F_WRLCK : F_RDLCK;
      lock.l_start = static_cast<off_t>(found->range.offset);
      lock.l_len = found->range.end() == most_file_bytes ? 0 : static_cast<off_t>(found->range.length);
      lock.l_pid = found->process;
    } else {
      lock.l_type = F_UNLCK;
    }
    fuse_reply_lock(request, &lock);
  });
}

enum class Waiting { no, yes };

/// Answers when the lock is granted, or is not.
void ask(fuse_req_t request, MountLocks& locks, const MountLocks::Lock& lock, Waiting waiting) {
  if (waiting == Waiting::no || lock.kind == LockKind::none) {
    locks.set(lock);
    fuse_reply_err(request, 0);
    return;
  }
  locks.wait(lock, {[request] { return fuse_req_interrupted(request) != 0; },
                    [request](int error) { fuse_reply_err(request, error); }});
}

void set_lock(fuse_req_t request, fuse_ino_t, fuse_file_info* info, struct flock* wanted, int sleep) {
  answer(request, [&](FileSystem& system) {
    ask(request, system.locks, lock_of(system, *info, *wanted), sleep == 0 ? Waiting::no : Waiting::yes);
  });
}

/// For the `flock` locks on a file.
File apart(File file) {
  file.id = listio::apart(file.id);
  return file;
}

void lock_file(fuse_req_t request, fuse_ino_t, fuse_file_info* info, int operation) {
  answer(request, [&](FileSystem& system) {
    const LockKind kind = (operation & LOCK_EX) != 0   ? LockKind::exclusive
                          : (operation & LOCK_SH) != 0 ? LockKind::shared
                                                       : LockKind::none;
    const MountLocks::Lock lock{
        apart(system.handle(info->fh).file), info->lock_owner, info->fh, 0, kind, {0, most_file_bytes}};
    // Before it asks for another kind: two that share a lock would wait for each other.
    system.locks.release(lock.file, lock.owner);
    ask(request, system.locks, lock, (operation & LOCK_NB) != 0 ? Waiting::no : Waiting::yes);
  });
}

/// At each close of a descriptor. Every write has reached the servers when it returns; only locks are left.
void flush(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  answer(request, [&](FileSystem& system) {
    system.locks.release(system.handle(info->fh).file, info->lock_owner);
    fuse_reply_err(request, 0);
  });
}

}  // namespace

void add_lock_operations(fuse_lowlevel_ops& table) {
  table.getlk = get_lock;
  table.setlk = set_lock;
  table.flock = lock_file;
  table.flush = flush;
}

}  // namespace strider::listio
