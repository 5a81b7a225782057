#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <unordered_map>

#include "listio/transfer/local_memory.hpp"
#include "listio/transfer/stream_transport.hpp"
#include "listio/transfer/transports.hpp"

namespace strider::listio {
namespace {

using Call = decltype(&::process_vm_writev);

class CmaTransport final : public StreamTransport {
 public:
  explicit CmaTransport(const TransportOptions& options) : StreamTransport("cma", options) {}
  TransportProperties properties() const override { return {1024, Registering::needless, Progressing::by_itself}; }

 private:
  void accept_peer(Peer peer, const Greeting& greeting) override {
    StreamTransport::accept_peer(peer, greeting);
    const auto process = static_cast<pid_t>(greeting.process);
    processes_[peer] = process;
    if (!address().empty()) return;  // who listens never reaches into others
    std::uint64_t found = 0;
    const iovec local{&found, sizeof found};
    const iovec remote{reinterpret_cast<void*>(greeting.probe_address), sizeof found};
    const ssize_t read = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (read == sizeof found && found == greeting.probe) return;
    throw StreamError("memory of process " + std::to_string(process) + " cannot be reached (" +
                      (read < 0 ? std::generic_category().message(errno) : std::string("another process")) +
                      "): cma needs the same host and user; use tcp");
  }
  void forget_peer(Peer peer) override { processes_.erase(peer); }

  Posted do_put(Peer peer, const LocalMemory& from, const RemotePlace& place, std::uint64_t) override {
    return move("process_vm_writev", &::process_vm_writev, Access::read, peer, from, place);
  }
  Posted do_get(Peer peer, const LocalMemory& into, const RemotePlace& place, std::uint64_t) override {
    return move("process_vm_readv", &::process_vm_readv, Access::read_write, peer, into, place);
  }

  Posted move(const char* name, Call call, Access needed, Peer peer, const LocalMemory& local,
              const RemotePlace& place) {
    const auto process = processes_.find(peer);
    if (process == processes_.end()) return Posted::pending;
    std::size_t bytes = 0;
    for (const iovec& piece : local.pieces) bytes += piece.iov_len;
    if (bytes == 0) return Posted::done;
    const iovec remote{reinterpret_cast<void*>(place.memory.address + place.offset), bytes};
    const ssize_t moved = call(process->second, local.pieces.data(), local.pieces.size(), &remote, 1, 0);
    if (moved == static_cast<ssize_t>(bytes)) return Posted::done;
    const int error = moved < 0 ? errno : EFAULT;
    // Otherwise the peer's memory is gone, and the peer with it.
    if (error == EFAULT) require_accessible(name, local.pieces, needed);
    give_up(peer, std::string(name) + ": " + std::generic_category().message(error));
    return Posted::pending;
  }

  std::unordered_map<Peer, pid_t> processes_;
};

}  // namespace

std::unique_ptr<Transport> make_cma(const TransportOptions& options) { return std::make_unique<CmaTransport>(options); }

}  // namespace strider::listio
