#pragma once
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "foundation/deadline.hpp"
#include "foundation/descriptor.hpp"
#include "listio/protocol/messages.hpp"
#include "listio/server/data_store.hpp"

namespace strider::listio {

/// Which servers of a volume with two copies are out, as server 0 keeps it: on stable storage before any client learns
/// of it. A view holds as long as the leases of it: the next one is not given to any client before the last of them has
/// ended. So a client with a lease knows the view of all others.
///
/// Of two neighbours one at most is out: it has the only copy of the data that the other one has missed. Server 0 is
/// out only as long as its data are filled: no client can learn of it while it does not run. For several threads at
/// once. Calls end with 0 or an error number, as the requests say; the clock is an argument.
class Views {
 public:
  using Instant = Deadline;
  static constexpr std::chrono::milliseconds term{1000}, most_pause{5000};

  /// In `folder`, an open directory; of a volume of so many servers. std::system_error if the file cannot be read.
  Views(int folder, std::uint32_t servers, Instant now);

  Errno lease(const LeaseRequest& request, Instant now, ServerView& view);
  Errno pause(const PauseRequest& request, Instant now);
  Errno admit(const AdmitRequest& request, Instant now);

 private:
  bool may_be_out(std::uint32_t server) const;
  /// Another view, on stable storage; no client has a lease of it before the present leases have ended.
  Errno change(const std::set<std::uint32_t>& out);
  Errno write(std::uint64_t number, const std::set<std::uint32_t>& out);
  void read();

  const std::uint32_t servers_;
  const Descriptor folder_;
  std::mutex mutex_;
  std::uint64_t number_ = 1;
  std::set<std::uint32_t> out_;
  Instant leased_until_;      ///< the last lease
  bool is_changing_ = false;  ///< no lease is given before `leased_until_`
  std::uint64_t pause_ = 0;   ///< of which fill; 0: none
  Instant paused_until_{};
  Errno failure_ = 0;  ///< the file may not hold the last view
};

}  // namespace strider::listio
