#include "listio/protocol/parse.hpp"

#include <algorithm>
#include <optional>

#include "foundation/bounds.hpp"
#include "listio/protocol/bytes.hpp"
#include "listio/protocol/kinds.hpp"

namespace strider::listio {
namespace {

constexpr std::uint32_t most_servers = 65536;
constexpr auto most_health = static_cast<std::uint32_t>(Health::damaged_checksums);

template <std::size_t count>
void take(ByteReader& in, std::array<std::byte, count>& out) {
  const std::span<const std::byte> bytes = in.raw(count);
  std::copy(bytes.begin(), bytes.end(), out.begin());
}

/// Each `take` below returns why what it has read will not do, or nothing. Whether all of it was there is asked once,
/// at the end of the message.
using Fault = std::optional<std::string>;

Fault take(ByteReader& in, FileId& file) {
  file = in.number<FileId>();
  if (file == 0) return "file number 0 is not valid";
  return {};
}

Fault take(ByteReader& in, std::string& path) {
  path = in.text();
  if (!is_path(path)) return "not a path within the volume";
  return {};
}

Fault take(ByteReader& in, LayoutWords& layout) {
  layout.servers = in.number<std::uint32_t>();
  layout.first = in.number<std::uint32_t>();
  layout.strip_bytes = in.number<std::uint64_t>();
  if (layout.servers > most_servers || layout.strip_bytes > most_file_bytes) return "not a layout";
  return {};
}

Fault take(ByteReader& in, ReadRequest& request, const ProtocolLimits& limits) {
  if (Fault fault = take(in, request.file)) return fault;
  request.buffer = in.number<std::uint32_t>();
  const auto runs = in.number<std::uint32_t>();
  if (request.buffer >= limits.buffers)
    return "buffer " + std::to_string(request.buffer) + " does not belong to the client";
  if (runs == 0 || runs > limits.most_runs)
    return std::to_string(runs) + " runs in a request; at most " + std::to_string(limits.most_runs) + " are allowed";
  if (in.rest().size() != std::size_t{runs} * 16)
    return "the length of the list of runs does not match its number of runs";
  request.runs.reserve(runs);
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < runs; ++i) {
    const auto offset = in.number<std::uint64_t>(), length = in.number<std::uint64_t>();
    if (length == 0 || !ends_within(offset, length, most_file_bytes))
      return "a run is empty or ends beyond the largest file size";
    if (length > limits.buffer_bytes - bytes)
      return "the runs have more bytes than the " + std::to_string(limits.buffer_bytes) + " of a buffer";
    bytes += length;
    request.runs.push_back({offset, length});
  }
  return {};
}
Fault take(ByteReader& in, SyncRequest& request, const ProtocolLimits&) { return take(in, request.file); }
Fault take(ByteReader& in, DataStatRequest& request, const ProtocolLimits&) { return take(in, request.file); }
Fault take(ByteReader& in, RemoveDataRequest& request, const ProtocolLimits&) { return take(in, request.file); }
Fault take(ByteReader& in, TruncateRequest& request, const ProtocolLimits&) {
  Fault fault = take(in, request.file);
  request.bytes = in.number<std::uint64_t>();
  if (request.bytes > most_file_bytes) return "a size beyond the largest file size";
  return fault;
}
Fault take(ByteReader& in, OpenRequest& request, const ProtocolLimits&) {
  if (Fault fault = take(in, request.path)) return fault;
  const auto creation = in.number<std::uint32_t>();
  if (creation > static_cast<std::uint32_t>(Creation::exclusive)) return "unknown creation mode";
  request.creation = static_cast<Creation>(creation);
  request.mode = in.number<std::uint32_t>() & kept_mode_bits;
  return take(in, request.layout);
}
Fault take(ByteReader& in, StatRequest& request, const ProtocolLimits&) { return take(in, request.path); }
Fault take(ByteReader& in, UnlinkRequest& request, const ProtocolLimits&) { return take(in, request.path); }
Fault take(ByteReader& in, RenameRequest& request, const ProtocolLimits&) {
  const Fault fault = take(in, request.from);
  return fault ? fault : take(in, request.to);
}
Fault take(ByteReader& in, MakeDirectoryRequest& request, const ProtocolLimits&) {
  const Fault fault = take(in, request.path);
  request.mode = in.number<std::uint32_t>() & kept_mode_bits;
  return fault;
}
Fault take(ByteReader& in, RemoveDirectoryRequest& request, const ProtocolLimits&) { return take(in, request.path); }
Fault take(ByteReader& in, ListRequest& request, const ProtocolLimits&) {
  const Fault fault = take(in, request.path);
  request.cookie = in.number<std::uint64_t>();
  return fault;
}
Fault take(ByteReader& in, ListDataRequest& request, const ProtocolLimits&) {
  request.cookie = in.number<std::uint64_t>();
  return {};
}
Fault take(ByteReader&, StatusRequest&, const ProtocolLimits&) { return {}; }
Fault take(ByteReader& in, SyncNamesRequest& request, const ProtocolLimits&) {
  const auto part = in.number<std::uint32_t>();
  if (part == 0 || part > static_cast<std::uint32_t>(SyncNamesRequest::Part::directories))
    return "unknown part of names";
  request.part = static_cast<SyncNamesRequest::Part>(part);
  return {};
}
Fault take(ByteReader& in, SetEntryRequest& request, const ProtocolLimits&) {
  Fault fault = take(in, request.path);
  request.mode = in.number<std::uint32_t>();
  request.modified_ns = static_cast<std::int64_t>(in.number<std::uint64_t>());
  request.file = in.number<FileId>();
  if ((request.mode & ~kept_mode_bits) != 0 && request.mode != SetEntryRequest::keep_mode) return "not a mode";
  return fault;
}
Fault take(ByteReader& in, SetDataTimeRequest& request, const ProtocolLimits&) {
  const Fault fault = take(in, request.file);
  request.modified_ns = static_cast<std::int64_t>(in.number<std::uint64_t>());
  return fault;
}
Fault take(ByteReader& in, MakeLinkRequest& request, const ProtocolLimits&) {
  if (Fault fault = take(in, request.path)) return fault;
  request.text = in.text();
  if (!is_link_text(request.text)) return "not the text of a symbolic link";
  return {};
}
Fault take(ByteReader& in, ReadLinkRequest& request, const ProtocolLimits&) { return take(in, request.path); }
Fault take(ByteReader&, MakeCellRequest&, const ProtocolLimits&) { return {}; }
Fault take_cell(ByteReader& in, CellId& cell) {
  cell = in.number<CellId>();
  if (cell == 0) return "cell number 0 is not valid";
  return {};
}
Fault take(ByteReader& in, AddToCellRequest& request, const ProtocolLimits&) {
  Fault fault = take_cell(in, request.cell);
  request.addend = static_cast<std::int64_t>(in.number<std::uint64_t>());
  return fault;
}
Fault take(ByteReader& in, SetCellRequest& request, const ProtocolLimits&) {
  Fault fault = take_cell(in, request.cell);
  request.value = static_cast<std::int64_t>(in.number<std::uint64_t>());
  return fault;
}
Fault take(ByteReader& in, FreeCellRequest& request, const ProtocolLimits&) { return take_cell(in, request.cell); }
Fault take(ByteReader& in, LockKind& kind) {
  const auto number = in.number<std::uint32_t>();
  if (number > static_cast<std::uint32_t>(LockKind::exclusive)) return "unknown kind of lock";
  kind = static_cast<LockKind>(number);
  return {};
}
Fault take_range(ByteReader& in, ByteRun& range) {
  range.offset = in.number<std::uint64_t>();
  range.length = in.number<std::uint64_t>();
  if (range.length == 0 || !ends_within(range.offset, range.length, most_file_bytes))
    return "a range is empty or ends beyond the largest file size";
  return {};
}
Fault take(ByteReader& in, LockRequest& request, const ProtocolLimits&) {
  if (Fault fault = take(in, request.file)) return fault;
  request.owner = in.number<std::uint64_t>();
  if (Fault fault = take(in, request.kind)) return fault;
  request.patience_ms = in.number<std::uint32_t>();
  const auto ranges = in.number<std::uint32_t>();
  if (ranges == 0 || ranges > most_lock_ranges)
    return std::to_string(ranges) + " ranges in a lock; at most " + std::to_string(most_lock_ranges) + " are allowed";
  if (in.rest().size() != std::size_t{ranges} * 16)
    return "the length of the list of ranges does not match its number of ranges";
  request.ranges.reserve(ranges);
  std::uint64_t end = 0;
  for (std::uint32_t i = 0; i < ranges; ++i) {
    ByteRun range;
    if (Fault fault = take_range(in, range)) return fault;
    if (range.offset < end) return "the ranges of a lock overlap, or are not in order";
    end = range.end();
    request.ranges.push_back(range);
  }
  return {};
}
Fault take(ByteReader& in, FindLockRequest& request, const ProtocolLimits&) {
  if (Fault fault = take(in, request.file)) return fault;
  request.owner = in.number<std::uint64_t>();
  if (Fault fault = take(in, request.kind)) return fault;
  return take_range(in, request.range);
}
Fault take(ByteReader& in, CancelLockRequest& request, const ProtocolLimits&) {
  Fault fault = take(in, request.file);
  request.waiting = in.number<std::uint64_t>();
  return fault;
}
Fault take(ByteReader& in, CheckEntryRequest& request, const ProtocolLimits&) { return take(in, request.path); }
Fault take(ByteReader& in, ListCopiesRequest& request, const ProtocolLimits&) {
  request.cookie = in.number<std::uint64_t>();
  return {};
}
Fault take(ByteReader& in, CheckCopyRequest& request, const ProtocolLimits&) { return take(in, request.file); }
Fault take(ByteReader&, NamesStateRequest&, const ProtocolLimits&) { return {}; }
Fault take(ByteReader& in, RepairNameRequest& request, const ProtocolLimits&) {
  const auto repair = in.number<std::uint32_t>();
  if (repair == 0 || repair > static_cast<std::uint32_t>(NameRepair::restore)) return "unknown kind of repair";
  request.repair = static_cast<NameRepair>(repair);
  request.generation = in.number<std::uint64_t>();
  request.file = in.number<FileId>();
  return take(in, request.path);
}

Fault take(ByteReader& in, VerifyRequest& request, const ProtocolLimits&) {
  Fault fault = take(in, request.file);
  request.first = in.number<std::uint64_t>();
  request.blocks = in.number<std::uint32_t>();
  if (request.blocks == 0 || request.blocks > VerifyRequest::most_blocks || request.first > most_file_bytes / 4096)
    return "no blocks to verify, too many, or blocks beyond the largest file size";
  return fault;
}

Fault take(ByteReader& in, LeaseRequest& request, const ProtocolLimits&) {
  request.suspect = in.number<std::uint32_t>();
  request.view = in.number<std::uint64_t>();
  return {};
}
Fault take_fill(ByteReader& in, std::uint64_t& fill) {
  fill = in.number<std::uint64_t>();
  if (fill == 0) return "fill number 0 is not valid";
  return {};
}
Fault take(ByteReader& in, StartFillRequest& request, const ProtocolLimits&) {
  Fault fault = take_fill(in, request.fill);
  request.server = in.number<std::uint32_t>();
  request.view = in.number<std::uint64_t>();
  return fault;
}
Fault take(ByteReader& in, ListMissedRequest& request, const ProtocolLimits&) {
  request.cookie = in.number<std::uint64_t>();
  const auto changed = in.number<std::uint32_t>();
  if (changed > 1) return "neither all missed files nor the changed ones";
  request.changed = changed == 1;
  return {};
}
Fault take(ByteReader& in, TakeMissedRequest& request, const ProtocolLimits&) { return take(in, request.file); }
Fault take(ByteReader&, ForgetMissedRequest&, const ProtocolLimits&) { return {}; }
Fault take(ByteReader& in, MarkMissedRequest& request, const ProtocolLimits&) { return take(in, request.file); }
Fault take(ByteReader& in, PauseRequest& request, const ProtocolLimits&) {
  Fault fault = take_fill(in, request.fill);
  request.server = in.number<std::uint32_t>();
  return fault;
}
Fault take(ByteReader& in, AdmitRequest& request, const ProtocolLimits&) {
  Fault fault = take_fill(in, request.fill);
  request.server = in.number<std::uint32_t>();
  return fault;
}

EntryKind take_kind(ByteReader& in) {
  const auto kind = static_cast<EntryKind>(in.number<std::uint32_t>());
  return kind == EntryKind::directory || kind == EntryKind::link ? kind : EntryKind::file;
}
Fault take(ByteReader& in, LocateRequest& request, const ProtocolLimits&) {
  Fault fault = take(in, request.file);
  request.kind = take_kind(in);
  return fault;
}

Fault take(ByteReader& in, Target& target) {
  const auto flags = in.number<std::uint32_t>();
  if (flags > (flag_second | flag_alone | flag_view | flag_fill)) return "an unknown target";
  target.copy = (flags & flag_second) != 0 ? DataCopy::second : DataCopy::first;
  target.alone = (flags & flag_alone) != 0;
  if ((flags & flag_view) != 0) {
    target.view = in.number<std::uint64_t>();
    if (target.view == 0) return "view number 0 is not valid";
  }
  return (flags & flag_fill) != 0 ? take_fill(in, target.fill) : Fault{};
}

/// The request that is number `index` in the variant.
template <std::size_t candidate = 0>
Fault take(ByteReader& in, std::size_t index, Request& request, const ProtocolLimits& limits) {
  if constexpr (candidate < std::variant_size_v<Request>) {
    if (index == candidate) return take(in, request.emplace<candidate>(), limits);
    return take<candidate + 1>(in, index, request, limits);
  }
  return "an unknown request";
}

template <typename Message>
std::variant<Message, Malformed> finish(const ByteReader& in, Message message) {
  if (!in.complete()) return Malformed{"a message of the wrong length"};
  return message;
}

/// Their number, and the ranges; the end of the reply. Whether it is whole.
bool take_last_ranges(ByteReader& in, std::vector<ByteRun>& ranges) {
  const auto count = in.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !in.rest().empty(); ++i)
    if (take_range(in, ranges.emplace_back())) return false;
  return in.complete() && ranges.size() == count;
}

Fault take(ByteReader& in, Entry& entry) {
  entry.kind = take_kind(in);
  entry.mode = in.number<std::uint32_t>();
  entry.file = in.number<FileId>();
  entry.modified_ns = static_cast<std::int64_t>(in.number<std::uint64_t>());
  entry.inode = in.number<std::uint64_t>();
  return take(in, entry.layout);
}

}  // namespace

std::variant<ClientMessage, Malformed> parse_client_message(std::span<const std::byte> bytes,
                                                            const ProtocolLimits& limits) {
  ByteReader in(bytes);
  const auto kind = in.number<std::uint32_t>();
  if (kind == static_cast<std::uint32_t>(MessageKind::hello)) {
    Hello hello;
    hello.version = in.number<std::uint32_t>();
    // Whatever else an older or newer one says: only its version counts.
    if (hello.version != protocol_version) return hello;
    hello.server = in.number<std::uint32_t>();
    take(in, hello.nonce);
    hello.client = in.number<std::uint64_t>();
    hello.patience_ms = in.number<std::uint32_t>();
    hello.name = in.text();
    if (!is_client_name(hello.name)) return Malformed{"not the name of a client"};
    return finish<ClientMessage>(in, hello);
  }
  if (kind == static_cast<std::uint32_t>(MessageKind::proof)) {
    Proof proof;
    take(in, proof.code);
    return finish<ClientMessage>(in, proof);
  }
  if (kind == static_cast<std::uint32_t>(MessageKind::request_buffers))
    return finish<ClientMessage>(in, BufferRequest{in.number<std::uint32_t>()});
  if (kind == static_cast<std::uint32_t>(MessageKind::release))
    return finish<ClientMessage>(in, Release{in.number<std::uint32_t>()});
  const auto first = static_cast<std::uint32_t>(MessageKind::first_request);
  if (kind < first) return Malformed{"an unknown message"};
  NumberedRequest numbered;
  numbered.number = in.number<std::uint64_t>();
  if (Fault fault = take(in, numbered.target)) return Malformed{*std::move(fault)};
  if (Fault fault = take(in, kind - first, numbered.request, limits)) return Malformed{*std::move(fault)};
  return finish<ClientMessage>(in, std::move(numbered));
}

std::variant<ServerMessage, Malformed> parse_server_message(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  switch (static_cast<MessageKind>(in.number<std::uint32_t>())) {
    case MessageKind::challenge: {
      Challenge challenge;
      challenge.version = in.number<std::uint32_t>();
      if (challenge.version != protocol_version) return challenge;
      take(in, challenge.nonce);
      take(in, challenge.code);
      take(in, challenge.volume.id);
      challenge.volume.epoch = in.number<std::uint64_t>();
      return finish<ServerMessage>(in, challenge);
    }
    case MessageKind::welcome: {
      Welcome welcome;
      welcome.address = in.number<std::uint64_t>();
      welcome.key = in.number<std::uint64_t>();
      welcome.buffers = in.number<std::uint32_t>();
      welcome.most_runs = in.number<std::uint32_t>();
      welcome.buffer_bytes = in.number<std::uint64_t>();
      welcome.servers = in.number<std::uint32_t>();
      welcome.most_requests = in.number<std::uint32_t>();
      welcome.process = in.number<std::uint64_t>();
      if (welcome.buffers == 0 || welcome.most_runs == 0 || welcome.buffer_bytes == 0 || welcome.most_requests == 0 ||
          welcome.buffer_bytes > most_file_bytes / welcome.buffers)
        return Malformed{"a welcome without buffers"};
      return finish<ServerMessage>(in, welcome);
    }
    case MessageKind::refusal: {
      Refusal refusal{in.text()};
      return finish<ServerMessage>(in, std::move(refusal));
    }
    case MessageKind::reply: {
      Reply reply;
      reply.number = in.number<std::uint64_t>();
      reply.error = in.number<std::uint32_t>();
      reply.body = in.raw(in.rest().size());
      return finish<ServerMessage>(in, reply);
    }
    case MessageKind::grant: {
      Grant grant;
      grant.buffer = in.number<std::uint32_t>();
      grant.buffers = in.number<std::uint32_t>();
      grant.term = static_cast<Term>(in.number<std::uint32_t>());
      if (grant.buffers == 0 || (grant.term != Term::request && grant.term != Term::connection))
        return Malformed{"a grant without buffers or term"};
      return finish<ServerMessage>(in, grant);
    }
    default: return Malformed{"an unknown message"};
  }
}

bool parse_body(std::span<const std::byte> bytes, DataStat& body) {
  ByteReader in(bytes);
  body.bytes = in.number<std::uint64_t>();
  body.modified_ns = static_cast<std::int64_t>(in.number<std::uint64_t>());
  return in.complete() && body.bytes <= most_file_bytes;
}

bool parse_body(std::span<const std::byte> bytes, Entry& body) {
  ByteReader in(bytes);
  return !take(in, body) && in.complete();
}

bool parse_body(std::span<const std::byte> bytes, Orphan& body) {
  ByteReader in(bytes);
  body.file = in.number<FileId>();
  return !take(in, body.layout) && in.complete();
}

bool parse_body(std::span<const std::byte> bytes, DirectoryPage& body) {
  ByteReader in(bytes);
  body.cookie = in.number<std::uint64_t>();
  const auto count = in.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !in.rest().empty(); ++i) {
    std::string name = in.text();
    const EntryKind kind = take_kind(in);
    body.names.push_back({std::move(name), kind, in.number<std::uint64_t>()});
  }
  return in.complete() && body.names.size() == count;
}

bool parse_body(std::span<const std::byte> bytes, LinkText& body) {
  ByteReader in(bytes);
  body.text = in.text();
  return in.complete() && is_link_text(body.text);
}

bool parse_body(std::span<const std::byte> bytes, Reason& body) {
  ByteReader in(bytes);
  body.text = in.text();
  return in.complete();
}

bool parse_body(std::span<const std::byte> bytes, CellState& body) {
  ByteReader in(bytes);
  body.cell = in.number<CellId>();
  body.value = static_cast<std::int64_t>(in.number<std::uint64_t>());
  return in.complete() && body.cell != 0;
}

bool parse_body(std::span<const std::byte> bytes, LockHolder& body) {
  ByteReader in(bytes);
  const Fault fault = take(in, body.kind);
  body.owner = in.number<std::uint64_t>();
  body.range.offset = in.number<std::uint64_t>();
  body.range.length = in.number<std::uint64_t>();
  body.name = in.text();
  return !fault && in.complete() && is_client_name(body.name) &&
         ends_within(body.range.offset, body.range.length, most_file_bytes);
}

bool parse_body(std::span<const std::byte> bytes, EntryCheck& body) {
  ByteReader in(bytes);
  const auto state = in.number<std::uint32_t>(), copy = in.number<std::uint32_t>();
  const Fault fault = take(in, body.entry);
  body.text = in.text();
  body.damage = in.text();
  body.state = static_cast<EntryState>(state);
  body.copy = static_cast<CopyState>(copy);
  return !fault && in.complete() && state <= static_cast<std::uint32_t>(EntryState::damaged) &&
         copy <= static_cast<std::uint32_t>(CopyState::other);
}

bool parse_body(std::span<const std::byte> bytes, CopyCheck& body) {
  ByteReader in(bytes);
  const auto state = in.number<std::uint32_t>(), is_named = in.number<std::uint32_t>();
  Fault fault = take(in, body.layout);
  if (!fault) fault = take(in, body.path);
  body.state = static_cast<CopyState>(state);
  body.is_named = is_named == 1;
  return !fault && in.complete() && state <= static_cast<std::uint32_t>(CopyState::other) && is_named <= 1;
}

bool parse_body(std::span<const std::byte> bytes, NamesState& body) {
  ByteReader in(bytes);
  body.generation = in.number<std::uint64_t>();
  body.set_aside = in.number<std::uint64_t>();
  return in.complete();
}

bool parse_body(std::span<const std::byte> bytes, DataPage& body) {
  ByteReader in(bytes);
  body.cookie = in.number<std::uint64_t>();
  const auto count = in.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !in.rest().empty(); ++i) {
    DataPage::DataFile file;
    file.file = in.number<FileId>();
    file.bytes = in.number<std::uint64_t>();
    file.health = static_cast<Health>(std::min(in.number<std::uint32_t>(), most_health));
    file.recorded_bytes = in.number<std::uint64_t>();
    body.files.push_back(file);
  }
  return in.complete() && body.files.size() == count;
}

bool parse_body(std::span<const std::byte> bytes, Verified& body) {
  ByteReader in(bytes);
  body.end_block = in.number<std::uint64_t>();
  body.bytes = in.number<std::uint64_t>();
  return take_last_ranges(in, body.damaged);
}

bool parse_body(std::span<const std::byte> bytes, ServerView& body) {
  ByteReader in(bytes);
  body.number = in.number<std::uint64_t>();
  body.term_ms = in.number<std::uint32_t>();
  const auto count = in.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !in.rest().empty(); ++i) body.out.push_back(in.number<std::uint32_t>());
  return in.complete() && body.out.size() == count;
}

bool parse_body(std::span<const std::byte> bytes, Missed& body) {
  ByteReader in(bytes);
  return take_last_ranges(in, body.runs);
}

bool parse_body(std::span<const std::byte> bytes, ServerStatus& body) {
  ByteReader in(bytes);
  for (const auto number : ServerStatus::numbers) body.*number = in.number<std::uint64_t>();
  return in.complete();
}

bool is_link_text(std::string_view text) {
  return !text.empty() && text.size() <= most_path_bytes && text.find('\0') == std::string_view::npos;
}

bool is_client_name(std::string_view text) {
  const auto is_printable = [](char letter) { return letter >= ' ' && letter <= '~'; };
  return text.size() <= most_client_name_bytes && std::ranges::all_of(text, is_printable);
}

bool is_path(std::string_view path) {
  if (path.empty()) return true;
  if (path.size() > most_path_bytes || path.find('\0') != std::string_view::npos) return false;
  for (;;) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, slash);
    if (name.empty() || name == "." || name == ".." || name.size() > most_name_bytes) return false;
    if (slash == path.size()) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace strider::listio
