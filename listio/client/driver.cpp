#include "listio/client/driver.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "listio/layout/pieces.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds grant_patience{10}, ping_patience{2000};
/// Tokens of puts and gets that belong to no call.
constexpr std::uint64_t first_probe = std::uint64_t{1} << 63;

std::vector<ByteRun> as_runs(std::span<const iovec> memory) {
  std::vector<ByteRun> runs;
  runs.reserve(memory.size());
  for (const iovec& piece : memory) runs.push_back({reinterpret_cast<std::uintptr_t>(piece.iov_base), piece.iov_len});
  return runs;
}

std::vector<Range> as_ranges(std::span<const iovec> memory) {
  std::vector<Range> ranges;
  ranges.reserve(memory.size());
  for (const iovec& piece : memory) {
    const auto begin = reinterpret_cast<std::uintptr_t>(piece.iov_base);
    ranges.push_back({begin, begin + piece.iov_len});
  }
  return ranges;
}

}  // namespace

Driver::Driver(Volume volume, const ClientOptions& options) : volume_(std::move(volume)), options_(options) {
  transport_ = make_transport(options_.transport.empty() ? volume_.transport : options_.transport, {});
  domain_ = transport_->own_domain();
  if (domain_ == nullptr && options_.registration != "none") {
    own_domain_ = make_domain(options_.registration);
    domain_ = own_domain_.get();
  }
  if (domain_ == nullptr && options_.checking == Checking::strict)
    throw InputError("registration", "strict checking needs a registration domain", "choose uring, mlock or model");
  if (domain_ != nullptr) {
    if (options_.checking == Checking::strict) transport_->be_strict(*domain_);
    registrar_ = std::make_unique<Registrar>(*domain_, options_.registrar);
  } else if (options_.registrar.strategy != Strategy::none) {
    throw InputError("strategy", "a registration strategy needs a registration domain",
                     "choose registration uring, mlock or model, or strategy none");
  }
  for (std::uint32_t number = 0; number < volume_.servers.size(); ++number)
    links_.push_back(std::make_unique<Link>(*transport_, domain_, volume_, number, options_.patience));
}

Driver::~Driver() {
  // Calls first, whose memory the transport may still use; then the registered memory.
  for (const auto& link : links_) link->break_off(ECANCELED, "the client ends");
  links_.clear();
}

// --- events of the transport ---

Link* Driver::find(Peer peer) {
  for (const auto& link : links_)
    if (link->peer() == peer) return link.get();
  return nullptr;
}

void Driver::received(Peer peer, std::span<const std::byte> message) {
  if (Link* const link = find(peer)) link->received(message);
}

void Driver::completed(Peer peer, std::uint64_t token) {
  if (token >= first_probe) ++probes_done_;
  else if (Link* const link = find(peer)) link->completed(token);
}

void Driver::closed(Peer peer, const std::string& reason) {
  if (Link* const link = find(peer)) link->closed(reason);
}

void Driver::turn(milliseconds patience) {
  for (const auto& [server, ping] : pings_) patience = std::min(patience, until(ping.operation->deadline));
  transport_->progress(*this, patience);
  for (const auto& link : links_) link->drive();
  end_pings();
}

void Driver::refuse(const Link& link, int error, const std::string& why) {
  throw IoError({"connect", link.name(), 0, 0, error}, link.name() + ": " + why,
                "check that the server runs (strider listio status) and that the volume file belongs to its volume");
}

void Driver::ensure_up(std::uint32_t server, const Deadline& deadline) {
  Link& link = *links_.at(server);
  if (link.is_up()) return;
  if (link.was_tried()) refresh();
  try {
    link.connect(deadline);
  } catch (const IoError& error) {
    refuse(link, has_passed(deadline) ? ETIMEDOUT : ECONNREFUSED, error.what());
  }
  while (!link.is_up()) {
    if (!link.refusal().empty()) {
      const int error = link.refusal_error() == ECONNRESET ? ECONNRESET : EACCES;
      refuse(link, has_passed(deadline) ? ETIMEDOUT : error, link.refusal());
    }
    if (has_passed(deadline)) link.break_off(ETIMEDOUT, "no answer in time");
    else turn(until(deadline));
  }
}

/// Servers that were lost may have been started again elsewhere.
void Driver::refresh() {
  struct stat found{};
  if (volume_.file.empty() || ::stat(volume_.file.c_str(), &found) != 0) return;
  const bool is_known = found.st_ino == volume_file_.st_ino && found.st_mtim.tv_sec == volume_file_.st_mtim.tv_sec &&
                        found.st_mtim.tv_nsec == volume_file_.st_mtim.tv_nsec;
  volume_file_ = found;
  if (!is_known) listio::refresh(volume_);
}

bool Driver::has_connected() const {
  return std::ranges::any_of(links_, [](const auto& link) { return link->has_connected(); });
}

void Driver::make_ready(std::uint32_t server, const Deadline& deadline) {
  ensure_up(server, deadline);
  links_[server]->pack_memory();
}

// --- operations ---

std::unique_ptr<Operation> Driver::prepare(const char* what, const std::string& file, milliseconds patience) const {
  auto operation = std::make_unique<Operation>();
  operation->what = what;
  operation->file = file;
  operation->looked_at = operation->progressed = std::chrono::steady_clock::now();
  operation->patience = patience;
  operation->deadline = operation->last = in(operation->patience);
  return operation;
}

void Driver::add(Operation& operation, const Place& place, Request request) {
  ensure_up(place.server, operation.deadline);
  Call& call = operation.calls.emplace_back();
  call.server = place.server;
  call.target = place.target;
  call.request = std::move(request);
}

std::unique_ptr<Operation> Driver::prepare(Direction direction, const File& file, std::span<const iovec> memory,
                                           std::span<const ByteRun> runs, milliseconds patience, const Places& places) {
  const std::vector<Extent> pieces = match(as_runs(memory), runs);
  auto operation = prepare(direction == Direction::write ? "write_list" : "read_list", file.path, patience);
  const ServerLists lists = distribute(file.striping, pieces);
  for (std::uint32_t server = 0; server < lists.servers(); ++server) {
    if (lists.of(server).empty()) continue;
    if (!places) add_transfers(*operation, direction, file.id, {server, {}}, lists.of(server));
    else
      for (const Place& place : places(server)) add_transfers(*operation, direction, file.id, place, lists.of(server));
  }
  choose_method(*operation, direction, memory);
  make_ready(*operation, memory);
  return operation;
}

std::unique_ptr<Operation> Driver::prepare(Direction direction, FileId file, const Place& place,
                                           std::span<const iovec> memory, std::span<const ByteRun> runs) {
  auto operation = prepare(direction == Direction::write ? "write_list" : "read_list", "");
  add_transfers(*operation, direction, file, place, match(as_runs(memory), runs));
  choose_method(*operation, direction, memory);
  make_ready(*operation, memory);
  return operation;
}

void Driver::add_transfers(Operation& operation, Direction direction, FileId file, const Place& place,
                           std::span<const Extent> pieces) {
  ensure_up(place.server, operation.deadline);
  const Welcome& welcome = links_[place.server]->welcome();
  const Requests requests = split(pieces, {std::min(welcome.most_runs, options_.most_runs), welcome.buffer_bytes});
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Requests::Request part = requests[i];
    Call& call = operation.calls.emplace_back();
    call.server = place.server;
    call.target = place.target;
    call.data = direction == Direction::write ? Call::Data::out : Call::Data::in;
    call.first_piece = operation.pieces.size();
    call.pieces = part.memory.size();
    call.bytes = part.bytes;
    for (const ByteRun& piece : part.memory)
      operation.pieces.push_back({reinterpret_cast<void*>(piece.offset), piece.length});
    ReadRequest request{file, 0, {part.runs.begin(), part.runs.end()}};
    if (direction == Direction::write) call.request = WriteRequest{std::move(request)};
    else call.request = std::move(request);
  }
}

void Driver::choose_method(Operation& operation, Direction direction, std::span<const iovec> memory) {
  operation.method = options_.method;
  if (options_.registrar.strategy == Strategy::none && transport_->registering() == Registering::needed)
    operation.method = Method::pack;  // the memory to pack into is registered already
  if (operation.method != Method::hybrid) return;
  operation.method = Method::pack;
  if (operation.pieces.empty() || transport_->properties().most_pieces < 2) return;
  std::uint64_t bytes = 0;
  for (const Call& call : operation.calls) bytes += call.bytes;
  const std::size_t pieces = operation.pieces.size();
  const bool gathers = options_.threshold_bytes > 0
                           ? bytes >= options_.threshold_bytes * pieces
                           : method_costs().prefers_gather(direction, pieces, bytes, registration_us(memory));
  if (gathers) operation.method = Method::gather;
}

/// What registering will take, by the domain's cost model; groups are thought to be one.
double Driver::registration_us(std::span<const iovec> pieces) const {
  const Strategy strategy = options_.registrar.strategy;
  if (domain_ == nullptr || strategy == Strategy::none || options_.registrar.cache_bytes > 0) return 0;
  const CostModel& model = domain_->model();
  std::uint64_t pages = 0;
  for (const Range& range : as_ranges(pieces)) pages += pages_in(pages_around(range));
  const double times = strategy == Strategy::individual ? static_cast<double>(pieces.size()) : 1;
  return times * (model.register_us + model.deregister_us) +
         static_cast<double>(pages) * (model.register_us_per_page + model.deregister_us_per_page);
}

/// Registers the caller's memory, if the method needs it to be.
void Driver::make_ready(Operation& operation, std::span<const iovec> memory) {
  const Strategy strategy = options_.registrar.strategy;
  if (operation.method != Method::pack && strategy != Strategy::none) {
    Registration registration = registrar_->acquire(as_ranges(memory));
    if (registration.verdict != Verdict::registered) registration_problem_ = registration.message;
    const bool may_pack = options_.unregistered == Unregistered::pack && strategy == Strategy::single;
    if (registration.verdict == Verdict::fault && !may_pack)
      throw IoError({operation.what, operation.file, 0, 0, EFAULT}, registration.message,
                    "check the pieces of the memory list, or choose another registration strategy");
    if (registration.verdict != Verdict::registered) operation.method = Method::pack;
    else operation.lease = std::move(registration.lease);
    if (operation.method != Method::pack) name_regions(operation);
  }
  if (operation.method == Method::pack) ++counted_.packed_lists;
  else if (operation.method == Method::gather) ++counted_.gathered_lists;
  else ++counted_.multiple_lists;
  if (operation.method != Method::pack) return;
  for (const Call& call : operation.calls) {
    links_[call.server]->pack_memory();  // made now: if there is none, nothing has begun yet
    counted_.packed_bytes += call.bytes;
  }
}

/// Finds the region of each piece. One that lies in two regions becomes two pieces.
void Driver::name_regions(Operation& operation) {
  std::vector<iovec> pieces;
  pieces.reserve(operation.pieces.size());
  operation.regions.reserve(operation.pieces.size());
  const Region* region = nullptr;
  for (Call& call : operation.calls) {
    const std::size_t first = pieces.size();
    for (const iovec& piece : std::span(operation.pieces).subspan(call.first_piece, call.pieces)) {
      const auto begin = reinterpret_cast<std::uintptr_t>(piece.iov_base);
      for (Range rest{begin, begin + piece.iov_len}; rest.begin < rest.end;) {
        const Range next{rest.begin, rest.begin + 1};
        if (region == nullptr || !region->range.contains(next)) region = operation.lease.find(next);
        const Range part{rest.begin, region == nullptr ? rest.end : std::min(rest.end, region->range.end)};
        pieces.push_back({reinterpret_cast<void*>(part.begin), part.bytes()});
        operation.regions.push_back(region);
        rest.begin = part.end;
      }
    }
    call.first_piece = first;
    call.pieces = pieces.size() - first;
  }
  operation.pieces = std::move(pieces);
}

void Driver::start(Operation& operation) {
  operation.unfinished = operation.calls.size();
  for (Call& call : operation.calls) {
    call.operation = &operation;
    Link& link = *links_[call.server];
    if (link.is_up()) {
      link.add(call);
      continue;
    }
    // Lost since it was connected to.
    operation.fail(ECONNRESET, link.name() + ": the connection is lost", "check whether the server still runs");
    call.stage = Call::Stage::finished;
    --operation.unfinished;
  }
  for (const auto& link : links_) link->drive();
  wait_for_buffers();
}

/// For a moment, so that the first transfers begin and the caller can do something else meanwhile.
void Driver::wait_for_buffers() {
  const Deadline deadline = in(grant_patience);
  const auto waits = [](const auto& link) { return link->waits_for_buffer(); };
  while (std::any_of(links_.begin(), links_.end(), waits) && !has_passed(deadline)) turn(until(deadline));
}

bool Driver::is_finished(Operation& operation) {
  if (operation.unfinished > 0 && operation.error)
    for (const auto& link : links_) link->drop_waiting(operation);
  if (operation.unfinished > 0 && has_passed(operation.deadline)) extend(operation);
  if (operation.unfinished > 0 && has_passed(operation.deadline)) {
    if (has_passed(operation.last)) {
      end_late(operation);
    } else {
      // Ends the connections to those that do not live; the others are waited for.
      for (const std::uint32_t server : late_servers(operation)) ping(server, operation.patience);
      operation.deadline = std::min(operation.last, in(operation.patience));
    }
  }
  return operation.unfinished == 0;
}

/// Patience counts from the last progress: of the operation, or of what its calls wait behind.
void Driver::extend(Operation& operation) const {
  Deadline last = operation.progressed;
  for (const Call& call : operation.calls)
    if (call.stage == Call::Stage::waiting) last = std::max(last, links_[call.server]->progressed());
  operation.deadline = std::max(operation.deadline, last + operation.patience);
  operation.last = std::max(operation.last, operation.deadline);
}

std::vector<std::uint32_t> Driver::late_servers(const Operation& operation) const {
  std::vector<std::uint32_t> late;
  for (const Call& call : operation.calls)
    if (call.stage != Call::Stage::finished && std::ranges::find(late, call.server) == late.end())
      late.push_back(call.server);
  return late;
}

/// Asks a server that has said nothing for so long whether it lives: its event loop answers at once.
void Driver::ping(std::uint32_t server, milliseconds silence) {
  Link& link = *links_[server];
  if (!link.is_up() || pings_.contains(server) || std::chrono::steady_clock::now() - link.heard() < silence) return;
  auto operation = prepare("status", "", ping_patience);
  Call& call = operation->calls.emplace_back();
  call.server = server;
  call.request = StatusRequest{};
  call.operation = operation.get();
  operation->unfinished = 1;
  link.add(call);
  pings_.emplace(server, Ping{std::move(operation), silence});
}

/// A ping has no answer in time. A server that was heard since has more to say before it.
void Driver::end(Link& link, const Ping& ping) {
  if (link.heard() <= ping.operation->looked_at)
    return link.break_off(ETIMEDOUT, "no answer within " + std::to_string(ping.silence.count()) + " ms");
  ping.operation->looked_at = std::chrono::steady_clock::now();
  ping.operation->deadline = in(ping_patience);
}

/// Ends the connections to servers that have not answered in time.
void Driver::end_pings() {
  for (auto each = pings_.begin(); each != pings_.end();) {
    const auto& [server, ping] = *each;
    if (ping.operation->unfinished > 0 && has_passed(ping.operation->deadline)) end(*links_[server], ping);
    each = ping.operation->unfinished == 0 ? pings_.erase(each) : std::next(each);
  }
}

bool Driver::poll(Operation& operation) {
  const Deadline now = std::chrono::steady_clock::now();
  if (now - operation.looked_at > std::chrono::seconds(1)) {
    operation.deadline = in(operation.patience);
    operation.last = std::max(operation.last, operation.deadline);
  }
  operation.looked_at = now;
  if (operation.unfinished > 0) turn(milliseconds(0));
  return is_finished(operation);
}

void Driver::end_late(Operation& operation) {
  const std::string patience = std::to_string(operation.patience.count()) + " ms";
  for (const std::uint32_t server : late_servers(operation))
    links_[server]->break_off(ETIMEDOUT, links_[server]->what_is_late() + " within " + patience);
}

void Driver::finish(Operation& operation) {
  poll(operation);
  while (!is_finished(operation)) turn(until(operation.deadline));
  operation.lease = {};
  if (operation.error) throw IoError(*operation.error);
}

void Driver::run(Operation& operation) {
  start(operation);
  finish(operation);
}

void Driver::abandon(Operation& operation) noexcept {
  if (operation.unfinished == 0) return;
  operation.fail(ECANCELED, "cancelled: the transfer was abandoned", "");
  for (const auto& link : links_) link->drop_waiting(operation);
  for (std::uint32_t server = 0; server < links_.size() && operation.unfinished > 0; ++server)
    links_[server]->break_off(ECANCELED, "cancelled: the transfer was abandoned");
  operation.lease = {};
}

// --- what moving costs ---

/// Until transfers outside of calls are done; a connection on which it is not in time is given up, as it still
/// uses the memory.
void Driver::wait_for_probes(Link& link) {
  const Deadline deadline = in(options_.patience);
  while (probes_done_ < probes_ && link.peer() && !has_passed(deadline)) turn(until(deadline));
  if (probes_done_ < probes_) link.break_off(ETIMEDOUT, "the measurement of transfer costs took too long");
  probes_done_ = probes_;
}

/// Moves pieces between `memory` and a buffer of the server, and waits until they are there.
void Driver::move_once(Link& link, std::uint32_t buffer, const PackMemory& memory, const Pieces& pieces) {
  const auto [direction, count, piece_bytes, method] = pieces;
  RemotePlace place = link.place_of(buffer);
  const auto post = [&](Direction way, std::span<const iovec> parts, const PackMemory& of) {
    if (!link.peer()) return;
    const std::vector<const Region*> regions(of.region() == nullptr ? 0 : parts.size(), of.region());
    const LocalMemory local{parts, regions};
    const std::uint64_t token = first_probe + ++probes_;
    const auto posted = way == Direction::write ? transport_->put(*link.peer(), local, place, token)
                                                : transport_->get(*link.peer(), local, place, token);
    if (posted == Transport::Posted::done) ++probes_done_;
    for (const iovec& part : parts) place.offset += part.iov_len;
  };
  std::vector<iovec> parts;
  for (std::size_t i = 0; i < count; ++i) parts.push_back({&memory.bytes()[2 * i * piece_bytes], piece_bytes});
  if (method == Method::pack) {
    const PackMemory& packed = link.pack_memory();
    std::byte* const begin = packed.bytes().data() + buffer * link.welcome().buffer_bytes;
    const iovec piece{begin, count * piece_bytes};
    if (direction == Direction::write)
      for (std::size_t i = 0; i < count; ++i) std::memcpy(begin + i * piece_bytes, parts[i].iov_base, piece_bytes);
    post(direction, {&piece, 1}, packed);
    wait_for_probes(link);
    if (direction == Direction::read)
      for (std::size_t i = 0; i < count; ++i) std::memcpy(parts[i].iov_base, begin + i * piece_bytes, piece_bytes);
  } else {
    const std::size_t most = transport_->properties().most_pieces;
    for (std::size_t i = 0; i < count; i += most)
      post(direction, std::span(parts).subspan(i, std::min(most, count - i)), memory);
    wait_for_probes(link);
  }
  if (direction == Direction::write) {
    // The earlier puts have arrived when this one has.
    const iovec byte{memory.bytes().data(), 1};
    place = link.place_of(buffer);
    post(Direction::read, {&byte, 1}, memory);
    wait_for_probes(link);
  }
}

const MethodCosts& Driver::method_costs() {
  if (costs_) return *costs_;
  make_ready(0);
  Link& link = *links_[0];
  const std::uint64_t most_bytes = std::min<std::uint64_t>(link.welcome().buffer_bytes, 524288);
  std::optional<PackMemory> memory;
  try {
    memory.emplace(2 * most_bytes, domain_);
  } catch (const std::system_error&) {
    // Where memory is that short, what there is to pack into has to do.
    return *(costs_ = std::make_unique<MethodCosts>());
  }
  std::memset(memory->bytes().data(), 1, memory->bytes().size());
  const Deadline deadline = in(options_.patience);
  std::optional<std::uint32_t> buffer = link.borrow_buffer();
  // Lists that were started before may have all of them.
  while (!buffer && link.is_up() && !has_passed(deadline)) {
    turn(until(deadline));
    buffer = link.borrow_buffer();
  }
  link.stop_borrowing();
  if (!buffer && link.waits_for_buffer())
    link.break_off(ETIMEDOUT, link.what_is_late() + " within " + std::to_string(options_.patience.count()) + " ms");
  if (!link.is_up()) refuse(link, ECONNRESET, "the connection was lost before the measurement of transfer costs");
  if (!buffer) {
    static const MethodCosts unknown;  // now; the next list may find them out
    return unknown;
  }
  const auto move = [&](Direction direction, std::size_t pieces, std::size_t piece_bytes, Method method) {
    move_once(link, *buffer, *memory,
              {.direction = direction, .count = pieces, .bytes = piece_bytes, .method = method});
  };
  MethodCosts found = measure_methods(move, most_bytes);
  // What moved nothing took no time: of a connection that broke meanwhile no costs are known.
  if (!link.is_up()) refuse(link, ECONNRESET, "the connection was lost during the measurement of transfer costs");
  link.return_buffer(*buffer);
  return *(costs_ = std::make_unique<MethodCosts>(std::move(found)));
}

void Driver::choose(Method method, std::uint64_t threshold_bytes) {
  options_.method = method;
  options_.threshold_bytes = threshold_bytes;
}

Calibration Driver::calibrate_registration() {
  if (domain_ == nullptr)
    throw InputError("registration", "calibration needs a registration domain", "choose uring, mlock or model");
  return domain_->calibrate();
}

void Driver::invalidate(const Range& range) {
  if (registrar_) registrar_->invalidate(range);
}

ClientCounters Driver::counters() const {
  ClientCounters all = counted_;
  const TransportCounters& moved = transport_->counters();
  all.operations = moved.puts + moved.gets;
  all.pieces = moved.pieces;
  all.messages = moved.messages_sent;
  all.wire_bytes = moved.bytes + moved.message_bytes_sent;
  for (const auto& link : links_) {
    all.requests += link->requests();
    all.messages += link->messages_received();
    all.wire_bytes += link->bytes_received();
  }
  if (domain_ == nullptr) return all;
  const Domain::Counters& domain = domain_->counters();
  const RegistrarCounters registrar = registrar_->counters();
  all.registrations = domain.registrations;
  all.registration_failures = domain.faults + domain.refusals;
  all.registered_pages = domain.pages;
  all.hole_pages = registrar.hole_pages;
  all.queries = registrar.queries;
  all.register_us = domain.register_us + domain.deregister_us + registrar.query_us;
  if (registrar_->cache() != nullptr) all.cache_hits = registrar_->cache()->counters().hits;
  return all;
}

}  // namespace strider::listio
