#include "listio/server/server.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/token_bucket.hpp"
#include "listio/layout/byte_run.hpp"
#include "listio/protocol/parse.hpp"
#include "listio/server/buffer_grants.hpp"
#include "listio/server/coordination.hpp"
#include "listio/server/data_store.hpp"
#include "listio/server/folder.hpp"
#include "listio/server/names.hpp"
#include "listio/server/serving.hpp"
#include "listio/server/session.hpp"
#include "listio/server/standby_thread.hpp"
#include "listio/server/stores.hpp"
#include "listio/server/window.hpp"
#include "listio/server/worker_pool.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds handshake_patience{5000};
constexpr milliseconds farewell_patience{1000};  // to read why one is dropped
constexpr milliseconds sweep_every{500};
constexpr std::uint64_t quick_bytes = 65536;  // copied in less time than it takes to wake a thread
constexpr milliseconds slow_for{1000};
constexpr milliseconds most_head_start{2000};  // of a refusal over the client's own time-out

ServerOptions checked(const ServerOptions& options) {
  const auto refuse = [](const char* key, const std::string& message, const char* remedy) {
    throw InputError(key, message, remedy);
  };
  if (options.servers == 0 || options.number >= options.servers)
    refuse("number", "server " + std::to_string(options.number) + " of " + std::to_string(options.servers),
           "servers are numbered from 0");
  if (options.copies != 1 && (options.copies != 2 || options.servers == 1))
    refuse("copies", std::to_string(options.copies) + " copies on " + std::to_string(options.servers) + " servers",
           "choose 1 copy, or 2 copies on two servers or more");
  if (options.buffers == 0 || options.buffer_bytes == 0 || options.buffer_bytes > most_file_bytes / options.buffers ||
      options.buffers * options.buffer_bytes > options.memory_bytes)
    refuse("memory", "memory is too small for the buffers of a single client", "raise memory, or lower buffers");
  constexpr std::uint32_t runs_in_a_message = (Transport::most_message_bytes - 64) / sizeof(ByteRun);
  if (options.most_runs == 0 || options.most_runs > runs_in_a_message)
    refuse("runs", std::to_string(options.most_runs) + " runs in a request", "allow 1 … 4092");
  if (options.threads == 0 || options.most_requests == 0)
    refuse("threads", "the number of threads or of requests is 0", "allow at least one of each");
  return options;
}

/// The bytes that a request moves between the client's buffers and files.
std::uint64_t bytes_of(const Request& request) {
  const auto* moving = std::get_if<ReadRequest>(&request);
  if (const auto* const write = std::get_if<WriteRequest>(&request)) moving = write;
  std::uint64_t bytes = 0;
  if (moving != nullptr)
    for (const ByteRun& run : moving->runs) bytes += run.length;
  return bytes;
}

/// How the descriptors of this process are divided: a quarter is for files (server/numbered_files.cpp), some are for
/// what there is once.
struct Connections {
  std::size_t clients = 1, unauthenticated = 1;
};

Connections connections_of_process() {
  constexpr std::size_t most_unauthenticated = 1024, others = 32;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  const std::size_t all = limit.rlim_cur - limit.rlim_cur / 4;
  const std::size_t unauthenticated = std::clamp<std::size_t>(limit.rlim_cur / 8, 1, most_unauthenticated);
  return {std::max(all, unauthenticated + others + 1) - unauthenticated - others, unauthenticated};
}

}  // namespace

class Server::Impl final : TransportEvents {
 public:
  Impl(const ServerOptions& options, std::unique_ptr<Transport> transport)
      : options_(options),
        folder_(options.directory, label_of(options), options.folder),
        data_(make_store(options, folder_.descriptor())),
        names_(options.number == 0 ? std::make_unique<Names>(folder_.descriptor(), options.servers) : nullptr),
        copies_(make_copies(options, folder_.descriptor())),
        views_(options.number == 0 && options.copies > 1
                   ? std::make_unique<Views>(folder_.descriptor(), options.servers, std::chrono::steady_clock::now())
                   : nullptr),
        transport_(std::move(transport)),
        domain_(choose_domain()),
        limit_(options.bytes_per_s),
        grants_(options.memory_bytes / options.buffer_bytes, options.buffers),
        coordination_({options.number, options.most_lock_wait, options.lock_grace}),
        stores_{data_.get(), names_.get(), copies_.get(), views_.get(), [this] { return status(); }},
        work_(std::make_unique<WorkerPool>(options.threads)),
        standby_(std::make_unique<StandbyThread>([this] { turn(); }, [this] { transport_->wake(); })) {}
  ~Impl() override {  // before anything that they use
    standby_.reset();
    work_.reset();
  }

  std::string address() const { return transport_->address(); }
  void run_until(const std::function<bool()>& is_over) {
    const StandbyThread::Duty duty(*standby_);
    while (!stopping_ && !is_over()) {
      turn();
      serve_quick_ones();
    }
  }
  void stop() {
    stopping_ = true;
    transport_->wake();
  }

 private:
  /// One round of the event loop.
  void turn() {
    hand_over_quick_ones();
    transport_->progress(*this, until(next_duty()));
    deliver();
    if (has_passed(next_sweep_)) {
      sweep();
      next_sweep_ = in(sweep_every);
    }
    answer();
  }

  Deadline next_duty() {
    Deadline next = std::min({next_sweep_, work_->relieve(), work_->give_up()});
    if (!held_.empty()) next = std::min(next, held_.front().due);
    if (const auto lock = coordination_.next()) next = std::min(next, *lock);
    return next;
  }

  Domain* choose_domain() {
    if (transport_->own_domain() != nullptr) return transport_->own_domain();
    if (options_.registration == "none") return nullptr;
    own_domain_ = make_domain(options_.registration);
    return own_domain_.get();
  }

  // --- events of the transport ---

  void connected(Peer peer) override {
    Session& session = sessions_[peer];
    session.peer = peer;
    session.decide_by = in(handshake_patience);
  }

  void received(Peer peer, std::span<const std::byte> message) override {
    const auto found = sessions_.find(peer);
    if (found == sessions_.end()) return;
    Session& session = found->second;
    if (session.state == Session::State::refused || session.state == Session::State::gone) return;
    try {
      take(session, message);
    } catch (const std::exception& failure) {  // ends this connection, not the server
      std::fprintf(stderr, "strider-listio-server: a message of %s: %s\n", session.client.c_str(), failure.what());
      drop(peer);
    }
  }

  void take(Session& session, std::span<const std::byte> message) {
    const ProtocolLimits limits{options_.most_runs, options_.buffer_bytes, options_.buffers};
    auto parsed = parse_client_message(message, limits);
    if (const auto* const malformed = std::get_if<Malformed>(&parsed)) return refuse(session, malformed->reason);
    auto& said = std::get<ClientMessage>(parsed);
    std::visit([&](auto& each) { hear(session, each); }, said);
  }

  void completed(Peer, std::uint64_t) override {}  // the client alone puts and gets

  void closed(Peer peer, const std::string&) override {
    const auto found = sessions_.find(peer);
    if (found != sessions_.end()) end(found->second);
  }

  // --- the handshake ---

  void hear(Session& session, const Hello& hello) {
    if (session.state != Session::State::greeted) return refuse(session, "sent a second Hello message");
    if (hello.version != protocol_version)
      return refuse(session, "the client speaks version " + std::to_string(hello.version) +
                                 " of the protocol, server " + std::to_string(options_.number) + " version " +
                                 std::to_string(protocol_version) + "; use the same release of Strider on both sides");
    if (hello.server != options_.number)
      return refuse(session, "this is server " + std::to_string(options_.number) + ", not " +
                                 std::to_string(hello.server) + "; the volume file belongs to another volume");
    session.of_client = hello.nonce;
    session.client = hello.name;
    session.client_number = hello.client;
    session.patience = milliseconds(hello.patience_ms);
    session.of_server = make_nonce();
    session.state = Session::State::challenged;
    say(session, Challenge{protocol_version, session.of_server,
                           prove(options_.secret, Role::server, options_.number, session.of_client, session.of_server),
                           options_.volume});
  }

  void hear(Session& session, const Proof& proof) {
    if (session.state != Session::State::challenged) return refuse(session, "unexpected Proof message");
    const Code expected = prove(options_.secret, Role::client, options_.number, session.of_client, session.of_server);
    if (!are_equal(proof.code, expected))
      return refuse(session, "the client does not know the volume's secret; use the volume's own file");
    admit(session);
  }

  /// Earlier requests of a client that is back must not be executed after its new ones.
  void end_earlier_session(const Session& session) {
    const auto earlier = peers_.find(session.client_number);
    if (earlier == peers_.end()) return;
    drop(earlier->second);
  }

  void admit(Session& session) {
    if (session.client_number != 0) end_earlier_session(session);
    if (clients_ >= most_clients_) return refuse(session, limit_of_clients());
    const std::uint64_t bytes = options_.buffers * options_.buffer_bytes;
    // Registered memory is not given back while it is registered.
    if (domain_ != nullptr && !grants_.grant_window(session.peer))
      return refuse(session,
                    "no memory is left for another client's registered buffers; raise the server's memory, or lower "
                    "its buffers or their size");
    session.window = windows_.take(bytes);
    if (session.window.empty()) return refuse(session, "this host has no memory for another client's buffers");
    if (domain_ != nullptr && !register_window(session)) {
      windows_.give_back(session.window);
      session.window = {};
      grants_.end(session.peer);
      return refuse(session, "another client's buffers cannot be registered; raise the limit of locked memory");
    }
    ++clients_;
    if (session.client_number != 0) peers_[session.client_number] = session.peer;
    session.state = Session::State::admitted;
    transport_->authenticated(session.peer);
    const Region* const region = session.region ? &*session.region : nullptr;
    const RemoteMemory memory = transport_->expose(session.peer, session.window, region);
    say(session, Welcome{.address = memory.address,
                         .key = memory.key,
                         .buffers = options_.buffers,
                         .most_runs = options_.most_runs,
                         .buffer_bytes = options_.buffer_bytes,
                         .servers = options_.servers,
                         .most_requests = options_.most_requests,
                         .process = process_});
    if (domain_ != nullptr) say(session, Grant{0, options_.buffers, Term::connection});
    memory_used_ = grants_.granted() * options_.buffer_bytes;
  }

  std::string limit_of_clients() const {
    const bool by_option = most_clients_ == options_.most_clients;
    return "the limit of clients (" + std::to_string(most_clients_) + ") is reached; raise " +
           (by_option ? "the server's --most-clients" : "the hard limit of open files (ulimit -Hn)");
  }

  bool register_window(Session& session) {
    Windows::populate(session.window);
    const auto begin = reinterpret_cast<std::uintptr_t>(session.window.data());
    const Domain::Result result = domain_->register_range(pages_around({begin, begin + session.window.size()}));
    if (result.outcome != Outcome::registered) return false;
    session.region = result.region;
    const Domain::Counters& counters = domain_->counters();
    registrations_ = counters.registrations;
    registered_pages_ = counters.pages;
    register_ns_ = static_cast<std::uint64_t>(counters.register_us * 1e3);
    return true;
  }

  // --- buffers ---

  void hear(Session& session, const BufferRequest& request) {
    if (session.state != Session::State::admitted) return refuse(session, "requested buffers before the handshake");
    grants_.request(session.peer, request.buffers);
    grant();
  }

  void hear(Session& session, const Release& release) {
    if (!grants_.release(session.peer, release.buffer))
      return refuse(session, "released buffer " + std::to_string(release.buffer) + ", which it does not have");
    Windows::discard(buffer_of(session, release.buffer));
    grant();
  }

  std::span<std::byte> buffer_of(const Session& session, std::uint32_t buffer) const {
    return session.window.subspan(buffer * options_.buffer_bytes, options_.buffer_bytes);
  }

  /// Grants what clients wait for, as far as there is memory.
  void grant() {
    for (const BufferGrants::Granted& each : grants_.grant()) {
      Session& session = sessions_.at(each.peer);
      if (each.grant.term == Term::connection) Windows::populate(session.window);
      say(session, each.grant);
    }
    memory_used_ = grants_.granted() * options_.buffer_bytes;
  }

  /// Whether a request uses no buffer, or one that the client has.
  bool may_use(const Session& session, const Request& request) const {
    const auto* moving = std::get_if<ReadRequest>(&request);
    if (const auto* const write = std::get_if<WriteRequest>(&request)) moving = write;
    return moving == nullptr || grants_.has(session.peer, moving->buffer);
  }

  /// Ends clients that keep buffers of which others are in need.
  void end_idle_holders() {
    const Deadline long_ago = in(-options_.most_buffer_idle);
    for (const Peer peer : grants_.holders_since(long_ago)) {
      Session& session = sessions_.at(peer);
      if (session.state == Session::State::admitted && session.under_way == 0)
        refuse(session, "kept a communication buffer idle for " + std::to_string(options_.most_buffer_idle.count()) +
                            " ms while other clients waited for one; raise the server's memory");
    }
  }

  // --- requests ---

  void hear(Session& session, NumberedRequest& request) {
    if (session.state != Session::State::admitted)
      return refuse(session, "a request arrived before the end of the handshake");
    if (is_counted(request.request) && session.under_way >= options_.most_requests)
      return refuse(session,
                    "the client has more than " + std::to_string(options_.most_requests) + " requests in flight");
    if (request.number <= session.last_request)
      return refuse(session, "request " + std::to_string(request.number) + " follows request " +
                                 std::to_string(session.last_request) +
                                 "; the numbers of a connection's requests have to increase");
    session.last_request = request.number;
    if (!may_use(session, request.request)) return refuse(session, "used a buffer that it was not granted");
    ++requests_;
    if (is_coordination(request.request)) {
      coordination_.hear(session.peer, session.client, request);
      return answer();
    }
    if (++session.under_way == 1) ++active_;
    if (is_immediate(request.request)) return settle(carry_out(session.peer, {}, request));
    const WorkerPool::Subject subject{file_of(request.request), is_change(request.request)};
    const bool quick = is_quick(session, request.request) && work_->begin(session.peer, subject);
    Asked asked{session.peer, session.window, std::move(request)};
    if (quick) return quick_.push_back(std::move(asked));
    const Deadline due = in(session.patience - std::min(session.patience / 4, most_head_start));
    const std::uint64_t number = asked.request.number;
    const bool of_names = subject.file == names_number;
    work_->add(session.peer, subject, job_for(std::move(asked)), due,
               [this, peer = session.peer, number, of_names] { finish(give_up(peer, number, of_names)); });
  }

  /// A request that is to be carried out; the window is the client's.
  struct Asked {
    Peer peer;
    std::span<std::byte> window;
    NumberedRequest request;
  };

  /// A request that was carried out.
  struct Done {
    Peer peer;
    std::uint64_t bytes;
    std::vector<std::byte> reply;
    Deadline due{};
  };

  WorkerPool::Job job_for(Asked asked) {
    return [this, asked = std::move(asked)] { finish(carry_out(asked.peer, asked.window, asked.request)); };
  }

  /// From any thread: has the event loop reply.
  void finish(Done done) {
    const std::lock_guard lock(done_mutex_);
    const bool first = done_.empty();
    done_.push_back(std::move(done));
    if (first) transport_->wake();
  }

  /// The reply to a request that has waited too long for a change by a client that is gone.
  static Done give_up(Peer peer, std::uint64_t number, bool of_names) {
    const std::string what = of_names ? "change of names" : "write";
    const Reason reason{"an earlier " + what +
                        " of a client that is gone has not ended; check the disk of this server"};
    return {peer, 0, write_message(Reply{number, ETIMEDOUT, write_body(reason)})};
  }

  /// Whether a request is better done here than handed to another thread and back: it moves little, or no other client
  /// has a request at the moment; and files have not been slow of late.
  bool is_quick(const Session& session, const Request& request) const {
    if (session.under_way > 1 || !has_passed(slow_until_)) return false;  // in order
    const std::uint64_t bytes = bytes_of(request);
    if (bytes == 0) return false;
    if (active_ == 1 && transport_->properties().progressing == Progressing::by_itself) return true;
    return bytes <= quick_bytes;
  }

  /// Executes the queued requests, if they are quick; otherwise the event loop continues without this thread.
  void serve_quick_ones() {
    while (!quick_.empty()) {
      const Asked asked = std::move(quick_.front());
      quick_.pop_front();
      std::optional<Done> done;
      const bool was_slow = standby_->step_aside([&] {
        done = carry_out(asked.peer, asked.window, asked.request);
        work_->end(asked.peer);
      });
      if (was_slow) slow_until_ = in(slow_for);
      settle(std::move(*done));
    }
  }

  /// Where the thread that would do them has stepped aside.
  void hand_over_quick_ones() {
    for (Asked& asked : quick_) {
      const Peer peer = asked.peer;
      work_->hand_over(peer, job_for(std::move(asked)));
    }
    quick_.clear();
  }

  Done carry_out(Peer peer, std::span<std::byte> window, const NumberedRequest& request) {
    const std::uint64_t bytes = bytes_of(request.request);
    try {
      return {peer, bytes, serve(stores_, request, window, options_.buffer_bytes)};
    } catch (...) {
      return {peer, bytes, {}};  // not even a reply can be made
    }
  }

  /// Replies, or holds the reply back until the bytes may have been moved. Nothing else waits for that.
  void settle(Done done) {
    const Deadline now = std::chrono::steady_clock::now();
    done.due = done.bytes == 0 ? now : limit_.take(done.bytes, now);
    if (done.due <= now) reply(done);
    else held_.push_back(std::move(done));
  }

  void reply(const Done& done) {
    const auto found = sessions_.find(done.peer);
    if (found == sessions_.end()) return;
    Session& session = found->second;
    if (--session.under_way == 0) --active_;
    grants_.touch(done.peer);
    if (session.state != Session::State::admitted) return;
    if (done.reply.empty()) drop(done.peer);
    else transport_->send(done.peer, done.reply);
  }

  /// Sends the replies that are ready.
  void deliver() {
    std::vector<Done> done;
    {
      const std::lock_guard lock(done_mutex_);
      done.swap(done_);
    }
    for (Done& each : done) settle(std::move(each));
    for (; !held_.empty() && has_passed(held_.front().due); held_.pop_front()) reply(held_.front());
  }

  /// Sends what cells and locks have to say.
  void answer() {
    for (const Coordination::Answer& each : coordination_.take_answers()) {
      const auto found = sessions_.find(each.session);
      if (found == sessions_.end()) continue;
      if (found->second.state == Session::State::admitted) transport_->send(each.session, each.message);
    }
  }

  void say(Session& session, const ServerMessage& message) { transport_->send(session.peer, write_message(message)); }

  void refuse(Session& session, const std::string& reason) {
    ++refused_;
    say(session, Refusal{reason});
    session.state = Session::State::refused;
    grants_.cancel(session.peer);
    session.decide_by = in(farewell_patience);
  }

  // --- ends ---

  /// The connection is lost, or to be: frees the client's resources, now or when its last job is done.
  void end(Session& session) {
    session.state = Session::State::gone;
    grants_.cancel(session.peer);
    if (const auto own = peers_.find(session.client_number); own != peers_.end() && own->second == session.peer)
      peers_.erase(own);
    if (work_->drop(session.peer)) free(session.peer);
  }

  void free(Peer peer) {
    const auto found = sessions_.find(peer);
    const Session& session = found->second;
    if (session.under_way > 0) --active_;
    if (session.region) domain_->deregister(*session.region);
    if (!session.window.empty()) {
      --clients_;
      windows_.give_back(session.window);
    }
    sessions_.erase(found);
    coordination_.end(peer);
    grants_.end(peer);
    grant();
  }

  void sweep() {
    end_idle_holders();
    std::vector<Peer> late;
    for (const auto& [peer, session] : sessions_)
      if (session.state == Session::State::gone ||
          (session.state != Session::State::admitted && has_passed(session.decide_by)))
        late.push_back(peer);
    for (const Peer peer : late) drop(peer);
  }

  void drop(Peer peer) {
    transport_->close(peer);
    end(sessions_.at(peer));
  }

  ServerStatus status() const {
    const DataStore::Counters data = data_->counters();
    return {.clients = clients_,
            .buffer_bytes = memory_used_,
            .requests = requests_,
            .refused = refused_,
            .read_bytes = data.read_bytes,
            .written_bytes = data.written_bytes,
            .file_calls = data.calls,
            .registrations = registrations_,
            .registered_pages = registered_pages_,
            .register_ns = register_ns_,
            .cells = coordination_.cells(),
            .locked_ranges = coordination_.locked_ranges(),
            .waiting_locks = coordination_.waiting_locks()};
  }

  ServerOptions options_;
  const std::uint64_t process_ = make_random_number();
  const std::size_t most_clients_ = std::min<std::size_t>(options_.most_clients, connections_of_process().clients);
  ServerFolder folder_;
  std::unique_ptr<DataStore> data_;
  std::unique_ptr<Names> names_;
  std::unique_ptr<SecondCopies> copies_;
  std::unique_ptr<Views> views_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Domain> own_domain_;
  Domain* domain_;
  TokenBucket limit_;
  BufferGrants grants_;
  Coordination coordination_;
  ServerStores stores_;
  Windows windows_;
  std::unordered_map<Peer, Session> sessions_;
  std::unordered_map<std::uint64_t, Peer> peers_;  ///< of clients, by their numbers
  std::uint32_t active_ = 0;                       ///< sessions with requests under way
  // Threads that work look at these.
  std::atomic<std::uint64_t> clients_ = 0, memory_used_ = 0, requests_ = 0, refused_ = 0;
  std::atomic<std::uint64_t> registrations_ = 0, registered_pages_ = 0, register_ns_ = 0;
  Deadline next_sweep_ = in(sweep_every);
  Deadline slow_until_;      ///< files took long: others do it
  std::deque<Asked> quick_;  ///< begun, to be done by the thread of `run_until`
  std::mutex done_mutex_;
  std::vector<Done> done_;
  std::deque<Done> held_;  ///< carried out, due in this order
  std::atomic<bool> stopping_ = false;
  std::unique_ptr<WorkerPool> work_;
  std::unique_ptr<StandbyThread> standby_;
};

Server::Server(const ServerOptions& options)
    : Server(options, make_transport(options.transport, {options.listen, connections_of_process().unauthenticated})) {}
Server::Server(const ServerOptions& options, std::unique_ptr<Transport> transport)
    : impl_(std::make_unique<Impl>(checked(options), std::move(transport))) {}
Server::~Server() = default;
std::string Server::address() const { return impl_->address(); }
void Server::run() {
  impl_->run_until([] { return false; });
}
void Server::run_until(const std::function<bool()>& is_over) { impl_->run_until(is_over); }
void Server::stop() { impl_->stop(); }

}  // namespace strider::listio
