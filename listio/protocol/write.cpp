#include "listio/protocol/bytes.hpp"
#include "listio/protocol/kinds.hpp"
#include "listio/protocol/messages.hpp"

namespace strider::listio {
namespace {

void put(ByteWriter& out, const LayoutWords& layout) {
  out.number(layout.servers).number(layout.first).number(layout.strip_bytes);
}
void put(ByteWriter& out, const ReadRequest& request) {
  out.number(request.file).number(request.buffer).number(static_cast<std::uint32_t>(request.runs.size()));
  for (const ByteRun& run : request.runs) out.number(run.offset).number(run.length);
}
void put(ByteWriter& out, const SyncRequest& request) { out.number(request.file); }
void put(ByteWriter& out, const DataStatRequest& request) { out.number(request.file); }
void put(ByteWriter& out, const TruncateRequest& request) { out.number(request.file).number(request.bytes); }
void put(ByteWriter& out, const RemoveDataRequest& request) { out.number(request.file); }
void put(ByteWriter& out, const OpenRequest& request) {
  out.text(request.path).number(static_cast<std::uint32_t>(request.creation)).number(request.mode);
  put(out, request.layout);
}
void put(ByteWriter& out, const StatRequest& request) { out.text(request.path); }
void put(ByteWriter& out, const UnlinkRequest& request) { out.text(request.path); }
void put(ByteWriter& out, const RenameRequest& request) { out.text(request.from).text(request.to); }
void put(ByteWriter& out, const MakeDirectoryRequest& request) { out.text(request.path).number(request.mode); }
void put(ByteWriter& out, const RemoveDirectoryRequest& request) { out.text(request.path); }
void put(ByteWriter& out, const ListRequest& request) { out.text(request.path).number(request.cookie); }
void put(ByteWriter& out, const ListDataRequest& request) { out.number(request.cookie); }
void put(ByteWriter&, const StatusRequest&) {}
void put(ByteWriter& out, const SyncNamesRequest& request) { out.number(static_cast<std::uint32_t>(request.part)); }
void put(ByteWriter& out, const SetEntryRequest& request) {
  out.text(request.path).number(request.mode).number(static_cast<std::uint64_t>(request.modified_ns));
  out.number(request.file);
}
void put(ByteWriter& out, const SetDataTimeRequest& request) {
  out.number(request.file).number(static_cast<std::uint64_t>(request.modified_ns));
}
void put(ByteWriter& out, const MakeLinkRequest& request) { out.text(request.path).text(request.text); }
void put(ByteWriter& out, const ReadLinkRequest& request) { out.text(request.path); }

void put(ByteWriter&, const MakeCellRequest&) {}
void put(ByteWriter& out, const AddToCellRequest& request) {
  out.number(request.cell).number(static_cast<std::uint64_t>(request.addend));
}
void put(ByteWriter& out, const SetCellRequest& request) {
  out.number(request.cell).number(static_cast<std::uint64_t>(request.value));
}
void put(ByteWriter& out, const FreeCellRequest& request) { out.number(request.cell); }
void put(ByteWriter& out, const LockRequest& request) {
  out.number(request.file).number(request.owner).number(static_cast<std::uint32_t>(request.kind));
  out.number(request.patience_ms).number(static_cast<std::uint32_t>(request.ranges.size()));
  for (const ByteRun& range : request.ranges) out.number(range.offset).number(range.length);
}
void put(ByteWriter& out, const FindLockRequest& request) {
  out.number(request.file).number(request.owner).number(static_cast<std::uint32_t>(request.kind));
  out.number(request.range.offset).number(request.range.length);
}
void put(ByteWriter& out, const CancelLockRequest& request) { out.number(request.file).number(request.waiting); }
void put(ByteWriter& out, const CheckEntryRequest& request) { out.text(request.path); }
void put(ByteWriter& out, const ListCopiesRequest& request) { out.number(request.cookie); }
void put(ByteWriter& out, const CheckCopyRequest& request) { out.number(request.file); }
void put(ByteWriter&, const NamesStateRequest&) {}
void put(ByteWriter& out, const RepairNameRequest& request) {
  out.number(static_cast<std::uint32_t>(request.repair)).number(request.generation).number(request.file);
  out.text(request.path);
}

void put(ByteWriter& out, const Entry& entry) {
  out.number(static_cast<std::uint32_t>(entry.kind)).number(entry.mode).number(entry.file);
  out.number(static_cast<std::uint64_t>(entry.modified_ns)).number(entry.inode);
  put(out, entry.layout);
}
void put(ByteWriter& out, const VerifyRequest& request) {
  out.number(request.file).number(request.first).number(request.blocks);
}

void put(ByteWriter& out, const LeaseRequest& request) { out.number(request.suspect).number(request.view); }
void put(ByteWriter& out, const StartFillRequest& request) {
  out.number(request.fill).number(request.server).number(request.view);
}
void put(ByteWriter& out, const ListMissedRequest& request) {
  out.number(request.cookie).number(std::uint32_t{request.changed});
}
void put(ByteWriter& out, const TakeMissedRequest& request) { out.number(request.file); }
void put(ByteWriter&, const ForgetMissedRequest&) {}
void put(ByteWriter& out, const MarkMissedRequest& request) { out.number(request.file); }
void put(ByteWriter& out, const LocateRequest& request) {
  out.number(request.file).number(static_cast<std::uint32_t>(request.kind));
}
void put(ByteWriter& out, const PauseRequest& request) { out.number(request.fill).number(request.server); }
void put(ByteWriter& out, const AdmitRequest& request) { out.number(request.fill).number(request.server); }

void put(ByteWriter& out, const Target& target) {
  std::uint32_t flags = static_cast<std::uint32_t>(target.copy);
  if (target.alone) flags |= flag_alone;
  if (target.view != 0) flags |= flag_view;
  if (target.fill != 0) flags |= flag_fill;
  out.number(flags);
  if (target.view != 0) out.number(target.view);
  if (target.fill != 0) out.number(target.fill);
}

void put(ByteWriter& out, const Hello& hello) {
  out.number(static_cast<std::uint32_t>(MessageKind::hello)).number(hello.version).number(hello.server);
  out.raw(hello.nonce).number(hello.client).number(hello.patience_ms).text(hello.name);
}
void put(ByteWriter& out, const Proof& proof) {
  out.number(static_cast<std::uint32_t>(MessageKind::proof)).raw(proof.code);
}
void put(ByteWriter& out, const BufferRequest& request) {
  out.number(static_cast<std::uint32_t>(MessageKind::request_buffers)).number(request.buffers);
}
void put(ByteWriter& out, const Release& release) {
  out.number(static_cast<std::uint32_t>(MessageKind::release)).number(release.buffer);
}
void put(ByteWriter& out, const NumberedRequest& numbered) {
  const auto first = static_cast<std::uint32_t>(MessageKind::first_request);
  out.number(first + static_cast<std::uint32_t>(numbered.request.index())).number(numbered.number);
  put(out, numbered.target);
  std::visit([&out](const auto& request) { put(out, request); }, numbered.request);
}

void put(ByteWriter& out, const Challenge& challenge) {
  out.number(static_cast<std::uint32_t>(MessageKind::challenge)).number(challenge.version);
  out.raw(challenge.nonce).raw(challenge.code).raw(challenge.volume.id).number(challenge.volume.epoch);
}
void put(ByteWriter& out, const Welcome& welcome) {
  out.number(static_cast<std::uint32_t>(MessageKind::welcome)).number(welcome.address).number(welcome.key);
  out.number(welcome.buffers).number(welcome.most_runs).number(welcome.buffer_bytes);
  out.number(welcome.servers).number(welcome.most_requests).number(welcome.process);
}
void put(ByteWriter& out, const Refusal& refusal) {
  out.number(static_cast<std::uint32_t>(MessageKind::refusal)).text(refusal.reason);
}
void put(ByteWriter& out, const Reply& reply) {
  out.number(static_cast<std::uint32_t>(MessageKind::reply)).number(reply.number).number(reply.error).raw(reply.body);
}
void put(ByteWriter& out, const Grant& grant) {
  out.number(static_cast<std::uint32_t>(MessageKind::grant)).number(grant.buffer).number(grant.buffers);
  out.number(static_cast<std::uint32_t>(grant.term));
}

template <typename Message>
std::vector<std::byte> write(const Message& message) {
  ByteWriter out;
  std::visit([&out](const auto& each) { put(out, each); }, message);
  return out.take();
}

}  // namespace

std::vector<std::byte> write_message(const ClientMessage& message) { return write(message); }
std::vector<std::byte> write_message(const ServerMessage& message) { return write(message); }

std::vector<std::byte> write_body(const DataStat& body) {
  return ByteWriter().number(body.bytes).number(static_cast<std::uint64_t>(body.modified_ns)).take();
}

std::vector<std::byte> write_body(const Entry& body) {
  ByteWriter out;
  put(out, body);
  return out.take();
}

std::vector<std::byte> write_body(const Orphan& body) {
  ByteWriter out;
  out.number(body.file);
  put(out, body.layout);
  return out.take();
}

std::vector<std::byte> write_body(const DirectoryPage& body) {
  ByteWriter out;
  out.number(body.cookie).number(static_cast<std::uint32_t>(body.names.size()));
  for (const auto& each : body.names)
    out.text(each.name).number(static_cast<std::uint32_t>(each.kind)).number(each.inode);
  return out.take();
}

std::vector<std::byte> write_body(const LinkText& body) { return ByteWriter().text(body.text).take(); }

std::vector<std::byte> write_body(const Reason& body) { return ByteWriter().text(body.text).take(); }

std::vector<std::byte> write_body(const CellState& body) {
  return ByteWriter().number(body.cell).number(static_cast<std::uint64_t>(body.value)).take();
}

std::vector<std::byte> write_body(const LockHolder& body) {
  ByteWriter out;
  out.number(static_cast<std::uint32_t>(body.kind)).number(body.owner);
  out.number(body.range.offset).number(body.range.length).text(body.name);
  return out.take();
}

std::vector<std::byte> write_body(const EntryCheck& body) {
  ByteWriter out;
  out.number(static_cast<std::uint32_t>(body.state)).number(static_cast<std::uint32_t>(body.copy));
  put(out, body.entry);
  out.text(body.text).text(body.damage);
  return out.take();
}

std::vector<std::byte> write_body(const CopyCheck& body) {
  ByteWriter out;
  out.number(static_cast<std::uint32_t>(body.state)).number(std::uint32_t{body.is_named});
  put(out, body.layout);
  out.text(body.path);
  return out.take();
}

std::vector<std::byte> write_body(const NamesState& body) {
  return ByteWriter().number(body.generation).number(body.set_aside).take();
}

std::vector<std::byte> write_body(const DataPage& body) {
  ByteWriter out;
  out.number(body.cookie).number(static_cast<std::uint32_t>(body.files.size()));
  for (const auto& each : body.files)
    out.number(each.file)
        .number(each.bytes)
        .number(static_cast<std::uint32_t>(each.health))
        .number(each.recorded_bytes);
  return out.take();
}

std::vector<std::byte> write_body(const Verified& body) {
  ByteWriter out;
  out.number(body.end_block).number(body.bytes).number(static_cast<std::uint32_t>(body.damaged.size()));
  for (const ByteRun& range : body.damaged) out.number(range.offset).number(range.length);
  return out.take();
}

std::vector<std::byte> write_body(const ServerView& body) {
  ByteWriter out;
  out.number(body.number).number(body.term_ms).number(static_cast<std::uint32_t>(body.out.size()));
  for (const std::uint32_t server : body.out) out.number(server);
  return out.take();
}

std::vector<std::byte> write_body(const Missed& body) {
  ByteWriter out;
  out.number(static_cast<std::uint32_t>(body.runs.size()));
  for (const ByteRun& run : body.runs) out.number(run.offset).number(run.length);
  return out.take();
}

std::vector<std::byte> write_body(const ServerStatus& body) {
  ByteWriter out;
  for (const auto number : ServerStatus::numbers) out.number(body.*number);
  return out.take();
}

}  // namespace strider::listio
