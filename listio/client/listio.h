/* List I/O from C: lists of pieces between this process's memory and the files of a volume. See docs/listio.md.
 *
 * Calls return 0 or more, or a negative error number of errno.h; strider_listio_message then says what happened, which
 * server it was and what can be done. Every call ends by its deadline. A volume and its files are for one thread at a
 * time; a process may connect to a volume many times. Paths have no leading slash, the root is "". */
#ifndef STRIDER_LISTIO_H
#define STRIDER_LISTIO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct strider_listio_volume strider_listio_volume;
typedef struct strider_listio_file strider_listio_file;

/* length bytes from offset on, in the file. */
struct strider_listio_run {
  uint64_t offset, length;
};

/* 0 or NULL: the default, which stands behind each. */
struct strider_listio_options {
  const char* transport;    /* cma, tcp: the volume's */
  const char* method;       /* multiple, pack, gather, hybrid: hybrid */
  uint64_t threshold_bytes; /* of hybrid, mean length of pieces to gather from on: measured */
  const char* registration; /* domain, none, uring, mlock, model: none */
  const char* strategy;     /* none, individual, single, ogr: ogr, or none without a domain */
  uint64_t cache_bytes;     /* of the pin-down cache: none */
  uint32_t patience_ms;     /* until an operation is done or has failed: 30000 */
};

/* How a new file is spread; 0: as the volume says, and over all servers. */
struct strider_listio_spreading {
  uint64_t strip_bytes;
  uint32_t servers;
};

struct strider_listio_attributes {
  mode_t mode; /* with S_IFREG or S_IFDIR */
  uint64_t bytes;
  int64_t modified_ns; /* since 1970 */
  uint64_t id;
  uint64_t strip_bytes;
  uint32_t servers;
};

/* Reads the volume's file. *volume is set even if this fails, for its message, and has to be given back either way,
 * unless it is NULL because there is no memory. */
int strider_listio_connect(const char* volume_file, const struct strider_listio_options* options,
                           strider_listio_volume** volume);
/* Ends pending calls. Files have to be closed before. */
void strider_listio_disconnect(strider_listio_volume* volume);
/* The message of the last call that failed; valid until the next call. */
const char* strider_listio_message(const strider_listio_volume* volume);

/* flags: of O_CREAT, O_EXCL and O_TRUNC of fcntl.h; files are open for reading and writing. spreading may be NULL. */
int strider_listio_open(strider_listio_volume* volume, const char* path, int flags, mode_t mode,
                        const struct strider_listio_spreading* spreading, strider_listio_file** file);
void strider_listio_close(strider_listio_file* file);

/* Byte i of all pieces of memory belongs to byte i of all runs of the file, however they are cut. Return the bytes
 * written, or read before the end of the file; memory for bytes beyond it stays as it is. */
int64_t strider_listio_write_list(strider_listio_file* file, const struct iovec* memory, size_t pieces,
                                  const struct strider_listio_run* runs, size_t count);
int64_t strider_listio_read_list(strider_listio_file* file, const struct iovec* memory, size_t pieces,
                                 const struct strider_listio_run* runs, size_t count);
int64_t strider_listio_write(strider_listio_file* file, const void* memory, size_t bytes, uint64_t offset);
int64_t strider_listio_read(strider_listio_file* file, void* memory, size_t bytes, uint64_t offset);

/* The same in the background: return a ticket. Memory has to stay until it is done. */
int64_t strider_listio_start_write_list(strider_listio_file* file, const struct iovec* memory, size_t pieces,
                                        const struct strider_listio_run* runs, size_t count);
int64_t strider_listio_start_read_list(strider_listio_file* file, const struct iovec* memory, size_t pieces,
                                       const struct strider_listio_run* runs, size_t count);
/* 1 if it is done or has failed, 0 if not. Progresses all transfers. */
int strider_listio_test(strider_listio_volume* volume, int64_t ticket);
/* The result of the call without start. Once for each ticket. */
int64_t strider_listio_wait(strider_listio_volume* volume, int64_t ticket);

/* Locks all ranges of the list, in any order, at once: waits until no other lock excludes them, at most patience_ms.
 * With an exclusive lock no other client has a lock on these bytes, with a shared one none has an exclusive lock. Returns
 * the lock, more than 0, or a negative error number: -ETIMEDOUT, with a message that names the holder. Locks are advice:
 * transfers do not look at them. The end of the connection ends them. */
enum strider_listio_lock_kind { STRIDER_LISTIO_SHARED = 1, STRIDER_LISTIO_EXCLUSIVE = 2 };
int64_t strider_listio_lock(strider_listio_file* file, const struct strider_listio_run* ranges, size_t count,
                            enum strider_listio_lock_kind kind);
/* Once for each lock, after the protected accesses. -ENOLCK: it was lost meanwhile, and others may have changed the
 * bytes. */
int strider_listio_unlock(strider_listio_volume* volume, int64_t lock);

/* A number of 64 bits, 0 at first, that all clients which know the cell can add to in one step. It is gone when the
 * client that made it disconnects: -ENOENT. */
int strider_listio_make_cell(strider_listio_volume* volume, uint64_t* cell);
/* before: the value before; may be NULL. -EOVERFLOW: nothing was added. */
int strider_listio_fetch_add(strider_listio_volume* volume, uint64_t cell, int64_t addend, int64_t* before);
int strider_listio_set_cell(strider_listio_volume* volume, uint64_t cell, int64_t value);
int strider_listio_free_cell(strider_listio_volume* volume, uint64_t cell);

/* All written data is on stable storage. -EIO: a server was started again since this client wrote or opened the
 * file, and may have lost unsynced data; or it could not write. Each client must sync its own changes: it does not
 * know which changes of others are lost. */
int strider_listio_sync(strider_listio_file* file);
int64_t strider_listio_size(strider_listio_file* file);
int strider_listio_truncate(strider_listio_file* file, uint64_t bytes);

int strider_listio_stat(strider_listio_volume* volume, const char* path, struct strider_listio_attributes* found);
int strider_listio_unlink(strider_listio_volume* volume, const char* path);
int strider_listio_rename(strider_listio_volume* volume, const char* from, const char* to);
int strider_listio_mkdir(strider_listio_volume* volume, const char* path, mode_t mode);
int strider_listio_rmdir(strider_listio_volume* volume, const char* path);
/* Calls entry for each name, with S_IFREG or S_IFDIR, until it returns something else than 0; returns that, or 0. */
int strider_listio_readdir(strider_listio_volume* volume, const char* path,
                           int (*entry)(void* context, const char* name, mode_t kind), void* context);

/* The program unmaps memory, or has done so: a pin-down cache that cannot watch has to know. */
void strider_listio_invalidate(strider_listio_volume* volume, const void* memory, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
