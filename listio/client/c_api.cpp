#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "foundation/error.hpp"
#include "listio/client/client.hpp"
#include "listio/client/listio.h"

using namespace strider;
using namespace strider::listio;

struct strider_listio_volume {
  std::optional<Client> client;
  std::string message;
};
struct strider_listio_file {
  strider_listio_volume* volume;
  File file;
};

namespace {

/// Runs `action`; turns its exceptions into a negative error number and a message.
template <typename Action>
auto guarded(strider_listio_volume& volume, const Action& action) -> decltype(action()) {
  using Result = decltype(action());
  const auto fail = [&volume](int error, const std::string& message, const std::string& remedy) {
    volume.message = message + (remedy.empty() ? "" : "; " + remedy);
    return static_cast<Result>(-error);
  };
  try {
    if (!volume.client) return fail(ENOTCONN, "no connection to the volume", "");
    return action();
  } catch (const IoError& error) {
    return fail(error.details().error_number != 0 ? error.details().error_number : EIO, error.what(), "");
  } catch (const InputError& error) {
    return fail(EINVAL, error.what(), error.remedy());
  } catch (const std::system_error& error) {
    return fail(error.code().value(), error.what(), "");
  } catch (const std::bad_alloc&) {
    return fail(ENOMEM, "no memory", "");
  } catch (const std::exception& error) {
    return fail(EIO, error.what(), "");
  }
}

/// `action` on the client, which returns nothing.
template <typename Action>
int done(strider_listio_volume& volume, const Action& action) {
  return guarded(volume, [&] {
    action(*volume.client);
    return 0;
  });
}

std::span<const ByteRun> as_runs(const strider_listio_run* runs, std::size_t count) {
  static_assert(sizeof(ByteRun) == sizeof(strider_listio_run) && alignof(ByteRun) == alignof(strider_listio_run));
  return {reinterpret_cast<const ByteRun*>(runs), count};
}

ClientOptions as_options(const strider_listio_options* given) {
  ClientOptions options;
  options.repeats = true;
  if (given == nullptr) return options;
  if (given->transport != nullptr) options.transport = given->transport;
  if (given->method != nullptr) options.method = method_of(given->method);
  options.threshold_bytes = given->threshold_bytes;
  if (given->registration != nullptr) options.registration = given->registration;
  if (options.registration != "none") options.registrar.strategy = Strategy::ogr;
  if (given->strategy != nullptr) options.registrar.strategy = strategy_of(given->strategy);
  options.registrar.cache_bytes = given->cache_bytes;
  if (given->patience_ms != 0) options.patience = std::chrono::milliseconds(given->patience_ms);
  return options;
}

mode_t mode_of(EntryKind kind) {
  return kind == EntryKind::directory ? S_IFDIR : kind == EntryKind::link ? S_IFLNK : S_IFREG;
}

std::int64_t transfer(strider_listio_file& file, Direction direction, const iovec* memory, std::size_t pieces,
                      std::span<const ByteRun> runs) {
  return guarded(*file.volume, [&] {
    Client& client = *file.volume->client;
    const std::span<const iovec> list(memory, pieces);
    const Client::Ticket ticket = direction == Direction::write ? client.start_write_list(file.file, list, runs)
                                                                : client.start_read_list(file.file, list, runs);
    return static_cast<std::int64_t>(ticket);
  });
}

std::int64_t finish(strider_listio_volume& volume, std::int64_t ticket) {
  if (ticket < 0) return ticket;
  return guarded(volume,
                 [&] { return static_cast<std::int64_t>(volume.client->wait(static_cast<Client::Ticket>(ticket))); });
}

}  // namespace

int strider_listio_connect(const char* volume_file, const strider_listio_options* options,
                           strider_listio_volume** volume) {
  *volume = new (std::nothrow) strider_listio_volume;
  if (*volume == nullptr) return -ENOMEM;
  try {
    (*volume)->client.emplace(read_volume(volume_file), as_options(options));
  } catch (const InputError& error) {
    (*volume)->message = std::string(error.what()) + "; " + error.remedy();
    return -EINVAL;
  } catch (const std::exception& error) {
    (*volume)->message = error.what();
    return -EIO;
  }
  return done(**volume, [](Client& client) { client.connect(); });
}

void strider_listio_disconnect(strider_listio_volume* volume) { delete volume; }

const char* strider_listio_message(const strider_listio_volume* volume) { return volume->message.c_str(); }

int strider_listio_open(strider_listio_volume* volume, const char* path, int flags, mode_t mode,
                        const strider_listio_spreading* spreading, strider_listio_file** file) {
  *file = nullptr;
  return done(*volume, [&](Client& client) {
    Creation creation = Creation::never;
    if ((flags & O_CREAT) != 0) creation = (flags & O_EXCL) != 0 ? Creation::exclusive : Creation::if_missing;
    Spreading spread;
    if (spreading != nullptr) spread = {spreading->strip_bytes, spreading->servers, {}};
    File opened = client.open(path, creation, mode, spread);
    if ((flags & O_TRUNC) != 0) client.truncate(opened, 0);
    *file = new strider_listio_file{volume, std::move(opened)};
  });
}

void strider_listio_close(strider_listio_file* file) { delete file; }

int64_t strider_listio_write_list(strider_listio_file* file, const iovec* memory, size_t pieces,
                                  const strider_listio_run* runs, size_t count) {
  return finish(*file->volume, transfer(*file, Direction::write, memory, pieces, as_runs(runs, count)));
}

int64_t strider_listio_read_list(strider_listio_file* file, const iovec* memory, size_t pieces,
                                 const strider_listio_run* runs, size_t count) {
  return finish(*file->volume, transfer(*file, Direction::read, memory, pieces, as_runs(runs, count)));
}

int64_t strider_listio_write(strider_listio_file* file, const void* memory, size_t bytes, uint64_t offset) {
  const iovec piece{const_cast<void*>(memory), bytes};  // only read
  const strider_listio_run run{offset, bytes};
  return strider_listio_write_list(file, &piece, 1, &run, 1);
}

int64_t strider_listio_read(strider_listio_file* file, void* memory, size_t bytes, uint64_t offset) {
  const iovec piece{memory, bytes};
  const strider_listio_run run{offset, bytes};
  return strider_listio_read_list(file, &piece, 1, &run, 1);
}

int64_t strider_listio_start_write_list(strider_listio_file* file, const iovec* memory, size_t pieces,
                                        const strider_listio_run* runs, size_t count) {
  return transfer(*file, Direction::write, memory, pieces, as_runs(runs, count));
}

int64_t strider_listio_start_read_list(strider_listio_file* file, const iovec* memory, size_t pieces,
                                       const strider_listio_run* runs, size_t count) {
  return transfer(*file, Direction::read, memory, pieces, as_runs(runs, count));
}

int strider_listio_test(strider_listio_volume* volume, int64_t ticket) {
  return guarded(*volume, [&] { return volume->client->is_done(static_cast<Client::Ticket>(ticket)) ? 1 : 0; });
}

int64_t strider_listio_wait(strider_listio_volume* volume, int64_t ticket) { return finish(*volume, ticket); }

int64_t strider_listio_lock(strider_listio_file* file, const strider_listio_run* ranges, size_t count,
                            strider_listio_lock_kind kind) {
  return guarded(*file->volume, [&] {
    return static_cast<std::int64_t>(
        file->volume->client->lock(file->file, as_runs(ranges, count), static_cast<LockKind>(kind)));
  });
}

int strider_listio_unlock(strider_listio_volume* volume, int64_t lock) {
  return done(*volume, [&](Client& client) { client.unlock(static_cast<LockId>(lock)); });
}

int strider_listio_make_cell(strider_listio_volume* volume, uint64_t* cell) {
  return done(*volume, [&](Client& client) { *cell = client.make_cell(); });
}

int strider_listio_fetch_add(strider_listio_volume* volume, uint64_t cell, int64_t addend, int64_t* before) {
  return done(*volume, [&](Client& client) {
    const std::int64_t value = client.fetch_add(cell, addend);
    if (before != nullptr) *before = value;
  });
}

int strider_listio_set_cell(strider_listio_volume* volume, uint64_t cell, int64_t value) {
  return done(*volume, [&](Client& client) { client.set_cell(cell, value); });
}

int strider_listio_free_cell(strider_listio_volume* volume, uint64_t cell) {
  return done(*volume, [&](Client& client) { client.free_cell(cell); });
}

int strider_listio_sync(strider_listio_file* file) {
  return done(*file->volume, [&](Client& client) { client.sync(file->file); });
}

int64_t strider_listio_size(strider_listio_file* file) {
  return guarded(*file->volume, [&] { return static_cast<std::int64_t>(file->volume->client->size(file->file)); });
}

int strider_listio_truncate(strider_listio_file* file, uint64_t bytes) {
  return done(*file->volume, [&](Client& client) { client.truncate(file->file, bytes); });
}

int strider_listio_stat(strider_listio_volume* volume, const char* path, strider_listio_attributes* attributes) {
  return done(*volume, [&](Client& client) {
    const FileStat found = client.stat(path);
    *attributes = {found.mode | mode_of(found.kind), found.bytes,         found.modified_ns, found.id,
                   found.layout.strip_bytes,         found.layout.servers};
  });
}

int strider_listio_unlink(strider_listio_volume* volume, const char* path) {
  return done(*volume, [&](Client& client) { client.unlink(path); });
}

int strider_listio_rename(strider_listio_volume* volume, const char* from, const char* to) {
  return done(*volume, [&](Client& client) { client.rename(from, to); });
}

int strider_listio_mkdir(strider_listio_volume* volume, const char* path, mode_t mode) {
  return done(*volume, [&](Client& client) { client.make_directory(path, mode); });
}

int strider_listio_rmdir(strider_listio_volume* volume, const char* path) {
  return done(*volume, [&](Client& client) { client.remove_directory(path); });
}

int strider_listio_readdir(strider_listio_volume* volume, const char* path,
                           int (*entry)(void* context, const char* name, mode_t kind), void* context) {
  return guarded(*volume, [&] {
    for (const auto& [name, kind, inode] : volume->client->read_directory(path))
      if (const int result = entry(context, name.c_str(), mode_of(kind)); result != 0) return result;
    return 0;
  });
}

void strider_listio_invalidate(strider_listio_volume* volume, const void* memory, size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  done(*volume, [&](Client& client) { client.invalidate({begin, begin + bytes}); });
}
