#pragma once
#include <sys/uio.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/extent.hpp"
#include "listio/client/volume.hpp"
#include "listio/layout/byte_run.hpp"
#include "listio/layout/striping.hpp"
#include "listio/protocol/messages.hpp"
#include "listio/registration/registrar.hpp"
#include "listio/transfer/method.hpp"

namespace strider::listio {

/// Whether every piece that is moved has to be in a live registration, with any transport.
enum class Checking { lax, strict };

/// What becomes of a list whose memory the strategy `single` cannot register, since there are holes between its pieces.
enum class Unregistered { fail, pack };

struct ClientOptions {
  std::string transport;  ///< empty: the volume's
  Method method = Method::hybrid;
  std::uint64_t threshold_bytes = 0;  ///< of `hybrid`: gather from this mean length on; 0: measured at first use
  std::string registration = "none";  ///< domain for the caller's memory: none, uring, mlock, model
  RegistrarOptions registrar{.strategy = Strategy::none};
  Unregistered unregistered = Unregistered::fail;
  Checking checking = Checking::lax;
  std::uint32_t most_runs = 128;  ///< of a request; the server's limit may be lower
  /// Until any operation is done or has failed, connecting to its servers included.
  std::chrono::milliseconds patience{30000};
  /// Whether calls that may be done twice are repeated within `patience` after the connection to a server was lost:
  /// transfers, sizes, truncation, sync, and reading names. With two copies they always are.
  bool repeats = false;
};

/// Counters of a client.
struct ClientCounters {
  std::uint64_t requests = 0;      ///< to servers
  std::uint64_t messages = 0;      ///< sent and received
  std::uint64_t wire_bytes = 0;    ///< data and messages, both ways
  std::uint64_t operations = 0;    ///< puts and gets of the network
  std::uint64_t pieces = 0;        ///< of memory in them
  std::uint64_t packed_bytes = 0;  ///< copied because of `pack`
  std::uint64_t gathered_lists = 0, packed_lists = 0, multiple_lists = 0;
  std::uint64_t registrations = 0, registration_failures = 0, registered_pages = 0, hole_pages = 0, queries = 0;
  double register_us = 0;  ///< registering and deregistering, failed attempts and queries included
  std::uint64_t cache_hits = 0;
};

/// An open file. Good for any client of the volume, and after a server's restart too.
struct File {
  std::string path;
  FileId id = 0;
  Striping striping{1, 1};
};

/// Unsynced changes of a client: of a file, and of names.
struct UnsyncedChanges {
  /// Servers, and the process of each that has carried out a change: a server that is started again has another one.
  using Processes = std::set<std::pair<std::uint32_t, std::uint64_t>>;
  Processes data, names;
  bool empty() const { return data.empty() && names.empty(); }
};

/// A sync found that a server was started again since a change: data of the file, or names, may be lost.
class LostChanges : public IoError {
 public:
  LostChanges(const IoError& error, bool data, bool names) : IoError(error), data_(data), names_(names) {}
  bool has_data() const { return data_; }
  bool has_names() const { return names_; }

 private:
  bool data_, names_;
};

/// A lock that a client holds; for that client alone.
using LockId = std::uint64_t;

/// How a new file is spread; 0: as the volume says, and over all servers.
struct Spreading {
  std::uint64_t strip_bytes = 0;
  std::uint32_t servers = 0;
  std::optional<std::uint32_t> first;  ///< otherwise by a hash of the path
};

struct FileStat {
  EntryKind kind = EntryKind::file;
  std::uint32_t mode = 0;
  std::uint64_t bytes = 0;       ///< of a link those of its text
  std::int64_t modified_ns = 0;  ///< since 1970
  FileId id = 0;                 ///< of a directory: known by it after a rename; of a link 0
  LayoutWords layout;
  std::uint64_t inode = 0;
};

/// What comparing the names with the data files has found. Only of a volume that is not changed meanwhile.
struct CheckReport {
  struct Data {
    std::uint32_t server = 0;
    FileId file = 0;
    DataCopy copy = DataCopy::first;
  };
  /// How a name is made good.
  struct Repair {
    NameRepair repair = NameRepair::rewrite_entry;
    FileId file = 0;
    std::string path;
  };
  std::uint64_t files = 0, directories = 0, data_files = 0, bytes = 0;
  std::vector<std::string> problems;  ///< damaged and missing items, one line each
  std::vector<Repair> repairs;        ///< of those that can be repaired
  std::vector<Data> orphans;          ///< data files of no file
  std::vector<std::uint32_t> out;     ///< servers whose data were not looked at, as they may be old
  std::uint64_t set_aside = 0;        ///< entries that earlier repairs could not explain and have moved to set-aside
  std::uint64_t generation = 0;       ///< of the names
  bool is_settled = false;            ///< no directory was renamed during the check

  /// Why orphans must not be removed: the damaged entry may be the name of their file. Empty: they may.
  std::string reason_to_keep_orphans() const;
};

/// A server that was out, and the copied data. It is in again unless there is a reason why it is not.
struct FilledServer {
  std::uint32_t server = 0;
  std::uint64_t files = 0, bytes = 0;
  std::string reason;
  std::vector<FileId> unreadable;  ///< damaged files whose other copy is damaged too
};

/// A data file that is damaged, and where; no ranges: as a whole.
struct DamagedCopy {
  std::uint32_t server = 0;
  DataCopy copy = DataCopy::first;
  FileId file = 0;
  std::vector<ByteRun> ranges;
};

/// Blocks of a data file that a server is to verify, and the findings.
struct VerifiedSlice {
  std::uint32_t server = 0;
  DataCopy copy = DataCopy::first;
  VerifyRequest request;
  Verified found;
  std::string damage;  ///< why the file cannot be verified; empty if it was
};

/// A client of a volume: moves lists of pieces between this process's memory and files that are striped over servers.
///
/// Paths have no leading slash; the root is "". Lists are pairs: byte i of all memory pieces belongs to byte i of all
/// file runs, whatever their cuts; of a list that overlaps itself the last piece wins when writing. Written data are
/// visible to all clients when the call returns, and durable after `sync`.
///
/// Every call is done by its deadline, or throws IoError, which names the server that failed and has its error number
/// (ENOENT, ENOSPC …; ECONNRESET and ETIMEDOUT for servers that are gone). Such a server is connected to again by the
/// next call that needs it, or by the same one if it is repeated. std::system_error (ENOMEM) where no memory can be
/// had, or pinned, to pack into. InputError for invalid arguments: lists of different lengths, malformed paths. Not for
/// several threads at once; a process may have many clients.
class Client {
 public:
  /// Does not connect yet.
  explicit Client(Volume volume, const ClientOptions& options = {});
  /// Ends pending calls.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  File open(const std::string& path, Creation creation = Creation::never, std::uint32_t mode = 0644,
            const Spreading& spreading = {});
  void write_list(const File& file, std::span<const iovec> memory, std::span<const ByteRun> runs);
  /// How many bytes of the list lie before the end of the file; memory for bytes beyond it stays as it is.
  std::uint64_t read_list(const File& file, std::span<const iovec> memory, std::span<const ByteRun> runs);
  void write(const File& file, std::span<const std::byte> bytes, std::uint64_t offset);
  std::uint64_t read(const File& file, std::span<std::byte> bytes, std::uint64_t offset);

  /// Starts a transfer in the background. Memory has to stay until it is done.
  using Ticket = std::uint64_t;
  Ticket start_write_list(const File& file, std::span<const iovec> memory, std::span<const ByteRun> runs);
  Ticket start_read_list(const File& file, std::span<const iovec> memory, std::span<const ByteRun> runs);
  /// Whether `wait` would return at once. Progresses all transfers.
  bool is_done(Ticket ticket);
  /// The result or exception of `read_list`. Once for each ticket.
  std::uint64_t wait(Ticket ticket);

  /// Waits until no other lock excludes it, then holds a lock on all ranges of the list, which may have any order: with
  /// `LockKind::exclusive` no other client has a lock on any of these bytes, with `shared` none has an exclusive one.
  /// Locks of one client exclude each other too. Waiting clients are served in turn. IoError with ETIMEDOUT, which
  /// names the holder and the bytes of its lock, if that takes longer than `patience`. Locks are advice: transfers do
  /// not look at them. A lock ends when its client's connection to `lock_server(file)` does. Of a list of more than
  /// 1024 ranges the smallest gaps are locked as well.
  LockId lock(const File& file, std::span<const ByteRun> ranges, LockKind kind);
  /// Once for each lock, after all transfers that it protects. IoError with ENOLCK if it was lost meanwhile.
  void unlock(LockId lock);
  /// Whether the lock was not lost, as far as this client knows.
  bool is_held(LockId lock) const;
  /// The server that has all locks on a file.
  static std::uint32_t lock_server(const File& file) { return file.striping.locate(0).server; }

  // Locks as fcntl has them, for a program that has several owners, such as a mount: a later lock of an owner replaces
  // its earlier ones on the same bytes, and `LockKind::none` gives them up. The numbers are apart from those of `lock`.

  /// Asks for a lock, and waits at most so long for it, instead of the client's patience; `wait` throws as `lock` does.
  Ticket start_owner_lock(const File& file, std::uint64_t owner, LockKind kind, const ByteRun& range,
                          std::chrono::milliseconds longest);
  /// Ends the waiting: `wait` throws IoError with EINTR, unless the lock has been granted meanwhile.
  void cancel_lock(Ticket ticket);
  /// The lock of another owner that excludes such a lock, if there is one.
  std::optional<LockHolder> find_lock(const File& file, std::uint64_t owner, LockKind kind, const ByteRun& range);

  /// A number on server 0 with the value 0, for any client that knows the id, until this client's connection to server
  /// 0 ends or a client frees it. IoError with ENOENT for a cell that is not there any more.
  CellId make_cell();
  /// Adds in one step, and returns the earlier value. IoError with EOVERFLOW if the sum leaves the range of
  /// numbers; with another number, of a connection that was lost, it may or may not have been added.
  std::int64_t fetch_add(CellId cell, std::int64_t addend);
  void set_cell(CellId cell, std::int64_t value);
  void free_cell(CellId cell);

  /// LostChanges (EIO) if a server was started again since this client changed the file or names, or server 0 since it
  /// opened the file: changes that were not synced may be lost. Once: the next sync counts the changes after this
  /// one. Each client must sync its own changes: it does not know which changes of others are lost.
  void sync(const File& file);
  // `sync` in parts, for clients that sync together: each takes its changes, one sends the sync, each confirms its own.

  /// The changes of this client since its last sync. They do not count for other syncs any more.
  UnsyncedChanges take_unsynced(const File& file);
  /// After a sync that has failed: it counts for the next one.
  void put_back(const File& file, UnsyncedChanges changes);
  /// Asks the servers to sync, for changes of any client.
  void send_sync(const File& file);
  /// After the sync: IoError as from `sync` for changes that were taken before it. With another error, they count for
  /// the next sync.
  void confirm_sync(const File& file, const UnsyncedChanges& changes);
  /// Earlier changes of names are durable.
  void sync_names();
  std::uint64_t size(const File& file);
  void truncate(const File& file, std::uint64_t bytes);

  FileStat stat(const std::string& path);
  /// The name is gone when these return. Data follow when the removal is on stable storage: at once, or with one of the
  /// next calls, so that many files need few syncs; the destructor removes the rest.
  void unlink(const std::string& path);
  void rename(const std::string& from, const std::string& to);
  bool removals_are_waiting() const;
  /// Removes the data of files whose names are gone.
  void finish_removals();
  void make_directory(const std::string& path, std::uint32_t mode = 0755);
  void remove_directory(const std::string& path);
  void make_link(const std::string& path, const std::string& text);
  std::string read_link(const std::string& path);
  /// With an id: of that file or directory alone. IoError with ESTALE if another one has the path.
  void set_mode(const std::string& path, std::uint32_t mode, FileId id = 0);
  /// When it was changed, in ns since 1970; the next write changes it again.
  void set_time(const std::string& path, std::int64_t modified_ns, FileId id = 0);
  /// The path of a file or directory now. IoError with ENOENT if it has none.
  std::string locate(FileId id, EntryKind kind);
  std::vector<DirectoryPage::Name> read_directory(const std::string& path);

  /// Connects to all servers, and makes the memory that lists are packed into; other calls do so when they need to.
  void connect();
  ServerStatus status(std::uint32_t server);
  /// Others may use the volume meanwhile.
  CheckReport check();
  /// Repairs names as a report says, deletes nothing, and returns a line for each repair. What nothing explains is
  /// moved to the folder set-aside of server 0.
  std::vector<std::string> repair(const CheckReport& report);
  /// Of a report that has no reason to keep it.
  void remove_orphan(const CheckReport::Data& data);
  /// The next data files of a server after those before `cookie`, 0 at first.
  DataPage list_data(std::uint32_t server, std::uint64_t cookie, DataCopy copy = DataCopy::first);
  /// Has servers compare data with their checksums, all slices at the same time.
  void verify(std::span<VerifiedSlice> slices);

  /// Of a volume with two copies: which servers are out. IoError.
  ServerView view();
  /// Copies the missed changes to servers that are out, and damaged data from the other copy, while the volume is in
  /// use. A server with damaged data is out meanwhile, unless its neighbour is. IoError if server 0 does not answer.
  std::vector<FilledServer> fill(std::span<const DamagedCopy> damaged = {});
  /// Before a server that does not run is started with an empty folder, because its own is lost: has it be out, and
  /// miss all of its data. InputError for server 0, which has the names. IoError, EBUSY if it has the only good copy.
  void prepare_to_replace(std::uint32_t server);

  /// The program unmaps memory, or has done so: a pin-down cache needs this call unless memory is watched.
  void invalidate(const Range& range);
  /// Facts on the transport, found out by the first list that needed them, or now.
  const MethodCosts& method_costs();
  /// From the next list on: another method, and another threshold of `hybrid` (as in ClientOptions).
  void choose(Method method, std::uint64_t threshold_bytes = 0);
  /// Fits what registering costs here, which `hybrid` and `ogr` count with from now on. Takes some tenths of a second.
  /// InputError without a domain; std::system_error with ENOMEM if too little memory may be pinned.
  Calibration calibrate_registration();
  const Volume& volume() const;
  ClientCounters counters() const;
  /// Why memory could not be registered, the last time that this was so; empty if it always could.
  const std::string& registration_problem() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strider::listio
