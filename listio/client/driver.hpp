#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "listio/client/call.hpp"
#include "listio/client/client.hpp"
#include "listio/client/link.hpp"

namespace strider::listio {

/// A server, and one of its data files: the first copy unless the second is given.
struct Place {
  std::uint32_t server = 0;
  Target target{};
};
/// Where the data of a file are that its striping has on `server`: in one place or two.
using Places = std::function<std::vector<Place>(std::uint32_t server)>;

/// What drives a client: the transport, a link to each server, the registration of the caller's memory, and the choice
/// of the method. Turns lists into operations and operations into calls; the names of files are none of its business.
class Driver final : TransportEvents {
 public:
  Driver(Volume volume, const ClientOptions& options);
  ~Driver() override;

  const Volume& volume() const { return volume_; }
  std::uint32_t servers() const { return static_cast<std::uint32_t>(links_.size()); }
  std::chrono::milliseconds patience() const { return options_.patience; }
  /// Such as "server 2 (127.0.0.1:40123)".
  const std::string& name(std::uint32_t server) const { return links_.at(server)->name(); }
  /// Which of the connections that were made to a server, from 1; 0: it is not connected to.
  std::uint64_t connection(std::uint32_t server) const { return links_.at(server)->connection(); }
  /// Whether any server has ever let it in.
  bool has_connected() const;
  /// Connects to a server unless that is done, and makes the memory to pack into. IoError.
  void make_ready(std::uint32_t server) { make_ready(server, in(options_.patience)); }
  void make_ready(std::uint32_t server, const Deadline& deadline);

  /// An operation that moves a list. The servers are connected to, nothing is started. `places` are where the data are;
  /// none: only on the servers that the striping names.
  std::unique_ptr<Operation> prepare(Direction direction, const File& file, std::span<const iovec> memory,
                                     std::span<const ByteRun> runs, std::chrono::milliseconds patience,
                                     const Places& places = {});
  /// Of a single data file: `runs` are its own.
  std::unique_ptr<Operation> prepare(Direction direction, FileId file, const Place& place,
                                     std::span<const iovec> memory, std::span<const ByteRun> runs);
  /// An operation of one request, to `server`; more may be added.
  std::unique_ptr<Operation> prepare(const char* what, const std::string& file) const {
    return prepare(what, file, options_.patience);
  }
  std::unique_ptr<Operation> prepare(const char* what, const std::string& file,
                                     std::chrono::milliseconds patience) const;
  void add(Operation& operation, std::uint32_t server, Request request) {
    add(operation, Place{server, {}}, std::move(request));
  }
  void add(Operation& operation, const Place& place, Request request);

  void start(Operation& operation);
  /// Progresses all calls, until something has happened or `patience` is over.
  void turn(std::chrono::milliseconds patience);
  /// Until it is finished, or failed: at the deadline at the latest. IoError.
  void finish(Operation& operation);
  /// Prepares no more: starts and finishes.
  void run(Operation& operation);
  /// Whether it is finished, after progressing all calls. Late ones are ended; but time that the caller spent on
  /// other work, for more than a second, does not count.
  bool poll(Operation& operation);

  /// Ends an operation that is not waited for any more. Connections that still use its memory are given up.
  void abandon(Operation& operation) noexcept;

  void invalidate(const Range& range);
  /// Measured on the connection to the first server when they are first asked for. IoError, also if it breaks then.
  const MethodCosts& method_costs();
  void choose(Method method, std::uint64_t threshold_bytes);
  Calibration calibrate_registration();
  ClientCounters counters() const;
  const std::string& registration_problem() const { return registration_problem_; }

 private:
  void connected(Peer) override {}
  void received(Peer peer, std::span<const std::byte> message) override;
  void completed(Peer peer, std::uint64_t token) override;
  void closed(Peer peer, const std::string& reason) override;
  Link* find(Peer peer);
  /// Connects to a server unless that is done. IoError: ETIMEDOUT at the deadline.
  void ensure_up(std::uint32_t server, const Deadline& deadline);
  void refresh();
  [[noreturn]] static void refuse(const Link& link, int error, const std::string& why);

  void add_transfers(Operation& operation, Direction direction, FileId file, const Place& place,
                     std::span<const Extent> pieces);
  void choose_method(Operation& operation, Direction direction, std::span<const iovec> memory);
  double registration_us(std::span<const iovec> pieces) const;
  void make_ready(Operation& operation, std::span<const iovec> memory);
  void name_regions(Operation& operation);
  void wait_for_buffers();
  bool is_finished(Operation& operation);
  void extend(Operation& operation) const;
  void end_late(Operation& operation);
  std::vector<std::uint32_t> late_servers(const Operation& operation) const;
  void ping(std::uint32_t server, std::chrono::milliseconds silence);
  struct Ping {
    std::unique_ptr<Operation> operation;
    std::chrono::milliseconds silence{};  ///< after which it was sent
  };
  static void end(Link& link, const Ping& ping);
  void end_pings();
  /// Pieces to move, to measure what that costs.
  struct Pieces {
    Direction direction;
    std::size_t count, bytes;  ///< bytes of one
    Method method;
  };
  void move_once(Link& link, std::uint32_t buffer, const PackMemory& memory, const Pieces& pieces);
  void wait_for_probes(Link& link);

  Volume volume_;
  struct stat volume_file_{};  ///< when it was read again last
  ClientOptions options_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Domain> own_domain_;
  Domain* domain_ = nullptr;
  std::unique_ptr<Registrar> registrar_;
  std::vector<std::unique_ptr<Link>> links_;
  std::map<std::uint32_t, Ping> pings_;  ///< without an answer yet, by server
  std::unique_ptr<MethodCosts> costs_;
  std::string registration_problem_;
  std::uint64_t probes_ = 0, probes_done_ = 0;  ///< puts and gets outside of calls
  ClientCounters counted_;                      ///< counters that no other object has
};

}  // namespace strider::listio
