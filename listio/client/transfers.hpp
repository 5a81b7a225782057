#pragma once
#include <sys/uio.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "listio/client/copies.hpp"
#include "listio/client/driver.hpp"
#include "listio/client/locks.hpp"
#include "listio/client/unsynced.hpp"

namespace strider::listio {

/// Operations of a client that were started and not waited for yet. Transfers are done again after the loss of a server
/// if the client does so.
class Transfers {
 public:
  using Ticket = std::uint64_t;

  Transfers(Driver& driver, Copies& copies, const Locks& locks, Unsynced& unsynced)
      : driver_(driver), copies_(copies), locks_(locks), unsynced_(unsynced) {}

  /// Starts a transfer. The memory is used until it is waited for. IoError.
  Ticket start(Direction direction, const File& file, std::span<const iovec> memory, std::span<const ByteRun> runs);
  /// Starts a request for a lock. IoError.
  Ticket start(const File& file, Locks::Asked asked);
  /// Whether it has ended, successfully or not. InputError if there is none with this ticket, as all that follow.
  bool is_done(Ticket ticket);
  /// Waits for it; the ticket is of no more use. How many bytes were moved, of a read those before the end of the file;
  /// `size_of` asks for the size of a file. IoError.
  std::uint64_t finish(Ticket ticket, const std::function<std::uint64_t(const File&)>& size_of);
  struct Found {
    const Operation& operation;
    const File& file;
  };
  Found find(Ticket ticket);
  /// Before the client ends.
  void abandon_all() noexcept;

 private:
  struct Transfer {
    std::unique_ptr<Operation> operation;
    Direction direction = Direction::read;
    File file{};
    std::vector<ByteRun> runs{};
    bool changes_file = false;
    // To do it again.
    std::vector<iovec> memory{};
    std::uint64_t view = 0;  ///< in which it was begun
    DamagedPlaces damaged{};
    std::function<void()> done = [] {};  ///< when it has succeeded
  };
  Ticket start(Transfer transfer);
  void begin(Transfer& transfer, const Deadline& deadline, bool is_repeated);
  void complete(Transfer& transfer);
  bool may_repeat(Transfer& transfer, int error_number) const;
  void remember(Transfer& transfer);
  void restore_beyond(std::uint64_t end, const Transfer& transfer) const;
  Transfer& transfer_of(Ticket ticket);

  Driver& driver_;
  Copies& copies_;
  const Locks& locks_;
  Unsynced& unsynced_;
  std::map<Ticket, Transfer> transfers_;
  Ticket next_ = 1;
};

}  // namespace strider::listio
