#include "listio/client/link.hpp"

#include <limits.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace strider::listio {
namespace {

constexpr const char* remedy_damaged =
    "find all damaged files with strider listio scrub, and restore them from a backup";
constexpr const char* remedy_lost = "check whether the server still runs (strider listio status), and read its log";

std::string name_in(const Volume& volume, std::uint32_t number) {
  return "server " + std::to_string(number) + " (" + volume.servers[number] + ")";
}

/// The description of a lock's holder for clients that wait for it.
std::string name_of_process() {
  std::array<char, 128> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string name = "process " + std::to_string(::getpid()) + " on " + host.data();
  return is_client_name(name) ? name : "process " + std::to_string(::getpid());
}

}  // namespace

PackMemory::PackMemory(std::size_t bytes, Domain* domain) : domain_(domain) {
  const std::size_t rounded = pages_around({0, bytes}).end;
  void* const memory = ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "no memory for the pack buffer");
  bytes_ = {static_cast<std::byte*>(memory), rounded};
  ::madvise(memory, rounded, MADV_HUGEPAGE);
  if (domain_ == nullptr) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const Domain::Result result = domain_->register_range({begin, begin + rounded});
  if (result.outcome == Outcome::registered) {
    region_ = result.region;
    return;
  }
  ::munmap(memory, rounded);
  throw std::system_error(ENOMEM, std::generic_category(),
                          "the pack buffer cannot be registered; raise the limit of locked memory (ulimit -l)");
}

PackMemory::~PackMemory() {
  if (region_) domain_->deregister(*region_);
  ::munmap(bytes_.data(), bytes_.size());
}

Link::Link(Transport& transport, Domain* domain, const Volume& volume, std::uint32_t number,
           std::chrono::milliseconds patience)
    : transport_(transport),
      domain_(domain),
      volume_(volume),
      number_(number),
      patience_(patience),
      client_(make_random_number()),
      name_(name_in(volume, number)) {}

void Link::connect(const Deadline& deadline) {
  refusal_.clear();
  state_ = State::down;
  was_tried_ = true;
  name_ = name_in(volume_, number_);
  peer_ = transport_.connect(volume_.servers[number_], deadline);
  nonce_ = make_nonce();
  state_ = State::introduced;
  transport_.send(*peer_, write_message(Hello{protocol_version, number_, nonce_, client_,
                                              static_cast<std::uint32_t>(patience_.count()), name_of_process()}));
}

void Link::closed(const std::string& reason) {
  peer_.reset();
  break_off(ECONNRESET, "the connection is lost: " + reason);
}

void Link::break_off(int error_number, const std::string& reason) {
  if (peer_) transport_.close(*peer_);
  peer_.reset();
  if (refusal_.empty()) {
    refusal_ = reason;
    refusal_error_ = error_number;
  }
  state_ = State::down;
  forget_buffers();
  sending_.clear();
  // The calls of an operation may be freed as soon as the last one is finished; no list has them then.
  std::vector<Call*> all(waiting_.begin(), waiting_.end());
  for (const auto& [number, call] : begun_) all.push_back(call);
  waiting_.clear();
  begun_.clear();
  counted_ = 0;
  for (Call* const call : all) fail(*call, error_number, reason);
}

void Link::forget_buffers() {
  free_buffers_.clear();
  lent_buffers_.clear();
  has_window_ = false;
  requested_buffers_ = 0;
  borrows_ = false;
}

std::string Link::what_is_late() const {
  if (!waits_for_buffer()) return "no answer";
  return "other clients use all memory for communication buffers (raise it: strider listio serve --memory); none was "
         "free";
}

RemotePlace Link::place_of(std::uint32_t buffer) const {
  return {{welcome_.address, welcome_.key, welcome_.buffers * welcome_.buffer_bytes}, buffer * welcome_.buffer_bytes};
}

PackMemory& Link::pack_memory() {
  if (!pack_memory_) pack_memory_ = std::make_unique<PackMemory>(welcome_.buffers * welcome_.buffer_bytes, domain_);
  return *pack_memory_;
}

std::optional<std::uint32_t> Link::borrow_buffer() {
  borrows_ = free_buffers_.empty();
  if (borrows_) {
    request_buffers(1);
    return {};
  }
  const std::uint32_t buffer = free_buffers_.back();
  free_buffers_.pop_back();
  return buffer;
}

void Link::return_buffer(std::uint32_t buffer) {
  if (state_ != State::up) return;
  if (lent_buffers_.erase(buffer) == 0) return free_buffers_.push_back(buffer);
  transport_.send(*peer_, write_message(Release{buffer}));
}

/// Has so many requested, as far as the server allows.
void Link::request_buffers(std::uint32_t buffers) {
  if (state_ != State::up || has_window_) return;
  const auto lent = static_cast<std::uint32_t>(lent_buffers_.size());
  const std::uint32_t wanted = std::min(buffers, welcome_.buffers - lent);
  if (wanted <= requested_buffers_) return;
  transport_.send(*peer_, write_message(BufferRequest{wanted - requested_buffers_}));
  requested_buffers_ = wanted;
}

// --- messages of the server ---

void Link::received(std::span<const std::byte> message) {
  ++messages_received_;
  heard_ = std::chrono::steady_clock::now();
  bytes_received_ += message.size();
  const auto parsed = parse_server_message(message);
  if (const auto* const malformed = std::get_if<Malformed>(&parsed))
    return break_off(EPROTO, "malformed message from the server: " + malformed->reason);
  std::visit([this](const auto& each) { hear(each); }, std::get<ServerMessage>(parsed));
}

void Link::hear(const Challenge& challenge) {
  if (state_ != State::introduced) return break_off(EPROTO, "unexpected second Challenge message from the server");
  if (challenge.version != protocol_version)
    return break_off(EPROTO, "the server speaks version " + std::to_string(challenge.version) +
                                 " of the protocol, but this client version " + std::to_string(protocol_version));
  if (challenge.volume.id != volume_.state.id)
    return break_off(EACCES, "the server belongs to volume " + to_hex(challenge.volume.id) + ", the volume file to " +
                                 to_hex(volume_.state.id) + "; use the volume's own file");
  const Code expected = prove(volume_.secret, Role::server, number_, nonce_, challenge.nonce);
  if (!are_equal(challenge.code, expected))
    return break_off(EACCES, "the server does not know the volume's secret; use the volume's own file");
  // The file of a volume that is being started follows.
  if (challenge.volume.epoch != volume_.state.epoch)
    return break_off(challenge.volume.epoch > volume_.state.epoch && !volume_.file.empty() ? ECONNRESET : EACCES,
                     "the server is of start " + std::to_string(challenge.volume.epoch) +
                         " of the volume, the volume file of start " + std::to_string(volume_.state.epoch) +
                         "; use the volume file of the last start, or start the volume again");
  state_ = State::proving;
  transport_.send(*peer_, write_message(Proof{prove(volume_.secret, Role::client, number_, nonce_, challenge.nonce)}));
}

void Link::hear(const Welcome& welcome) {
  if (state_ != State::proving) return break_off(EPROTO, "unexpected Welcome message from the server");
  if (welcome.servers != volume_.servers.size())
    return break_off(EPROTO, "the server belongs to a volume of " + std::to_string(welcome.servers) +
                                 " servers, the volume file names " + std::to_string(volume_.servers.size()));
  if (pack_memory_ && (welcome.buffers != welcome_.buffers || welcome.buffer_bytes != welcome_.buffer_bytes))
    pack_memory_.reset();
  welcome_ = welcome;
  forget_buffers();
  state_ = State::up;
  ++connections_;
}

void Link::hear(const Refusal& refusal) { break_off(EACCES, refusal.reason); }

void Link::hear(const Grant& grant) {
  const bool is_new = !has_window_ && !lent_buffers_.contains(grant.buffer);
  const bool is_whole = grant.buffer == 0 && grant.buffers == welcome_.buffers && lent_buffers_.empty();
  const bool is_right = grant.term == Term::connection ? is_whole : grant.buffers == 1;
  if (state_ != State::up || !is_new || !is_right || grant.buffer >= welcome_.buffers)
    return break_off(EPROTO, "the server granted a buffer that is not free");
  progressed_ = std::chrono::steady_clock::now();
  if (grant.term == Term::request) {
    lent_buffers_.insert(grant.buffer);
    free_buffers_.push_back(grant.buffer);
    if (requested_buffers_ > 0) --requested_buffers_;
    return;
  }
  for (std::uint32_t buffer = grant.buffers; buffer > 0; --buffer) free_buffers_.push_back(buffer - 1);
  has_window_ = true;
  requested_buffers_ = 0;
}

void Link::hear(const Reply& reply) {
  const auto found = begun_.find(reply.number);
  if (state_ != State::up || found == begun_.end() || found->second->stage != Call::Stage::asked)
    return break_off(EPROTO, "the server replied to an unknown request");
  Call& call = *found->second;
  if (is_counted(call.request)) note_progress(*call.operation);
  if (reply.error != 0) {
    const int error = static_cast<int>(reply.error);
    Reason reason;
    const bool has_reason = parse_body(reply.body, reason) && !reason.text.empty();
    call.operation->fail(error, name_ + ": " + (has_reason ? reason.text : std::generic_category().message(error)),
                         has_reason && error == EIO ? remedy_damaged : "", &call);
  }
  call.reply.assign(reply.body.begin(), reply.body.end());
  call.process = welcome_.process;
  if (call.data != Call::Data::in || reply.error != 0) return finish(call);
  if (!call.reply.empty()) keep_memory(call);
  call.stage = Call::Stage::getting;
  move(call);
}

// --- calls ---

void Link::add(Call& call) {
  if (state_ == State::up && !is_counted(call.request)) start(call);
  else waiting_.push_back(&call);
}

void Link::drive() {
  while (may_start() && !waiting_.empty()) {
    Call& call = *waiting_.front();
    if (call.data != Call::Data::none && free_buffers_.empty()) return request_buffers(buffers_wanted());
    waiting_.pop_front();
    start(call);
  }
  release_unused();
}

/// Returns grants of calls that have failed meanwhile. Other clients may wait for them.
void Link::release_unused() {
  if (has_window_ || borrows_ || free_buffers_.empty() || buffers_wanted() > 0) return;
  while (!free_buffers_.empty()) {
    const std::uint32_t buffer = free_buffers_.back();
    free_buffers_.pop_back();
    return_buffer(buffer);
  }
}

/// How many calls wait for a buffer, up to the number of buffers.
std::uint32_t Link::buffers_wanted() const {
  std::uint32_t wanted = 0;
  for (auto call = waiting_.begin(); call != waiting_.end() && wanted < welcome_.buffers; ++call)
    if ((*call)->data != Call::Data::none) ++wanted;
  return wanted;
}

void Link::drop_waiting(const Operation& operation) {
  std::vector<Call*> dropped;
  std::erase_if(waiting_, [&](Call* call) {
    if (call->operation != &operation) return false;
    dropped.push_back(call);
    return true;
  });
  for (Call* const call : dropped) finish(*call);
}

void Link::start(Call& call) {
  call.number = next_number_++;
  begun_.emplace(call.number, &call);
  if (is_counted(call.request)) ++counted_;
  sending_.push_back(&call);
  if (call.data != Call::Data::none) {
    call.buffer = free_buffers_.back();
    free_buffers_.pop_back();
    const auto set = [&call](auto& request) {
      if constexpr (requires { request.runs; }) request.buffer = call.buffer;
    };
    std::visit(set, call.request);
  }
  call.stage = Call::Stage::putting;
  if (call.data == Call::Data::out) move(call);
  else send_ready();
}

/// The memory that the call's data come from or go to.
std::span<const iovec> Link::pieces_of(const Call& call) const {
  return std::span(call.operation->pieces).subspan(call.first_piece, call.pieces);
}

/// Starts the puts or gets of a call.
void Link::move(Call& call) {
  call.unfinished = 1;  // this function
  try {
    if (call.operation->method == Method::pack) {
      if (call.data == Call::Data::out) pack(call);
      const PackMemory& memory = pack_memory();
      const iovec piece{memory.bytes().data() + call.buffer * welcome_.buffer_bytes, call.bytes};
      const Region* const region = memory.region();
      post(call, {{&piece, 1}, {&region, region == nullptr ? 0U : 1U}}, 0);
    } else {
      const std::size_t most = call.operation->method == Method::multiple ? 1 : transport_.properties().most_pieces;
      const std::span<const iovec> pieces = pieces_of(call);
      const std::span<const Region* const> regions = call.operation->regions;
      std::uint64_t offset = 0;
      for (std::size_t i = 0; i < pieces.size() && peer_; i += most) {
        const std::size_t count = std::min(most, pieces.size() - i);
        const LocalMemory local{pieces.subspan(i, count),
                                regions.empty() ? regions : regions.subspan(call.first_piece + i, count)};
        post(call, local, offset);
        for (const iovec& piece : local.pieces) offset += piece.iov_len;
      }
    }
  } catch (const IoError& error) {
    // Pending transfers still use the memory; the call ends with the last of them.
    if (!call.operation->error) call.operation->error = error;
  }
  if (--call.unfinished == 0) moved(call);
}

void Link::post(Call& call, const LocalMemory& local, std::uint64_t offset) {
  RemotePlace place = place_of(call.buffer);
  place.offset += offset;
  ++call.unfinished;
  const auto posted = call.data == Call::Data::out ? transport_.put(*peer_, local, place, call.number)
                                                   : transport_.get(*peer_, local, place, call.number);
  if (posted == Transport::Posted::done) --call.unfinished;
}

void Link::pack(const Call& call) {
  std::byte* to = pack_memory().bytes().data() + call.buffer * welcome_.buffer_bytes;
  for (const iovec& piece : pieces_of(call)) {
    std::memcpy(to, piece.iov_base, piece.iov_len);
    to += piece.iov_len;
  }
}

void Link::unpack(const Call& call) {
  const std::byte* from = pack_memory().bytes().data() + call.buffer * welcome_.buffer_bytes;
  for (const iovec& piece : pieces_of(call)) {
    std::memcpy(piece.iov_base, from, piece.iov_len);
    from += piece.iov_len;
  }
}

/// The earlier content of memory may have to be restored: bytes beyond the end of the file are no part of the read.
void Link::keep_memory(Call& call) {
  const std::span<const iovec> pieces = pieces_of(call);
  std::vector<std::byte> before(call.bytes);
  std::size_t done = 0;
  for (std::size_t i = 0; i < pieces.size(); i += IOV_MAX) {
    const std::size_t count = std::min<std::size_t>(IOV_MAX, pieces.size() - i);
    iovec into{before.data() + done, before.size() - done};
    // Memory that is not there is for `move` to find.
    const ssize_t kept = ::process_vm_readv(::getpid(), &into, 1, pieces.data() + i, count, 0);
    if (kept < 0) return;
    done += static_cast<std::size_t>(kept);
  }
  if (done == before.size()) call.before = std::move(before);
}

void Link::completed(std::uint64_t token) {
  heard_ = std::chrono::steady_clock::now();
  const auto found = begun_.find(token);
  if (found == begun_.end() || found->second->unfinished == 0) return;
  note_progress(*found->second->operation);
  if (--found->second->unfinished == 0) moved(*found->second);
}

void Link::note_progress(Operation& operation) {
  operation.progressed = progressed_ = std::chrono::steady_clock::now();
}

/// All data of a call have been moved.
void Link::moved(Call& call) {
  if (call.stage == Call::Stage::putting) return send_ready();
  if (call.operation->method == Method::pack && !call.operation->error) unpack(call);
  finish(call);
}

/// Sends the requests whose data are there, in the order of the calls.
void Link::send_ready() {
  while (!sending_.empty() && peer_) {
    Call& call = *sending_.front();
    if (call.unfinished > 0) return;
    sending_.pop_front();
    if (call.operation->error) {
      finish(call);
      continue;
    }
    call.stage = Call::Stage::asked;
    ++requests_;
    transport_.send(*peer_, write_message(NumberedRequest{call.number, call.request, call.target}));
  }
}

void Link::finish(Call& call) {
  if (call.stage != Call::Stage::waiting && call.data != Call::Data::none && begun_.contains(call.number))
    return_buffer(call.buffer);
  if (begun_.erase(call.number) > 0 && is_counted(call.request)) --counted_;
  call.stage = Call::Stage::finished;
  --call.operation->unfinished;
}

void Link::fail(Call& call, int error_number, const std::string& message) {
  call.operation->fail(error_number, name_ + ": " + message, remedy_lost, &call);
  finish(call);
}

}  // namespace strider::listio
