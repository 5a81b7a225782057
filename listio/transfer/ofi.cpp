#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <thread>
#include <utility>

#include "foundation/error.hpp"
#include "listio/ofi/endpoint.hpp"
#include "listio/protocol/bytes.hpp"
#include "listio/registration/ofi_domain.hpp"
#include "listio/transfer/local_memory.hpp"
#include "listio/transfer/stream_transport.hpp"
#include "listio/transfer/transports.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds poll_every{1};  // where a provider has nothing to wait for
constexpr std::chrono::microseconds proof_pause{50};

/// What both sides say of themselves; all but the provider is the server's alone.
struct Introduction {
  std::string provider;
  std::vector<std::byte> address;  ///< of its endpoint
  RemoteMemory proof;              ///< memory that every client may read
  std::uint64_t expected = 0;      ///< and what is in it

  std::vector<std::byte> written() const {
    ByteWriter writer;
    writer.text(provider).number(static_cast<std::uint32_t>(address.size())).raw(address);
    writer.number(proof.address).number(proof.key).number(expected);
    return writer.take();
  }
  /// StreamError if it is none.
  static Introduction read(std::span<const std::byte> bytes) {
    ByteReader reader(bytes);
    Introduction said;
    said.provider = reader.text();
    const std::span<const std::byte> address = reader.raw(reader.number<std::uint32_t>());
    said.address.assign(address.begin(), address.end());
    said.proof.address = reader.number<std::uint64_t>();
    said.proof.key = reader.number<std::uint64_t>();
    said.expected = reader.number<std::uint64_t>();
    if (!reader.complete()) throw StreamError("sent a greeting that is not valid for transport ofi");
    return said;
  }
};

/// A page of numbers that operations of the transport itself move.
class Numbers {
 public:
  Numbers(const ofi::Fabric& fabric, ofi::Reach reach, fid_ep* endpoint)
      : numbers_(static_cast<std::uint64_t*>(std::aligned_alloc(page_bytes(), page_bytes()))) {
    if (!numbers_) throw std::bad_alloc();
    std::memset(numbers_.get(), 0, page_bytes());
    region_ = fabric.register_memory({reinterpret_cast<std::byte*>(numbers_.get()), page_bytes()}, reach, endpoint);
  }
  std::uint64_t& operator[](std::size_t index) const { return numbers_.get()[index]; }
  fid_mr* region() const { return region_.get(); }

 private:
  struct Free {
    void operator()(std::uint64_t* numbers) const { std::free(numbers); }
  };
  std::unique_ptr<std::uint64_t, Free> numbers_;
  ofi::Owned<fid_mr> region_;
};

/// Brings the pages in; on a hole the caller learns which piece it is. Providers in software would not survive one.
void require_mapped(std::span<const iovec> pieces, ofi::Purpose purpose) {
  constexpr int populate_read = 22, populate_write = 23;  // MADV_POPULATE_*, Linux 5.14
  const bool puts = purpose == ofi::Purpose::put;
  for (const iovec& piece : pieces) {
    const auto begin = reinterpret_cast<std::uintptr_t>(piece.iov_base);
    const Range pages = pages_around({begin, begin + piece.iov_len});
    if (::madvise(reinterpret_cast<void*>(pages.begin), pages.bytes(), puts ? populate_read : populate_write) == 0)
      continue;
    require_accessible(puts ? "fi_writev" : "fi_readv", {&piece, 1}, puts ? Access::read : Access::read_write);
  }
}

/// The host of host:port.
std::string host_of(const std::string& address) {
  std::string host = address.substr(0, std::min(address.rfind(':'), address.size()));
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return host;
}

/// libfabric for puts and gets; messages go over TCP. Who listens has one endpoint, through which clients reach what is
/// exposed to them, each under a key of its own that ends with the connection. Who connects has an endpoint for each
/// connection, so that closing it ends the operations of this connection for certain.
class OfiTransport final : public StreamTransport {
 public:
  explicit OfiTransport(const TransportOptions& options)
      : StreamTransport("ofi", options),
        fabric_(std::make_shared<ofi::Fabric>(options.provider, host_of(options.listen))),
        full_name_("ofi:" + fabric_->provider()),
        domain_(fabric_),
        scratch_(*fabric_, ofi::Reach::local, nullptr) {
    if (options.listen.empty()) return;
    target_ = std::make_unique<ofi::Endpoint>(*fabric_);
    proof_ = std::make_unique<Numbers>(*fabric_, ofi::Reach::remote_too, target_->handle());
    if (::getentropy(&(*proof_)[0], sizeof(std::uint64_t)) != 0)
      throw std::system_error(errno, std::generic_category(), "getentropy");
    if (target_->descriptor() >= 0) watch_also(target_->descriptor());
  }

  std::string_view name() const override { return full_name_; }
  TransportProperties properties() const override {
    return {fabric_->info().tx_attr->iov_limit, domain_.is_needed() ? Registering::needed : Registering::needless};
  }
  Domain* own_domain() override { return domain_.is_needed() ? &domain_ : nullptr; }

  Peer connect(const std::string& address, const Deadline& deadline) override {
    const Peer peer = StreamTransport::connect(address, deadline);
    try {
      prove(peer, deadline);
    } catch (const StreamError& error) {
      leave_unproven(peer);
      close(peer);
      throw IoError({"connect", address}, address + ": " + fabric_->provider() + ": " + error.what(),
                    "check that the fabric connects both hosts, or choose another provider or transport tcp");
    }
    return peer;
  }

  void progress(TransportEvents& events, milliseconds patience) override {
    const bool busy = advance(events);
    StreamTransport::progress(events, busy ? milliseconds(0) : std::min(patience, most_patience()));
    advance(events);
  }

 private:
  /// The client's side of a connection.
  struct Link {
    Link(const ofi::Fabric& fabric, Introduction said) : endpoint(fabric), server(std::move(said)) {
      endpoint.reach(server.address);
    }
    ofi::Endpoint endpoint;
    Introduction server;
    bool unflushed = false;  ///< puts that are done may not have arrived
    bool flushing = false;
    std::deque<std::vector<std::byte>> held;  ///< messages that wait for the flush
  };

  // --- connections ---

  std::vector<std::byte> extension() override {
    Introduction mine{fabric_->provider(), {}, {}, 0};
    if (target_) {
      mine.address = target_->address();
      mine.proof = remote(proof_->region(), &(*proof_)[0], sizeof(std::uint64_t));
      mine.expected = (*proof_)[0];
    }
    return mine.written();
  }

  void accept_peer(Peer peer, const Greeting& greeting) override {
    if (greeting.transport != "ofi")
      throw StreamError("the other side uses transport '" + greeting.transport + "', this side '" + full_name_ + "'");
    Introduction said = Introduction::read(greeting.extension);
    if (said.provider != fabric_->provider())
      throw StreamError("the other side uses libfabric's provider '" + said.provider + "', this one '" +
                        fabric_->provider() + "'; name the transport 'ofi:" + said.provider + "'");
    if (said.address.empty()) return;  // a client
    try {
      const auto place = links_.try_emplace(peer, std::make_unique<Link>(*fabric_, std::move(said))).first;
      if (place->second->endpoint.descriptor() >= 0) watch_also(place->second->endpoint.descriptor());
    } catch (const ofi::Error& error) {
      throw StreamError(fabric_->provider() + ": " + error.what());
    }
  }

  void forget_peer(Peer peer) override {
    links_.erase(peer);
    exposed_.erase(peer);
  }

  /// Reads over the fabric what the server has said is there: so it can be reached, and is who it says.
  void prove(Peer peer, const Deadline& deadline) {
    const auto found = links_.find(peer);
    if (found == links_.end()) throw StreamError("the other side has no listening endpoint");
    Link& link = *found->second;
    scratch_[1] = ~link.server.expected;
    try {
      start_flush(link, &scratch_[1]);
      std::vector<ofi::Endpoint::Done> done;
      for (link.endpoint.progress(done); done.empty(); link.endpoint.progress(done)) {
        if (has_passed(deadline)) throw StreamError("no answer over the fabric in time");
        std::this_thread::sleep_for(proof_pause);
      }
    } catch (const ofi::Error& error) {
      throw StreamError(error.what());
    }
    if (scratch_[1] != link.server.expected) throw StreamError("the fabric's address leads to another process");
  }

  /// libfabric 1.17 crashes when rxm closes over verbs what is still about to connect: that is left to the process's
  /// end.
  void leave_unproven(Peer peer) {
    const auto found = links_.find(peer);
    if (found == links_.end() || fabric_->provider() != "verbs;ofi_rxm") return;
    if (const int descriptor = found->second->endpoint.descriptor(); descriptor >= 0) watch_no_more(descriptor);
    static_cast<void>(found->second.release());
  }

  // --- what moves ---

  RemoteMemory do_expose(Peer peer, std::span<std::byte> memory, const Region*) override {
    if (!target_ || !is_open(peer)) return {};
    try {
      auto& regions = exposed_[peer];
      regions.push_back(fabric_->register_memory(memory, ofi::Reach::remote_too, target_->handle()));
      return remote(regions.back().get(), memory.data(), memory.size());
    } catch (const ofi::Error& error) {
      give_up(peer, fabric_->provider() + ": " + error.what());
      return {};
    }
  }

  RemoteMemory remote(fid_mr* region, const void* begin, std::uint64_t bytes) const {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    return {fabric_->has_mode(FI_MR_VIRT_ADDR) ? address : 0, ::fi_mr_key(region), bytes};
  }

  /// A message must not overtake what was put before.
  void do_send(Peer peer, std::span<const std::byte> message) override {
    const auto found = links_.find(peer);
    if (found == links_.end() || (!found->second->unflushed && !found->second->flushing))
      return StreamTransport::do_send(peer, message);
    Link& link = *found->second;
    link.held.emplace_back(message.begin(), message.end());
    if (link.flushing) return;
    try {
      start_flush(link, &scratch_[0]);
      link.flushing = true;
      link.unflushed = false;
    } catch (const ofi::Error& error) {
      give_up(peer, fabric_->provider() + ": " + error.what());
    }
  }

  void start_flush(Link& link, std::uint64_t* into) {
    ofi::Request request{ofi::Purpose::flush,       {{into, sizeof *into}}, {},
                         link.server.proof.address, link.server.proof.key,  0};
    if (domain_.is_needed()) request.descriptors = {::fi_mr_desc(scratch_.region())};
    link.endpoint.start(std::move(request));
  }

  Posted do_put(Peer peer, const LocalMemory& from, const RemotePlace& place, std::uint64_t token) override {
    return move(ofi::Purpose::put, peer, from, place, token);
  }
  Posted do_get(Peer peer, const LocalMemory& into, const RemotePlace& place, std::uint64_t token) override {
    return move(ofi::Purpose::get, peer, into, place, token);
  }

  Posted move(ofi::Purpose purpose, Peer peer, const LocalMemory& local, const RemotePlace& place,
              std::uint64_t token) {
    const auto found = links_.find(peer);
    if (found == links_.end()) return Posted::pending;
    ofi::Request request{purpose, {}, {}, place.memory.address + place.offset, place.memory.key, token};
    if (domain_.is_needed() && local.regions.size() != local.pieces.size())
      throw std::logic_error(full_name_ + " needs the region of each piece");
    for (std::size_t i = 0; i < local.pieces.size(); ++i) {
      if (local.pieces[i].iov_len == 0) continue;  // to some cards that means 2 GiB
      request.pieces.push_back(local.pieces[i]);
      if (domain_.is_needed()) request.descriptors.push_back(domain_.descriptor(*local.regions[i]));
    }
    if (request.pieces.empty()) return Posted::done;
    if (!domain_.is_needed()) require_mapped(request.pieces, purpose);
    try {
      found->second->endpoint.start(std::move(request));
    } catch (const ofi::Error& error) {
      give_up(peer, fabric_->provider() + ": " + error.what());
    }
    return Posted::pending;
  }

  // --- progress ---

  struct Finished {
    Peer peer = 0;
    ofi::Endpoint::Done what;
  };

  /// Whether something was done. Nobody is told while the links are looked through: what is told may close some.
  bool advance(TransportEvents& events) {
    std::vector<Finished> finished;
    std::vector<std::pair<Peer, std::string>> failed;
    for (const auto& [peer, link] : links_) {
      std::vector<ofi::Endpoint::Done> done;
      try {
        link->endpoint.progress(done);
      } catch (const ofi::Error& error) {
        failed.emplace_back(peer, fabric_->provider() + ": " + error.what());
      }
      for (const ofi::Endpoint::Done& each : done) finished.push_back({peer, each});
    }
    if (target_) advance_target();
    for (const Finished& each : finished) tell(each, events);
    for (const auto& [peer, reason] : failed) give_up(peer, reason);
    return !finished.empty() || !failed.empty();
  }

  void advance_target() {
    std::vector<ofi::Endpoint::Done> none;
    try {
      target_->progress(none);
    } catch (const ofi::Error&) {
      // A client's connection has broken. What it had under way is its own affair; TCP tells when it is gone.
    }
  }

  void tell(const Finished& finished, TransportEvents& events) {
    const auto found = links_.find(finished.peer);
    if (found == links_.end()) return;
    Link& link = *found->second;
    if (finished.what.purpose == ofi::Purpose::flush) return release(finished.peer, link);
    if (finished.what.purpose == ofi::Purpose::put) link.unflushed = true;
    events.completed(finished.peer, finished.what.token);
  }

  /// The flush is done; puts that were done since need another one.
  void release(Peer peer, Link& link) {
    link.flushing = false;
    const std::deque<std::vector<std::byte>> held = std::exchange(link.held, {});
    for (const std::vector<std::byte>& message : held) do_send(peer, message);
  }

  milliseconds most_patience() {
    milliseconds most = target_ ? patience_of(*target_) : milliseconds::max();
    for (const auto& [peer, link] : links_) most = std::min(most, patience_of(link->endpoint));
    return most;
  }
  static milliseconds patience_of(ofi::Endpoint& endpoint) {
    if (endpoint.descriptor() < 0) return endpoint.is_idle() ? poll_every : milliseconds(0);
    return endpoint.may_wait() ? milliseconds(1000) : milliseconds(0);
  }

  std::shared_ptr<const ofi::Fabric> fabric_;
  std::string full_name_;
  OfiDomain domain_;
  Numbers scratch_;                        ///< where flushes and proofs go
  std::unique_ptr<ofi::Endpoint> target_;  ///< of who listens
  std::unique_ptr<Numbers> proof_;
  std::map<Peer, std::vector<ofi::Owned<fid_mr>>> exposed_;
  std::map<Peer, std::unique_ptr<Link>> links_;
};

}  // namespace

std::unique_ptr<Transport> make_ofi(const TransportOptions& options) { return std::make_unique<OfiTransport>(options); }

}  // namespace strider::listio
