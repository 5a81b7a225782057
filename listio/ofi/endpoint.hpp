#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "foundation/deadline.hpp"
#include "listio/ofi/fabric.hpp"

namespace strider::listio::ofi {

/// What an operation is for. `flush` is a get of little, which tells that the puts before it have arrived.
enum class Purpose { put, get, flush };

/// One operation: pieces of this process's memory, and contiguous memory of the peer.
struct Request {
  Purpose purpose = Purpose::put;
  std::vector<iovec> pieces;       ///< none of them empty
  std::vector<void*> descriptors;  ///< `fi_mr_desc` of the region of each piece, where the provider wants it
  std::uint64_t address = 0, key = 0;
  std::uint64_t token = 0;
};

/// One endpoint with a completion queue of its own. Either peers reach this process's memory through it, or it starts
/// operations on the memory of one peer: so that closing it ends these, and no others. Nothing waits.
class Endpoint {
 public:
  struct Done {
    Purpose purpose = Purpose::put;
    std::uint64_t token = 0;
  };
  /// An operation has to come to its end while others do not for so long.
  static constexpr std::chrono::seconds most_silence{60};

  /// Error if the provider does not allow another one.
  explicit Endpoint(const Fabric& fabric);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  fid_ep* handle() const { return endpoint_.get(); }
  /// What the peer's `reach` wants.
  std::vector<std::byte> address() const;
  /// Whom operations go to. Error if there can be no such address.
  void reach(std::span<const std::byte> address);

  /// Starts an operation, now or when there is room. Error if it cannot be started.
  void start(Request request);
  /// Lets the provider go on, and adds what is done to `done`. Error if an operation has failed, or none has ended for
  /// too long: the endpoint is of no use then.
  void progress(std::vector<Done>& done);
  bool is_idle() const { return under_way_ == 0 && waiting_.empty(); }

  /// Becomes readable when `progress` has something to do; -1 if the provider has nothing of the kind.
  int descriptor() const { return descriptor_; }
  /// Whether nothing is left to do until the descriptor becomes readable.
  bool may_wait();

 private:
  struct Operation;

  void open_queue();
  /// Whether the provider took it.
  bool post(Operation& operation);
  void finish(void* context, std::vector<Done>& done);
  [[noreturn]] void fail();

  const Fabric& fabric_;
  std::size_t most_under_way_;
  std::deque<Operation> operations_;  ///< their addresses are libfabric's contexts
  std::vector<Operation*> free_;
  std::deque<Operation*> waiting_;
  std::size_t under_way_ = 0;
  Deadline silent_until_;

  Owned<fid_cq> queue_;
  Owned<fid_av> addresses_;
  Owned<fid_ep> endpoint_;  ///< last, to be closed first: nothing is moved any more then
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  int descriptor_ = -1;
};

}  // namespace strider::listio::ofi
