#include "fuzz/target.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "listio/protocol/bytes.hpp"
#include "listio/protocol/parse.hpp"
#include "listio/transfer/stream_connection.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

constexpr ProtocolLimits limits{128, 65536, 2};

void require(bool holds) {
  if (!holds) std::abort();
}

/// An accepted message is within the limits, and written again it is the same.
void parse_client(std::span<const std::byte> bytes) {
  const auto parsed = parse_client_message(bytes, limits);
  const auto* const message = std::get_if<ClientMessage>(&parsed);
  const auto* const numbered = message == nullptr ? nullptr : std::get_if<NumberedRequest>(message);
  if (numbered == nullptr) return;
  if (const auto* const write = std::get_if<WriteRequest>(&numbered->request)) {
    require(checked_bytes(write->runs, most_file_bytes, "runs") <= limits.buffer_bytes);
    require(write->runs.size() <= limits.most_runs && write->buffer < limits.buffers);
  }
  if (const auto* const lock = std::get_if<LockRequest>(&numbered->request)) {
    require(!lock->ranges.empty() && lock->ranges.size() <= most_lock_ranges);
    for (std::size_t i = 1; i < lock->ranges.size(); ++i) require(lock->ranges[i - 1].end() <= lock->ranges[i].offset);
  }
  const std::vector<std::byte> again = write_message(*message);
  require(std::holds_alternative<ClientMessage>(parse_client_message(again, limits)));
}

void parse_server(std::span<const std::byte> bytes) {
  const auto parsed = parse_server_message(bytes);
  const auto* const message = std::get_if<ServerMessage>(&parsed);
  const auto* const reply = message == nullptr ? nullptr : std::get_if<Reply>(message);
  const std::span<const std::byte> body = reply == nullptr ? bytes : reply->body;
  DataStat stat;
  Entry entry;
  Orphan orphan;
  DirectoryPage names;
  DataPage files;
  Verified verified;
  parse_body(body, verified);
  ServerStatus status;
  Reason reason;
  CellState cell;
  LockHolder holder;
  EntryCheck entry_check;
  CopyCheck copy_check;
  NamesState state;
  ServerView view;
  Missed missed;
  parse_body(body, view);
  parse_body(body, missed);
  parse_body(body, entry_check);
  parse_body(body, copy_check);
  parse_body(body, state);
  parse_body(body, holder);
  parse_body(body, reason);
  parse_body(body, cell);
  parse_body(body, stat);
  parse_body(body, entry);
  parse_body(body, orphan);
  parse_body(body, names);
  parse_body(body, files);
  parse_body(body, status);
  require(names.names.size() <= body.size() && files.files.size() <= body.size());
  require(view.out.size() <= body.size() && missed.runs.size() <= body.size());
}

class Deaf final : public StreamEvents {
 public:
  void greeted(std::span<const std::byte> bytes) override {
    std::string refusal;
    require(read_greeting(bytes, refusal).has_value() != !refusal.empty());
  }
  void received(std::span<const std::byte> message) override { require(message.size() <= 65536); }
  void completed(std::uint64_t) override {}
};

/// A connection that reads `bytes`, with memory exposed and gets of its own under way.
void read_stream(std::span<const std::byte> bytes) {
  int ends[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  std::vector<std::byte> window(4096), wanted(100);
  Deaf events;
  StreamConnection connection{Descriptor(ends[0])};
  connection.expose(window);
  const iovec piece{wanted.data(), wanted.size()};
  connection.get({Frame::Kind::get, 0, 0, wanted.size()}, {&piece, 1}, 1);
  try {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(ends[1], bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) break;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
      for (int i = 0; i < 4; ++i) connection.read(events);
    }
    ::shutdown(ends[1], SHUT_WR);
    for (int i = 0; i < 64; ++i) connection.read(events);
  } catch (const StreamError&) {
    // Refused, as most of it should be.
  }
  ::close(ends[1]);
}

/// A transport on which one client introduces itself properly and then sends the script.
class Script final : public Transport {
 public:
  Script(const Secret& secret, std::span<const std::byte> script) : secret_(secret), script_(script) {}

  std::string_view name() const override { return "script"; }
  TransportProperties properties() const override { return {}; }
  std::string address() const override { return "here"; }
  Peer connect(const std::string&, const Deadline&) override { return 0; }
  void close(Peer) override { ended_ = true; }
  void wake() override {}

  void progress(TransportEvents& events, std::chrono::milliseconds) override {
    if (step_ == 0) events.connected(1);
    if (step_ == 1) events.received(1, write_message(Hello{protocol_version, 0, nonce_, 0, 0, "fuzz"}));
    if (step_ == 2) events.received(1, write_message(proof_));
    if (step_ == 3) events.received(1, write_message(BufferRequest{limits.buffers}));
    if (step_ > 3) say(events);
    ++step_;
  }
  /// Everything was sent and answered, or the client was dropped.
  bool is_over() const { return ended_ || (script_.empty() && replies_ == requests_); }

 private:
  void say(TransportEvents& events) {
    if (ended_ || script_.empty()) return;
    ByteReader reader(script_);
    const std::size_t length = reader.number<std::uint16_t>();
    const std::span<const std::byte> message = reader.rest().first(std::min(length, reader.rest().size()));
    script_ = reader.rest().subspan(message.size());
    const auto parsed = parse_client_message(message, limits);
    const auto* const said = std::get_if<ClientMessage>(&parsed);
    if (said != nullptr && std::holds_alternative<NumberedRequest>(*said)) ++requests_;
    events.received(1, message);
  }
  RemoteMemory do_expose(Peer, std::span<std::byte>, const Region*) override { return {}; }
  void do_send(Peer, std::span<const std::byte> message) override {
    const auto parsed = parse_server_message(message);
    require(std::holds_alternative<ServerMessage>(parsed));
    const auto& said = std::get<ServerMessage>(parsed);
    if (const auto* const challenge = std::get_if<Challenge>(&said))
      proof_.code = prove(secret_, Role::client, 0, nonce_, challenge->nonce);
    if (std::holds_alternative<Reply>(said)) ++replies_;
    if (std::holds_alternative<Refusal>(said)) ended_ = true;
  }
  Posted do_put(Peer, const LocalMemory&, const RemotePlace&, std::uint64_t) override { std::abort(); }
  Posted do_get(Peer, const LocalMemory&, const RemotePlace&, std::uint64_t) override { std::abort(); }

  Secret secret_;
  std::span<const std::byte> script_;
  Nonce nonce_{};
  Proof proof_;
  int step_ = 0;
  std::size_t requests_ = 0, replies_ = 0;
  bool ended_ = false;
};

void serve_stream(std::span<const std::byte> bytes) {
  const TemporaryFolder folder;
  ServerOptions options;
  options.directory = folder.path();
  options.secret = make_secret();
  options.buffer_bytes = limits.buffer_bytes;
  options.buffers = limits.buffers;
  options.threads = 1;
  options.most_lock_wait = std::chrono::milliseconds(1);
  options.servers = options.copies = 2;
  options.keeping = Keeping::nothing;  // files may have any size here
  auto transport = std::make_unique<Script>(options.secret, bytes);
  const Script& script = *transport;
  Server server(options, std::move(transport));
  server.run_until([&] { return script.is_over(); });
}

}  // namespace

void take_from_outside(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::span<const std::byte> rest = bytes.subspan(1);
  switch (std::to_integer<int>(bytes.front()) % 4) {
    case 0: return parse_client(rest);
    case 1: return parse_server(rest);
    case 2: return read_stream(rest);
    default: return serve_stream(rest);
  }
}

}  // namespace strider::listio
