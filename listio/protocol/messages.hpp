#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "listio/layout/byte_run.hpp"
#include "listio/protocol/file_id.hpp"

namespace strider::listio {

/// Of the protocol in docs/listio-protocol.md. Client and server have to have the same.
inline constexpr std::uint32_t protocol_version = 8;

/// A random number, and a code (HMAC-SHA256) that only who knows the volume's secret can compute.
using Nonce = std::array<std::byte, 32>;
using Code = std::array<std::byte, 32>;

/// A random number that a volume gets when it is made.
using VolumeId = std::array<std::byte, 16>;

/// Which volume, and which of its starts: all servers of a volume and its volume file have the same.
struct VolumeState {
  VolumeId id{};            ///< zeros for a volume without an id
  std::uint64_t epoch = 0;  ///< one more with each start of the volume
  bool operator==(const VolumeState&) const = default;
};

/// A counter of a volume, on server 0; never 0.
using CellId = std::uint64_t;

/// Ranges in a request for a lock.
inline constexpr std::uint32_t most_lock_ranges = 1024;

/// Longest name of a client, in bytes.
inline constexpr std::size_t most_client_name_bytes = 255;

/// How a file is spread: as `Striping`.
struct LayoutWords {
  std::uint32_t servers = 0;
  std::uint32_t first = 0;
  std::uint64_t strip_bytes = 0;
  bool operator==(const LayoutWords&) const = default;
};

// Messages of a client. All requests have a number, chosen by the client, that the reply repeats.

struct Hello {
  std::uint32_t version = protocol_version;
  std::uint32_t server = 0;  ///< which one the client means to talk to
  Nonce nonce{};
  std::uint64_t client = 0;       ///< the same number each time that this client connects; chosen at random
  std::uint32_t patience_ms = 0;  ///< how long it waits for an answer
  std::string name;               ///< of the client, for messages to others: printable characters
};
struct Proof {
  Code code{};
};
/// Read or write `runs` of a data file, one after the other, to or from the client's communication buffer `buffer`.
struct ReadRequest {
  FileId file = 0;
  std::uint32_t buffer = 0;
  std::vector<ByteRun> runs;
};
struct WriteRequest : ReadRequest {};
struct SyncRequest {
  FileId file = 0;
};
struct DataStatRequest {
  FileId file = 0;
};
struct TruncateRequest {
  FileId file = 0;
  std::uint64_t bytes = 0;  ///< of the data file
};
struct RemoveDataRequest {
  FileId file = 0;
};
enum class EntryKind : std::uint32_t { file = 1, directory = 2, link = 3 };
enum class Creation : std::uint32_t { never = 0, if_missing = 1, exclusive = 2 };
/// Only server 0, the manager, knows names. Paths have no leading slash; the volume's root is "".
struct OpenRequest {
  std::string path;
  Creation creation = Creation::never;
  std::uint32_t mode = 0644;
  LayoutWords layout;  ///< of a file that is created
};
struct StatRequest {
  std::string path;
};
struct UnlinkRequest {
  std::string path;
};
struct RenameRequest {
  std::string from, to;
};
struct MakeDirectoryRequest {
  std::string path;
  std::uint32_t mode = 0755;
};
struct RemoveDirectoryRequest {
  std::string path;
};
/// The entries of a directory after `cookie`: 0 at first, then what the last reply said.
struct ListRequest {
  std::string path;
  std::uint64_t cookie = 0;
};
/// The data files of a server after `cookie`.
struct ListDataRequest {
  std::uint64_t cookie = 0;
};
struct StatusRequest {};
/// Makes earlier changes of names durable on stable storage.
struct SyncNamesRequest {
  enum class Part : std::uint32_t {
    all = 1,
    directories = 2  ///< which names and copies are gone: enough before data are removed
  };
  Part part = Part::all;
};
/// What stays as it is, is `keep`.
struct SetEntryRequest {
  static constexpr std::uint32_t keep_mode = ~std::uint32_t{0};
  static constexpr std::int64_t keep_time = INT64_MIN;
  std::string path;
  std::uint32_t mode = keep_mode;
  std::int64_t modified_ns = keep_time;  ///< since 1970
  FileId file = 0;                       ///< what has to be at the path, otherwise ESTALE; 0: anything
};
/// The time of the last change of a data file, which counts for the file if it is the latest of all.
struct SetDataTimeRequest {
  FileId file = 0;
  std::int64_t modified_ns = 0;
};
/// A symbolic link: the text is for clients alone, servers follow none.
struct MakeLinkRequest {
  std::string path, text;
};
struct ReadLinkRequest {
  std::string path;
};
/// A cell with the value 0, which lives as long as the connection of the client that made it.
struct MakeCellRequest {};
struct AddToCellRequest {
  CellId cell = 0;
  std::int64_t addend = 0;
};
struct SetCellRequest {
  CellId cell = 0;
  std::int64_t value = 0;
};
struct FreeCellRequest {
  CellId cell = 0;
};
enum class LockKind : std::uint32_t { none = 0, shared = 1, exclusive = 2 };
/// From now on `owner` has a lock of this kind on these bytes of the file, instead of any other that it had on them.
/// The request waits while others have a lock that excludes it; `none` never waits.
struct LockRequest {
  FileId file = 0;
  std::uint64_t owner = 0;  ///< chosen by the client; its locks do not exclude each other
  LockKind kind = LockKind::none;
  std::uint32_t patience_ms = 0;  ///< how long it may wait
  std::vector<ByteRun> ranges;    ///< in increasing order, none overlaps another
};
/// Whose lock excludes one that the owner could ask for.
struct FindLockRequest {
  FileId file = 0;
  std::uint64_t owner = 0;
  LockKind kind = LockKind::none;
  ByteRun range;
};
/// The lock that request `waiting` asks for is not wanted any more, unless it has been granted.
struct CancelLockRequest {
  FileId file = 0;
  std::uint64_t waiting = 0;
};

// For a check of the volume, of which server 0 alone knows the names. Each name entry has a copy under its file's
// number.

/// What a name is, and whether its entry and the entry's copy are whole.
struct CheckEntryRequest {
  std::string path;
};
/// The files that have a copy of their entry, after `cookie`.
struct ListCopiesRequest {
  std::uint64_t cookie = 0;
};
/// Whether the copy of a file's entry is whole, and whether the path in it leads to the file.
struct CheckCopyRequest {
  FileId file = 0;
};
struct NamesStateRequest {};
enum class NameRepair : std::uint32_t {
  rewrite_entry = 1,    ///< the damaged one at `path`, from the copy of `file`
  rewrite_copy = 2,     ///< of the entry at `path`, and the entry itself if it has no checksum
  set_aside_entry = 3,  ///< the damaged one at `path`
  set_aside_copy = 4,   ///< the damaged one of `file`
  restore = 5,          ///< makes a name for `file`, which has none, from its copy
};
/// Refused with EAGAIN if a directory was renamed since `generation`.
struct RepairNameRequest {
  NameRepair repair = NameRepair::rewrite_entry;
  std::uint64_t generation = 0;
  FileId file = 0;
  std::string path;
};

/// Bytes that a checksum covers, from a multiple of it on.
inline constexpr std::uint64_t block_bytes = 4096;

/// Some blocks of a data file are to be read and compared with their checksums.
struct VerifyRequest {
  static constexpr std::uint32_t most_blocks = 4096;
  FileId file = 0;
  std::uint64_t first = 0;  ///< block
  std::uint32_t blocks = 0;
};

/// The path of a file or directory now, by its number: it may have been renamed by another client.
struct LocateRequest {
  FileId file = 0;
  EntryKind kind = EntryKind::file;
};

// Of volumes with two copies: the data file of each server has a copy on the next server. Server 0 keeps which servers
// are out: they may have missed changes, and no client reads or changes their data until they are filled again.

/// For a while, which servers are out. Refused with EAGAIN while that changes, with EBUSY if `suspect` must stay.
struct LeaseRequest {
  static constexpr std::uint32_t no_server = ~std::uint32_t{0};
  std::uint32_t suspect = no_server;  ///< does not answer: it is to be out
  std::uint64_t view = 0;             ///< that the client had then
};
/// From now on `fill` alone fills `server`, which is out in `view`: this server, or its neighbour, which has what the
/// other one has missed. The server itself refuses changes of this view and earlier ones with ESTALE.
struct StartFillRequest {
  std::uint64_t fill = 0;  ///< a random number
  std::uint32_t server = 0;
  std::uint64_t view = 0;
};
/// The files of which the other copy has missed changes, after `cookie`: all, or those with changes that were not taken
/// yet.
struct ListMissedRequest {
  std::uint64_t cookie = 0;
  bool changed = false;
};
/// The bytes that the other copy of a file has missed since the last such request of this fill: of the first one all.
struct TakeMissedRequest {
  FileId file = 0;
};
/// The other copies have missed nothing any more. EAGAIN, and nothing is forgotten, if something was not taken.
struct ForgetMissedRequest {};
/// The other copy of a file is to be filled as if it had missed all of it.
struct MarkMissedRequest {
  FileId file = 0;
};
/// Ends all leases, so that no client changes data, for `most_pause` at most. Refused with EAGAIN until that is so.
struct PauseRequest {
  std::uint64_t fill = 0;
  std::uint32_t server = 0;  ///< that is to be in
};
/// The server has missed nothing any more: it is in, and the pause ends. Refused with EAGAIN if there is no such pause.
struct AdmitRequest {
  std::uint64_t fill = 0;
  std::uint32_t server = 0;
};

using Request =
    std::variant<ReadRequest, WriteRequest, SyncRequest, DataStatRequest, TruncateRequest, RemoveDataRequest,
                 OpenRequest, StatRequest, UnlinkRequest, RenameRequest, MakeDirectoryRequest, RemoveDirectoryRequest,
                 ListRequest, ListDataRequest, StatusRequest, SyncNamesRequest, SetEntryRequest, SetDataTimeRequest,
                 MakeLinkRequest, ReadLinkRequest, MakeCellRequest, AddToCellRequest, SetCellRequest, FreeCellRequest,
                 LockRequest, FindLockRequest, CancelLockRequest, CheckEntryRequest, ListCopiesRequest,
                 CheckCopyRequest, NamesStateRequest, RepairNameRequest, VerifyRequest, LeaseRequest, StartFillRequest,
                 ListMissedRequest, TakeMissedRequest, ForgetMissedRequest, PauseRequest, AdmitRequest,
                 MarkMissedRequest, LocateRequest>;

/// Of two copies of a data file, the one that its own server keeps, or the one on the next server.
enum class DataCopy : std::uint32_t { first = 0, second = 1 };
/// The server that has the second copies of the data of `server`, of so many.
inline constexpr std::uint32_t next_server(std::uint32_t server, std::uint32_t servers) {
  return (server + 1) % servers;
}
/// The one of whose data `server` has the second copies.
inline constexpr std::uint32_t previous_server(std::uint32_t server, std::uint32_t servers) {
  return (server + servers - 1) % servers;
}

/// Which data file of the server a request is for.
struct Target {
  DataCopy copy = DataCopy::first;
  bool alone = false;      ///< the server of the other copy is out, and misses this change
  std::uint64_t view = 0;  ///< of the client; 0: with one copy
  std::uint64_t fill = 0;  ///< of requests that fill a copy: as in `StartFillRequest`
  bool operator==(const Target&) const = default;
};

/// Whether a request is for a cell or a lock.
inline bool is_coordination(const Request& request) {
  return std::visit(
      []<typename Each>(const Each&) {
        return std::is_same_v<Each, MakeCellRequest> || std::is_same_v<Each, AddToCellRequest> ||
               std::is_same_v<Each, SetCellRequest> || std::is_same_v<Each, FreeCellRequest> ||
               std::is_same_v<Each, LockRequest> || std::is_same_v<Each, FindLockRequest> ||
               std::is_same_v<Each, CancelLockRequest>;
      },
      request);
}
/// Whether a request takes no time: it waits for no disk, and for no other request.
inline bool is_immediate(const Request& request) {
  const auto* const lease = std::get_if<LeaseRequest>(&request);
  return std::holds_alternative<StatusRequest>(request) ||
         (lease != nullptr && lease->suspect == LeaseRequest::no_server);
}
/// Whether a request counts in `Welcome::most_requests`. Those that wait for locks do not: what ends their wait may
/// come after them on the same connection.
inline bool is_counted(const Request& request) { return !is_coordination(request) && !is_immediate(request); }

struct NumberedRequest {
  std::uint64_t number = 0;
  Request request;
  Target target{};
};
/// The client wants so many more of its communication buffers.
struct BufferRequest {
  std::uint32_t buffers = 0;
};
/// A buffer that was granted for one request is not used any more: no put or get on it is under way.
struct Release {
  std::uint32_t buffer = 0;
};
using ClientMessage = std::variant<Hello, Proof, NumberedRequest, BufferRequest, Release>;

// Messages of a server.

struct Challenge {
  std::uint32_t version = protocol_version;
  Nonce nonce{};
  Code code{};  ///< the server knows the secret too
  VolumeState volume{};
};
/// The client is let in. `buffers` communication buffers of `buffer_bytes` each, one after the other, are in the memory
/// that three numbers describe to its transport. It uses those that are granted.
struct Welcome {
  std::uint64_t address = 0, key = 0;
  std::uint32_t buffers = 0;
  std::uint32_t most_runs = 0;  ///< of one request
  std::uint64_t buffer_bytes = 0;
  std::uint32_t servers = 0;        ///< of the volume
  std::uint32_t most_requests = 0;  ///< that may be under way, of those that are counted
  std::uint64_t process = 0;        ///< the server's: a random number that it chose when it was started
};
/// The last thing that a client hears: why it is not served.
struct Refusal {
  std::string reason;
};
/// How long a buffer is granted: until its release after one request, or until the connection ends.
enum class Term : std::uint32_t { request = 1, connection = 2 };
/// The client may use buffers, from `buffer` on.
struct Grant {
  std::uint32_t buffer = 0, buffers = 0;
  Term term = Term::request;
};
/// To request `number`: 0 or Linux's error number, and what it replies.
struct Reply {
  std::uint64_t number = 0;
  std::uint32_t error = 0;
  std::span<const std::byte> body;  ///< within the message; of an error nothing, or the reason
};
using ServerMessage = std::variant<Challenge, Welcome, Refusal, Reply, Grant>;

// Bodies of replies. Those that are not here are empty.

/// To read and stat of a data file.
struct DataStat {
  std::uint64_t bytes = 0;  ///< size of the data file
  std::int64_t modified_ns = 0;
};
/// To open and stat.
struct Entry {
  EntryKind kind = EntryKind::file;
  std::uint32_t mode = 0;
  FileId file = 0;  ///< of a directory a number by which it is known after a rename; of a link 0
  std::int64_t modified_ns = 0;
  LayoutWords layout;
  std::uint64_t inode = 0;  ///< of the name on server 0
};
/// To unlink and rename: whose data files are of no use any more; 0: none.
struct Orphan {
  FileId file = 0;
  LayoutWords layout;
};
struct DirectoryPage {
  struct Name {
    std::string name;
    EntryKind kind = EntryKind::file;
    std::uint64_t inode = 0;  ///< as in `Entry`
  };
  std::uint64_t cookie = 0;  ///< for the next page; 0: there is none
  std::vector<Name> names;
};
/// To locate; to read link; to repair name: where it is now, from the folder of server 0 if it is no name any more.
struct LinkText {
  std::string text;
};
/// To an error, where its number does not say enough.
struct Reason {
  std::string text;
};
/// To requests for cells: which one, and its value before.
struct CellState {
  CellId cell = 0;
  std::int64_t value = 0;
};
/// To find lock: `none` if there is no such lock.
struct LockHolder {
  LockKind kind = LockKind::none;
  std::uint64_t owner = 0;  ///< if it is one of the client that asks
  ByteRun range;            ///< the bytes in common, a part of them if there are several
  std::string name;         ///< of the client
};
/// `unchecked`: of an older release, without a checksum.
enum class EntryState : std::uint32_t { whole = 0, unchecked = 1, damaged = 2 };
/// `other`: not that of the entry, though whole.
enum class CopyState : std::uint32_t { whole = 0, missing = 1, damaged = 2, other = 3 };
/// To check entry. Of what is no file, the kind alone counts.
struct EntryCheck {
  EntryState state = EntryState::whole;
  CopyState copy = CopyState::whole;
  Entry entry;
  std::string text, damage;  ///< of a damaged entry: its bytes, and the damage
};
/// To check copy. `is_named`: the path leads to the file.
struct CopyCheck {
  CopyState state = CopyState::whole;
  bool is_named = false;
  LayoutWords layout;
  std::string path;  ///< the last that is known
};
struct NamesState {
  std::uint64_t generation = 0;  ///< another one after each rename of a directory, and each start of the server
  std::uint64_t set_aside = 0;   ///< entries and copies that repairs have put aside
};
/// What a data file is, compared with what its checksums say of it; their values are not looked at.
enum class Health : std::uint32_t {
  sound = 0,
  missing = 1,
  too_short = 2,
  too_long = 3,
  no_checksums = 4,       ///< their file is missing
  damaged_checksums = 5,  ///< the header of their file is damaged, or of another file
};
/// To list data and list copies; copies have no size.
struct DataPage {
  struct DataFile {
    FileId file = 0;
    std::uint64_t bytes = 0;
    Health health = Health::sound;
    std::uint64_t recorded_bytes = 0;  ///< that it should have: `missing`, `too_short`, `too_long`
  };
  std::uint64_t cookie = 0;
  std::vector<DataFile> files;
};
/// To verify.
struct Verified {
  std::uint64_t end_block = 0;   ///< blocks that the file has, or checksums
  std::uint64_t bytes = 0;       ///< that were verified
  std::vector<ByteRun> damaged;  ///< in increasing order
};
/// To lease.
struct ServerView {
  std::uint64_t number = 0;        ///< one more with each change
  std::uint32_t term_ms = 0;       ///< how long it stays as it is, from the request on
  std::vector<std::uint32_t> out;  ///< servers, in increasing order
  bool operator==(const ServerView&) const = default;
};
/// To take missed.
struct Missed {
  std::vector<ByteRun> runs;  ///< in increasing order
};
struct ServerStatus {
  std::uint64_t clients = 0, buffer_bytes = 0;  ///< now
  std::uint64_t requests = 0, refused = 0, read_bytes = 0, written_bytes = 0;
  std::uint64_t file_calls = 0;  ///< system calls that read or wrote data files
  std::uint64_t registrations = 0, registered_pages = 0;
  std::uint64_t register_ns = 0;
  std::uint64_t cells = 0, locked_ranges = 0, waiting_locks = 0;  ///< now

  /// As they are sent.
  static constexpr std::uint64_t ServerStatus::* numbers[] = {
      &ServerStatus::clients,      &ServerStatus::buffer_bytes,  &ServerStatus::requests,
      &ServerStatus::refused,      &ServerStatus::read_bytes,    &ServerStatus::written_bytes,
      &ServerStatus::file_calls,   &ServerStatus::registrations, &ServerStatus::registered_pages,
      &ServerStatus::register_ns,  &ServerStatus::cells,         &ServerStatus::locked_ranges,
      &ServerStatus::waiting_locks};
};

std::vector<std::byte> write_message(const ClientMessage& message);
std::vector<std::byte> write_message(const ServerMessage& message);

std::vector<std::byte> write_body(const DataStat& body);
std::vector<std::byte> write_body(const Entry& body);
std::vector<std::byte> write_body(const Orphan& body);
std::vector<std::byte> write_body(const DirectoryPage& body);
std::vector<std::byte> write_body(const LinkText& body);
std::vector<std::byte> write_body(const Reason& body);
std::vector<std::byte> write_body(const CellState& body);
std::vector<std::byte> write_body(const LockHolder& body);
std::vector<std::byte> write_body(const EntryCheck& body);
std::vector<std::byte> write_body(const CopyCheck& body);
std::vector<std::byte> write_body(const NamesState& body);
std::vector<std::byte> write_body(const DataPage& body);
std::vector<std::byte> write_body(const Verified& body);
std::vector<std::byte> write_body(const ServerView& body);
std::vector<std::byte> write_body(const Missed& body);
std::vector<std::byte> write_body(const ServerStatus& body);

}  // namespace strider::listio
