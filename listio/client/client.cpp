#include "listio/client/client.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <limits>
#include <utility>

#include "listio/client/ask.hpp"
#include "listio/client/copies.hpp"
#include "listio/client/driver.hpp"
#include "listio/client/fill.hpp"
#include "listio/client/locks.hpp"
#include "listio/client/removals.hpp"
#include "listio/client/transfers.hpp"
#include "listio/client/unsynced.hpp"
#include "listio/client/volume_check.hpp"
#include "listio/protocol/parse.hpp"

namespace strider::listio {
namespace {

/// FNV-1a: small, and the same everywhere.
std::uint32_t hash_of(const std::string& path) {
  std::uint32_t hash = 2166136261U;
  for (const char letter : path) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  return hash;
}

std::string checked(const std::string& path) {
  if (!is_path(path))
    throw InputError("path", "'" + path + "' is not a path within a volume",
                     "write names with slashes between them, without a leading slash, '.' or '..'");
  return path;
}

CellId checked(CellId cell) {
  if (cell == 0) throw InputError("cell", "0 is not the number of a cell", "use the number that make_cell returned");
  return cell;
}

Striping striping_of(const LayoutWords& layout, std::uint32_t servers, const std::string& path) {
  if (layout.servers > servers)
    throw IoError({"open", path, 0, 0, EPROTO}, "the file is striped over more servers than the volume has",
                  "check that the volume file belongs to this volume");
  return {layout.servers, layout.strip_bytes, layout.first};
}

}  // namespace

class Client::Impl {
 public:
  Impl(Volume volume, const ClientOptions& options)
      : driver(std::move(volume), options), copies(driver, options.repeats) {}
  ~Impl() {
    transfers.abandon_all();
    removals.finish_at_end();
  }

  /// One request to the manager.
  template <typename Body>
  Body ask(const char* what, const std::string& path, Request request, const Place& place = {}) {
    return listio::ask<Body>(driver, what, path, std::move(request), place);
  }
  /// The same of a request that may be done twice.
  template <typename Body>
  Body ask_again(const char* what, const std::string& path, const Request& request) {
    return body_of<Body>(run_again(what, path, request)->calls.front());
  }
  std::unique_ptr<Operation> run_again(const char* what, const std::string& path, const Request& request) {
    return copies.repeat(what, path, [&](const Deadline& deadline) {
      auto operation = copies.prepare(what, path, deadline);
      driver.add(*operation, 0, request);
      driver.run(*operation);
      return operation;
    });
  }
  void tell(const char* what, const std::string& path, Request request, const Place& place = {}) {
    listio::tell(driver, what, path, std::move(request), place);
  }
  /// A change of names.
  std::unique_ptr<Operation> change(const char* what, const std::string& path, Request request) {
    auto operation = run_one(driver, what, path, {}, std::move(request));
    unsynced.changed_names(operation->calls.front());
    return operation;
  }
  Entry open(const std::string& path, const OpenRequest& request) {
    // A file that was made by an earlier attempt is found by the next one, unless it must not be there.
    if (request.creation == Creation::exclusive) return body_of<Entry>(change("open", path, request)->calls.front());
    const auto operation = run_again("open", path, request);
    const auto entry = body_of<Entry>(operation->calls.front());
    if (request.creation == Creation::never) unsynced.found_name(entry.file, operation->calls.front());
    else unsynced.changed_names(operation->calls.front());
    return entry;
  }
  /// A change of names that may leave data without one.
  void change_and_remove(const char* what, const std::string& path, Request request) {
    const auto operation = change(what, path, std::move(request));
    const Call& call = operation->calls.front();
    const auto orphan = body_of<Orphan>(call);
    unsynced.forget(orphan.file);
    removals.add(what, path, {orphan, call.process});
  }
  /// Sends a sync of these changes. LostChanges if one of the servers may have lost some of them.
  template <typename Send>
  void sync_changes(FileId file, const UnsyncedChanges& changes, const Send& send) {
    std::unique_ptr<Operation> synced;
    try {
      synced = send();
    } catch (...) {
      unsynced.put_back(file, changes);
      throw;
    }
    const auto data = Unsynced::find_lost(changes.data, *synced), names = Unsynced::find_lost(changes.names, *synced);
    if (!data && !names) return;
    const std::uint32_t first = std::min(data.value_or(driver.servers()), names.value_or(driver.servers()));
    const IoError error({synced->what, synced->file, 0, 0, EIO},
                        driver.name(first) + " was started again before this sync; earlier changes may be lost",
                        "write the data again that were not synced before");
    throw LostChanges(error, data.has_value(), names.has_value());
  }
  std::unique_ptr<Operation> send_sync(const File& file) {
    return tell_all("sync", file.path, file.striping.servers(), [&](std::uint32_t) { return SyncRequest{file.id}; });
  }
  /// One request to each of the places that `places` has for the first `servers` servers.
  template <typename Make, typename PlacesOf>
  std::unique_ptr<Operation> prepare_all(const char* what, const std::string& path, std::uint32_t servers,
                                         const Deadline& deadline, const Make& make, const PlacesOf& places) {
    auto operation = copies.prepare(what, path, deadline);
    for (std::uint32_t server = 0; server < servers; ++server)
      for (const Place& place : places(server)) driver.add(*operation, place, make(server));
    return operation;
  }
  /// One request to each of the first `servers` servers, at the same time, for data files; of two copies for both.
  /// `before_repetition` is called, with all servers connected to, before it is done again.
  template <typename Make>
  std::unique_ptr<Operation> tell_all(
      const char* what, const std::string& path, std::uint32_t servers, const Make& make,
      const std::function<void()>& before_repetition = [] {}) {
    bool is_repeated = false;
    return copies.repeat(what, path, [&](const Deadline& deadline) {
      const bool is_again = std::exchange(is_repeated, true);
      auto operation = prepare_all(what, path, servers, deadline, make,
                                   [&](std::uint32_t server) { return copies.to_change(server); });
      if (is_again) before_repetition();
      driver.run(*operation);
      return operation;
    });
  }
  /// The same for one of the copies: the second one where the first is damaged.
  template <typename Make>
  std::unique_ptr<Operation> ask_all(const char* what, const std::string& path, std::uint32_t servers,
                                     const Make& make) {
    DamagedPlaces damaged;
    return copies.repeat(what, path, [&](const Deadline& deadline) {
      for (;;) {
        auto operation = prepare_all(what, path, servers, deadline, make,
                                     [&](std::uint32_t server) { return copies.to_read(server, damaged); });
        try {
          driver.run(*operation);
          return operation;
        } catch (const IoError&) {
          if (!damaged.add(*operation)) throw;
        }
      }
    });
  }

  struct Sizes {
    std::uint64_t bytes = 0;
    std::int64_t modified_ns = std::numeric_limits<std::int64_t>::min();
  };
  Sizes sizes(const File& file) {
    const auto operation =
        ask_all("stat", file.path, file.striping.servers(), [&](std::uint32_t) { return DataStatRequest{file.id}; });
    std::vector<std::uint64_t> data;
    Sizes sizes;
    for (const Call& call : operation->calls) {
      const auto stat = body_of<DataStat>(call);
      data.push_back(stat.bytes);
      // A server without a data file of it answers 0, which is later than times before 1970.
      if (stat.modified_ns != 0) sizes.modified_ns = std::max(sizes.modified_ns, stat.modified_ns);
    }
    sizes.bytes = file.striping.file_bytes(data);
    return sizes;
  }

  Driver driver;
  Copies copies;
  Locks locks{driver};
  Unsynced unsynced;
  Removals removals{driver, copies};
  Transfers transfers{driver, copies, locks, unsynced};
};

Client::Client(Volume volume, const ClientOptions& options)
    : impl_(std::make_unique<Impl>(std::move(volume), options)) {}
Client::~Client() = default;

File Client::open(const std::string& path, Creation creation, std::uint32_t mode, const Spreading& spreading) {
  const Volume& volume = impl_->driver.volume();
  const auto all = static_cast<std::uint32_t>(volume.servers.size());
  LayoutWords layout;
  layout.servers = spreading.servers == 0 ? all : spreading.servers;
  layout.strip_bytes = spreading.strip_bytes == 0 ? volume.strip_bytes : spreading.strip_bytes;
  if (layout.servers > all)
    throw InputError("servers",
                     "the volume has " + std::to_string(all) + " servers, not " + std::to_string(layout.servers),
                     "spread the file over fewer servers");
  layout.first = spreading.first.value_or(hash_of(path) % layout.servers);
  const auto entry = impl_->open(path, OpenRequest{checked(path), creation, mode, layout});
  return {path, entry.file, striping_of(entry.layout, all, path)};
}

Client::Ticket Client::start_write_list(const File& file, std::span<const iovec> memory,
                                        std::span<const ByteRun> runs) {
  return impl_->transfers.start(Direction::write, file, memory, runs);
}

Client::Ticket Client::start_read_list(const File& file, std::span<const iovec> memory, std::span<const ByteRun> runs) {
  return impl_->transfers.start(Direction::read, file, memory, runs);
}

bool Client::is_done(Ticket ticket) { return impl_->transfers.is_done(ticket); }

std::uint64_t Client::wait(Ticket ticket) {
  return impl_->transfers.finish(ticket, [this](const File& file) { return size(file); });
}

void Client::write_list(const File& file, std::span<const iovec> memory, std::span<const ByteRun> runs) {
  wait(start_write_list(file, memory, runs));
}

std::uint64_t Client::read_list(const File& file, std::span<const iovec> memory, std::span<const ByteRun> runs) {
  return wait(start_read_list(file, memory, runs));
}

void Client::write(const File& file, std::span<const std::byte> bytes, std::uint64_t offset) {
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};  // only read
  const ByteRun run{offset, bytes.size()};
  write_list(file, {&piece, 1}, {&run, 1});
}

std::uint64_t Client::read(const File& file, std::span<std::byte> bytes, std::uint64_t offset) {
  const iovec piece{bytes.data(), bytes.size()};
  const ByteRun run{offset, bytes.size()};
  return read_list(file, {&piece, 1}, {&run, 1});
}

LockId Client::lock(const File& file, std::span<const ByteRun> ranges, LockKind kind) {
  return impl_->locks.lock(file, ranges, kind);
}

void Client::unlock(LockId lock) { impl_->locks.unlock(lock); }

bool Client::is_held(LockId lock) const { return impl_->locks.is_held(lock); }

Client::Ticket Client::start_owner_lock(const File& file, std::uint64_t owner, LockKind kind, const ByteRun& range,
                                        std::chrono::milliseconds longest) {
  return impl_->transfers.start(file, impl_->locks.prepare(file, owner, kind, range, longest));
}

void Client::cancel_lock(Ticket ticket) {
  const auto& [operation, file] = impl_->transfers.find(ticket);
  const Call& call = operation.calls.front();
  if (call.stage == Call::Stage::finished) return;
  impl_->tell("lock", file.path, CancelLockRequest{file.id, call.number}, {call.server});
}

std::optional<LockHolder> Client::find_lock(const File& file, std::uint64_t owner, LockKind kind,
                                            const ByteRun& range) {
  auto holder =
      impl_->ask<LockHolder>("lock", file.path, FindLockRequest{file.id, owner, kind, range}, {lock_server(file)});
  if (holder.kind == LockKind::none) return {};
  return holder;
}

CellId Client::make_cell() { return impl_->ask<CellState>("make_cell", "", MakeCellRequest{}).cell; }

std::int64_t Client::fetch_add(CellId cell, std::int64_t addend) {
  return impl_->ask<CellState>("fetch_add", "", AddToCellRequest{checked(cell), addend}).value;
}

void Client::set_cell(CellId cell, std::int64_t value) {
  impl_->tell("set_cell", "", SetCellRequest{checked(cell), value});
}

void Client::free_cell(CellId cell) { impl_->tell("free_cell", "", FreeCellRequest{checked(cell)}); }

void Client::sync(const File& file) {
  impl_->sync_changes(file.id, impl_->unsynced.take(file.id), [&] { return impl_->send_sync(file); });
}

UnsyncedChanges Client::take_unsynced(const File& file) { return impl_->unsynced.take(file.id); }

void Client::put_back(const File& file, UnsyncedChanges changes) {
  impl_->unsynced.put_back(file.id, std::move(changes));
}

void Client::send_sync(const File& file) { impl_->send_sync(file); }

void Client::confirm_sync(const File& file, const UnsyncedChanges& changes) {
  if (changes.empty()) return;
  impl_->sync_changes(file.id, changes, [&] {
    return impl_->tell_all("sync", file.path, file.striping.servers(),
                           [&](std::uint32_t) { return DataStatRequest{file.id}; });
  });
}

void Client::sync_names() {
  impl_->sync_changes(0, impl_->unsynced.take_names(),
                      [&] { return impl_->run_again("sync", "", SyncNamesRequest{}); });
}

std::uint64_t Client::size(const File& file) { return impl_->sizes(file).bytes; }

void Client::truncate(const File& file, std::uint64_t bytes) {
  if (bytes > most_file_bytes)
    throw InputError("size", "the size is too large for a file: " + std::to_string(bytes) + " bytes",
                     "choose a smaller size");
  const auto done = impl_->tell_all(
      "truncate", file.path, file.striping.servers(),
      [&](std::uint32_t server) { return TruncateRequest{file.id, file.striping.data_file_bytes(server, bytes)}; },
      [&] { impl_->locks.require("truncate", file); });
  impl_->unsynced.changed(file.id, *done);
}

FileStat Client::stat(const std::string& path) {
  const auto entry = impl_->ask_again<Entry>("stat", path, StatRequest{checked(path)});
  FileStat stat{.kind = entry.kind,
                .mode = entry.mode,
                .modified_ns = entry.modified_ns,
                .id = entry.file,
                .layout = entry.layout,
                .inode = entry.inode};
  if (entry.kind == EntryKind::directory) return stat;
  if (entry.kind == EntryKind::link) {
    stat.bytes = read_link(path).size();
    return stat;
  }
  const Impl::Sizes sizes = impl_->sizes({path, entry.file, striping_of(entry.layout, impl_->driver.servers(), path)});
  stat.bytes = sizes.bytes;
  stat.modified_ns = std::max(stat.modified_ns, sizes.modified_ns);
  return stat;
}

void Client::unlink(const std::string& path) { impl_->change_and_remove("unlink", path, UnlinkRequest{checked(path)}); }

bool Client::removals_are_waiting() const { return impl_->removals.are_waiting(); }
void Client::finish_removals() { impl_->removals.finish("unlink", ""); }

void Client::rename(const std::string& from, const std::string& to) {
  impl_->change_and_remove("rename", from, RenameRequest{checked(from), checked(to)});
}

void Client::make_directory(const std::string& path, std::uint32_t mode) {
  impl_->change("mkdir", path, MakeDirectoryRequest{checked(path), mode});
}

void Client::remove_directory(const std::string& path) {
  impl_->change("rmdir", path, RemoveDirectoryRequest{checked(path)});
}

void Client::make_link(const std::string& path, const std::string& text) {
  if (!is_link_text(text))
    throw InputError("text", "not the text of a symbolic link", "write 1 to 4095 bytes without a byte 0");
  impl_->change("symlink", path, MakeLinkRequest{checked(path), text});
}

std::string Client::read_link(const std::string& path) {
  return impl_->ask_again<LinkText>("readlink", path, ReadLinkRequest{checked(path)}).text;
}

void Client::set_mode(const std::string& path, std::uint32_t mode, FileId id) {
  impl_->change("chmod", path, SetEntryRequest{checked(path), mode & kept_mode_bits, SetEntryRequest::keep_time, id});
}

std::string Client::locate(FileId id, EntryKind kind) {
  return impl_->ask_again<LinkText>("locate", "", LocateRequest{id, kind}).text;
}

void Client::set_time(const std::string& path, std::int64_t modified_ns, FileId id) {
  // The name comes last: its reply is the proof that it was there, and data of older times do not hide its own.
  const auto entry = impl_->ask_again<Entry>("utimens", path, StatRequest{checked(path)});
  if (id != 0 && entry.file != id)
    throw IoError({"utimens", path, 0, 0, ESTALE}, "another file has its path now", "open the file again");
  if (entry.kind == EntryKind::file)
    impl_->tell_all("utimens", path, std::min(entry.layout.servers, impl_->driver.servers()),
                    [&](std::uint32_t) { return SetDataTimeRequest{entry.file, modified_ns}; });
  impl_->change("utimens", path, SetEntryRequest{path, SetEntryRequest::keep_mode, modified_ns, id});
}

std::vector<DirectoryPage::Name> Client::read_directory(const std::string& path) {
  std::vector<DirectoryPage::Name> names;
  std::uint64_t cookie = 0;
  do {
    auto page = impl_->ask_again<DirectoryPage>("readdir", path, ListRequest{checked(path), cookie});
    names.insert(names.end(), std::make_move_iterator(page.names.begin()), std::make_move_iterator(page.names.end()));
    cookie = page.cookie;
  } while (cookie != 0);
  return names;
}

void Client::connect() {
  impl_->copies.repeat("connect", "", [&](const Deadline& deadline) {
    for (std::uint32_t server = 0; server < impl_->driver.servers(); ++server)
      if (!impl_->copies.is_out(server)) impl_->driver.make_ready(server, deadline);
    return true;
  });
}

ServerStatus Client::status(std::uint32_t server) {
  if (server >= impl_->driver.servers())
    throw InputError("server", "there is no server " + std::to_string(server), "servers are numbered from 0");
  return impl_->ask<ServerStatus>("status", "", StatusRequest{}, {server});
}

CheckReport Client::check() {
  finish_removals();
  return check_volume(impl_->driver, impl_->copies);
}

std::vector<std::string> Client::repair(const CheckReport& report) { return repair_names(impl_->driver, report); }

std::string CheckReport::reason_to_keep_orphans() const {
  if (!problems.empty()) return problems.front();
  if (set_aside == 0) return "";
  return std::to_string(set_aside) +
         " damaged entries are in server-0/set-aside: the data may be theirs; remove them there if they are not needed";
}

void Client::remove_orphan(const CheckReport::Data& data) {
  impl_->copies.repeat("check", "", [&](const Deadline&) {
    const std::uint32_t servers = impl_->driver.servers();
    const std::uint32_t other =
        data.copy == DataCopy::first ? next_server(data.server, servers) : previous_server(data.server, servers);
    const Place place{data.server, {data.copy, impl_->copies.is_out(other), impl_->copies.view().number}};
    return run_one(impl_->driver, "check", "", place, RemoveDataRequest{data.file});
  });
}

DataPage Client::list_data(std::uint32_t server, std::uint64_t cookie, DataCopy copy) {
  return impl_->ask<DataPage>("list data", "", ListDataRequest{cookie}, {server, {copy}});
}

ServerView Client::view() {
  impl_->copies.renew("status", "", in(impl_->driver.patience()));
  return impl_->copies.view();
}

std::vector<FilledServer> Client::fill(std::span<const DamagedCopy> damaged) {
  return impl_->copies.are_two() ? fill_servers(impl_->driver, impl_->copies, damaged) : std::vector<FilledServer>{};
}

void Client::prepare_to_replace(std::uint32_t server) {
  if (!impl_->copies.are_two())
    throw InputError("server", "the volume has one copy of data", "restore the folder from a backup of this server");
  if (server == 0 || server >= impl_->driver.servers())
    throw InputError(
        "server", "the folder of server " + std::to_string(server) + " cannot be replaced",
        server == 0 ? "restore the folder of server 0 from a backup: it has the names" : "servers are numbered from 0");
  listio::prepare_to_replace(impl_->driver, impl_->copies, server);
}

void Client::verify(std::span<VerifiedSlice> slices) {
  Driver& driver = impl_->driver;
  std::vector<std::unique_ptr<Operation>> operations;
  const auto abandon = [&] {
    for (const auto& operation : operations) driver.abandon(*operation);
  };
  try {
    for (const VerifiedSlice& slice : slices) {
      operations.push_back(driver.prepare("scrub", ""));
      driver.add(*operations.back(), {slice.server, {slice.copy}}, slice.request);
      driver.start(*operations.back());
    }
    for (std::size_t i = 0; i < slices.size(); ++i) try {
        driver.finish(*operations[i]);
        slices[i].found = body_of<Verified>(operations[i]->calls.front());
      } catch (const IoError& error) {
        if (error.details().error_number != EIO) throw;
        slices[i].damage = error.what();
      }
  } catch (...) {
    abandon();
    throw;
  }
}

void Client::invalidate(const Range& range) { impl_->driver.invalidate(range); }
const MethodCosts& Client::method_costs() { return impl_->driver.method_costs(); }
void Client::choose(Method method, std::uint64_t threshold_bytes) { impl_->driver.choose(method, threshold_bytes); }
Calibration Client::calibrate_registration() { return impl_->driver.calibrate_registration(); }
const Volume& Client::volume() const { return impl_->driver.volume(); }
ClientCounters Client::counters() const { return impl_->driver.counters(); }

const std::string& Client::registration_problem() const { return impl_->driver.registration_problem(); }

}  // namespace strider::listio
