#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "foundation/deadline.hpp"
#include "listio/layout/range_set.hpp"
#include "listio/protocol/messages.hpp"
#include "listio/transfer/transport.hpp"

namespace strider::listio {

/// The locks on byte ranges that a server keeps. Locks are advice: transfers do not look at them.
///
/// A list of ranges is locked all at once or not at all, and a client that waits for a list holds none of its new
/// ranges meanwhile. All locks on a file are on one server. So two clients that lock one list each cannot wait for each
/// other. Requests for bytes that exclude each other are granted in the order in which they came, a list after every
/// earlier one with a byte in common: no client starves. Only a client that has a lock on the file already need not
/// wait behind those that wait, perhaps for it. All waits have a deadline.
class LockTable {
 public:
  struct Limits {
    std::size_t most_ranges = 65536;  ///< held and waited for
    std::size_t most_ranges_of_session = 16384;
  };
  /// Whose a lock is: a client's session, and the number that it chose. `name` is for messages.
  struct Owner {
    Peer session = 0;
    std::uint64_t number = 0;
    std::string name{};
    bool is(const Owner& other) const { return session == other.session && number == other.number; }
  };
  /// A lock to set or, of kind `none`, to release.
  struct Lock {
    Owner owner;
    FileId file = 0;
    LockKind kind = LockKind::none;
    RangeSet ranges;
  };
  /// The reason that a lock cannot be granted.
  enum class Claim { held, awaited };
  struct Conflict {
    Owner owner;  ///< whose claim it is
    Claim claim = Claim::held;
    LockKind kind = LockKind::exclusive;
    ByteRun range;  ///< the first bytes in common
  };
  /// On a lock that waited: granted, or not by its deadline.
  struct Decision {
    Peer session = 0;
    std::uint64_t request = 0;
    std::optional<Conflict> conflict;  ///< why not
  };
  enum class Answer { granted, waits, full };

  explicit LockTable(const Limits& limits) : limits_(limits) {}

  /// Grants a lock, or queues it as request `request` of its session until the deadline.
  Answer ask(Lock lock, std::uint64_t request, const Deadline& deadline);
  /// The granted lock that conflicts with this one; locks that wait do not count.
  std::optional<Conflict> find(const Lock& lock) const;
  /// Removes a lock that waits. False if there is none.
  bool cancel(FileId file, Peer session, std::uint64_t request);
  /// Ends waits whose deadline has passed, and what sessions that ended had longer.
  void advance(const Deadline& now);
  /// When `advance` has to be called at the latest; nothing if it need not be.
  std::optional<Deadline> next() const { return next_; }
  /// The decisions since the last call, in their order.
  std::vector<Decision> take_decisions();
  /// The session is over: its waiting locks are removed, shared locks are free, exclusive ones are at `free_at`.
  void end(Peer session, const Deadline& free_at);

  std::size_t ranges() const { return ranges_; }  ///< held and waited for
  std::size_t waiting() const { return waiting_; }

 private:
  struct Holding {
    Owner owner;
    RangeSet shared, exclusive;
    std::size_t size() const { return shared.size() + exclusive.size(); }
  };
  struct Waiting {
    Lock lock;
    std::uint64_t request = 0;
    Deadline deadline;
  };
  struct FileLocks {
    std::list<Holding> holdings;
    std::list<Waiting> waiting;  ///< longest first
  };

  static Holding* find(FileLocks& file, const Owner& owner);
  static std::optional<Conflict> conflict_with_holders(const FileLocks& file, const Lock& lock);
  static std::optional<Conflict> conflict_before(const FileLocks& file, const Lock& lock, const Waiting* self);
  std::optional<Conflict> conflict_of(FileLocks& file, const Lock& lock, const Waiting* self) const;
  bool has_room(const Lock& lock) const;
  void count(Peer session, std::size_t before, std::size_t after);
  void grant(FileLocks& file, Lock&& lock);
  void grant_waiting(FileLocks& file);
  void forget(FileLocks& file, std::list<Waiting>::iterator which);
  void expire(FileLocks& file, const Deadline& now);
  template <typename Which>
  void release(FileLocks& file, const Which& which);
  template <typename Action>
  void for_each_file(const Action& action);

  Limits limits_;
  std::unordered_map<FileId, FileLocks> files_;
  std::unordered_map<Peer, std::size_t> ranges_of_;  ///< sessions that have any
  std::deque<std::pair<Deadline, Peer>> ending_;     ///< sessions with exclusive locks that stay for a while
  std::vector<Decision> decisions_;
  std::optional<Deadline> next_;  ///< not later than the first deadline
  std::size_t ranges_ = 0, waiting_ = 0;
};

}  // namespace strider::listio
