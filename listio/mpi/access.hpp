#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "foundation/extent.hpp"
#include "listio/mpi/below.hpp"
#include "listio/mpi/errors.hpp"
#include "listio/mpi/file.hpp"

namespace strider::listio::mpi {

/// What says where in the view an access takes place.
enum class Pointer {
  given,   ///< the call
  own,     ///< the individual file pointer
  shared,  ///< the shared one; collectively: in the order of the ranks
};
enum class Participation { independent, collective };

/// The request of a program.
struct Ask {
  Direction direction = Direction::read;
  Pointer pointer = Pointer::given;
  std::int64_t offset = 0;  ///< with Pointer::given, in etypes
  void* memory = nullptr;   ///< not changed when writing
  std::int64_t count = 0;
  MPI_Datatype type = MPI_BYTE;
};

/// Values of the same length that follow each other in a type map.
struct ValueRun {
  std::int64_t bytes = 0;  ///< of each
  std::int64_t count = 0;
};
using Values = std::vector<ValueRun>;

/// The same, checked, with its types taken apart: later changes of view, pointers and types do not matter to it.
struct Task {
  Direction direction = Direction::read;
  std::shared_ptr<const View> view;
  std::shared_ptr<const FlatType> memory_type;
  std::shared_ptr<const Values> values;  ///< of an element in memory, if the file has external32; else none
  void* memory = nullptr;
  std::int64_t count = 0;
  std::int64_t position = 0;  ///< in etypes
  std::int64_t bytes = 0;
  std::int64_t etypes = 0;
  Method method = Method::hybrid;  ///< of lists, as the hints were
  std::uint64_t threshold_bytes = 0;

  /// The part of the file that holds all of it.
  ByteRun hull() const;
  /// Whether offsets in the file never decrease.
  bool ascends() const;
  /// About how many runs of the file it has.
  std::int64_t runs() const;
  /// How many of its bytes lie before `end` of the file.
  std::int64_t bytes_before(std::int64_t end) const;
};

/// A task without a position: `place` gives it one. Failure for arguments that cannot be.
Task check(OpenFile& file, const Ask& ask, Participation participation);
/// Failure unless the largest file has a place for the request.
void require_place(const Task& task);
/// Sets the position by the call or the individual file pointer, which moves behind the request; by the shared
/// one of a call of this rank alone.
void place(OpenFile& file, const Ask& ask, Task& task);

/// Moves the bytes of a task, by lists, some of which are in flight at a time.
class Transfer {
 public:
  Transfer(std::shared_ptr<OpenFile> file, Task task);
  /// Waits for requests in flight.
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Progresses it; returns whether it has ended. Never waits.
  bool advance();
  /// Waits until it has ended.
  Outcome finish();
  std::int64_t bytes_moved() const { return moved_; }

 private:
  struct Flight {
    Client::Ticket ticket;
    std::int64_t bytes;
  };
  void start_some(Client& client);
  void take_first(Client& client);
  void move_all(Client& client);

  std::shared_ptr<OpenFile> file_;
  Task task_;
  Walk walk_;
  Batch batch_;
  std::deque<Flight> in_flight_;
  std::int64_t moved_ = 0;
  bool meets_end_ = false;  ///< of the file
  Outcome outcome_;
};

/// Moves all of a task that has a position, in atomic mode with a lock. `moved`: its bytes.
Outcome move(const std::shared_ptr<OpenFile>& file, const Task& task, std::int64_t& moved);

/// A blocking call.
Outcome access_alone(const std::shared_ptr<OpenFile>& file, const Ask& ask, std::int64_t& moved);
Outcome access_together(const std::shared_ptr<OpenFile>& file, const Ask& ask, std::int64_t& moved);

/// Puts a count of bytes into a status, if there is one.
void describe(MPI_Status* status, std::int64_t bytes);

}  // namespace strider::listio::mpi
