#pragma once
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "foundation/deadline.hpp"
#include "listio/protocol/messages.hpp"
#include "listio/transfer/transport.hpp"

namespace strider::listio {

/// Grants of communication buffers to clients: never more than the server has memory for.
///
/// Up to half of the memory is granted until the client's connection ends, as whole windows, so that a few clients ask
/// once. The rest goes round: a buffer for one request. Clients that wait get one buffer each in turn.
/// The memory that an idle client can keep for long is thus no more than half of the memory.
class BufferGrants {
 public:
  struct Granted {
    Peer peer = 0;
    Grant grant;
  };

  /// `buffers` in all, of which each client may have `per_client`.
  BufferGrants(std::uint64_t buffers, std::uint32_t per_client);

  /// The client wants so many more; those beyond its limit do not count.
  void request(Peer peer, std::uint32_t buffers);
  /// False if the client does not have the buffer.
  bool release(Peer peer, std::uint32_t buffer);
  /// Grants a window until the connection ends, even beyond the share of such windows. False if there is no room.
  bool grant_window(Peer peer);
  /// A request of the client has ended: its buffers were in use until now.
  void touch(Peer peer);
  /// The client does not wait any more.
  void cancel(Peer peer);
  /// Everything that the client has is released.
  void end(Peer peer);

  /// What can be granted now, and has not been returned before.
  std::vector<Granted> grant();
  bool has(Peer peer, std::uint32_t buffer) const;
  /// Clients that have a buffer for one request, and have not used it since `then`, if others wait.
  std::vector<Peer> holders_since(const Deadline& then) const;
  /// Buffers that are granted.
  std::uint64_t granted() const { return granted_; }

 private:
  struct Client {
    bool has_window = false;
    std::uint32_t wanted = 0;
    std::unordered_map<std::uint32_t, Deadline> lent{};  ///< for one request, and when it was used last
  };

  Grant grant_to(Client& client);

  const std::uint64_t buffers_;
  const std::uint32_t per_client_;
  std::uint64_t granted_ = 0, in_windows_ = 0;
  std::unordered_map<Peer, Client> clients_;
  std::deque<Peer> waiting_;  ///< each once, those that are next first
};

}  // namespace strider::listio
