#include "listio/mpi/access.hpp"

#include <algorithm>

#include "listio/mpi/below.hpp"
#include "listio/mpi/external32.hpp"

namespace strider::listio::mpi {
namespace {

/// Pieces of a list. A longer one would be cut for the servers anyway.
constexpr std::size_t most_pieces = 4096;
/// Lists in flight: while one moves, the next is made.
constexpr std::size_t most_in_flight = 2;

void check_mode(const OpenFile& file, const Ask& ask) {
  if (ask.direction == Direction::write && (file.mode & MPI_MODE_RDONLY) != 0)
    throw Failure(MPI_ERR_READ_ONLY, file.name + ": the file was opened for reading only");
  if (ask.direction == Direction::read && (file.mode & MPI_MODE_WRONLY) != 0)
    throw Failure(MPI_ERR_ACCESS, file.name + ": the file was opened for writing only");
  if (ask.pointer != Pointer::shared && (file.mode & MPI_MODE_SEQUENTIAL) != 0)
    throw Failure(MPI_ERR_UNSUPPORTED_OPERATION,
                  file.name + ": a file opened with MPI_MODE_SEQUENTIAL has a shared file pointer only");
}

}  // namespace

ByteRun Task::hull() const {
  if (bytes == 0 || view->filetype().size == 0) return {};
  const FlatType& type = view->filetype();
  const std::int64_t first = position * view->etype_bytes(), last = first + bytes - 1;
  std::int64_t low = Cursor(type, view->displacement(), first).address();
  std::int64_t high = Cursor(type, view->displacement(), last).address() + 1;
  if (!ascends()) {
    low = view->displacement() + first / type.size * type.extent + type.runs.front().offset;
    high = view->displacement() + last / type.size * type.extent + type.runs.back().end();
  }
  return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high - low)};
}

bool Task::ascends() const {
  const FlatType& type = view->filetype();
  return type.size == 0 || !type.is_interleaved();
}

std::int64_t Task::runs() const {
  const FlatType& type = view->filetype();
  if (bytes == 0 || type.is_dense()) return bytes == 0 ? 0 : 1;
  return std::max<std::int64_t>(
      1, bytes / std::max<std::int64_t>(1, type.size / static_cast<std::int64_t>(type.runs.size())));
}

std::int64_t Task::bytes_before(std::int64_t end) const {
  if (bytes == 0) return 0;
  const std::int64_t first = position * view->etype_bytes();
  const View by_bytes(view->displacement(), 1, {view, &view->filetype()});
  return std::clamp<std::int64_t>(by_bytes.etypes_at_or_after(end) - first, 0, bytes);
}

Task check(OpenFile& file, const Ask& ask, Participation participation) {
  check_mode(file, ask);
  if (ask.count < 0) throw Failure(MPI_ERR_COUNT, "the count is negative: " + std::to_string(ask.count));
  if (ask.type == MPI_DATATYPE_NULL) throw Failure(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  if (ask.pointer == Pointer::given && ask.offset < 0)
    throw Failure(MPI_ERR_ARG, "the offset is negative: " + std::to_string(ask.offset));
  Task task;
  task.direction = ask.direction;
  task.memory_type = flatten(ask.type);
  if (file.is_external32()) task.values = values_of(ask.type);
  task.memory = ask.memory;
  task.count = ask.count;
  if (__builtin_mul_overflow(task.memory_type->size, ask.count, &task.bytes))
    throw Failure(MPI_ERR_COUNT, "the count is too large: " + std::to_string(ask.count));
  const std::scoped_lock lock(file.mutex);
  if (participation == Participation::collective && file.split)
    throw Failure(MPI_ERR_OTHER, file.name + ": a split collective access is active; end it first");
  task.view = file.view;
  task.method = file.hints.method;
  task.threshold_bytes = file.hints.threshold_bytes;
  const std::int64_t etype_bytes = std::max<std::int64_t>(1, file.view->etype_bytes());
  if (task.bytes % etype_bytes != 0)
    throw Failure(MPI_ERR_IO, "the access moves " + std::to_string(task.bytes) +
                                  " bytes, which is no multiple of the elementary type of the view (" +
                                  std::to_string(etype_bytes) + " bytes)");
  task.etypes = task.bytes / etype_bytes;
  // A view without data moves the pointers alone.
  if (file.view->filetype().size == 0) task.bytes = 0;
  return task;
}

void require_place(const Task& task) {
  // Also where the file has a place for the data, or there is none: a pointer moves behind the access.
  std::int64_t end = 0;
  const bool has_end = task.position >= 0 && !__builtin_add_overflow(task.position, task.etypes, &end);
  if (has_end && task.view->has_place_for(task.position, task.bytes)) return;
  throw Failure(MPI_ERR_ARG, "the access ends beyond the largest file: " + std::to_string(task.bytes) +
                                 " bytes at offset " + std::to_string(task.position) + " of the view");
}

void place(OpenFile& file, const Ask& ask, Task& task) {
  if (ask.pointer == Pointer::given) {
    task.position = ask.offset;
  } else if (ask.pointer == Pointer::shared) {
    task.position = file.shared.fetch_add(task.etypes);
  } else {
    const std::scoped_lock lock(file.mutex);
    task.position = file.position;
    require_place(task);
    file.position += task.etypes;
  }
  require_place(task);
}

Transfer::Transfer(std::shared_ptr<OpenFile> file, Task task)
    : file_(std::move(file)),
      task_(std::move(task)),
      walk_(*task_.view, task_.position, task_.memory, *task_.memory_type, task_.count, most_pieces) {}

Transfer::~Transfer() {
  if (!in_flight_.empty()) finish();
}

/// A late access must not fail an earlier one: its error waits for its turn.
void Transfer::start_some(Client& client) {
  while (in_flight_.size() < most_in_flight && !outcome_.failed() && !meets_end_ && walk_.next(batch_)) {
    client.choose(task_.method, task_.threshold_bytes);
    outcome_ = outcome_of([&] {
      const auto ticket = task_.direction == Direction::write
                              ? client.start_write_list(file_->file, batch_.memory, batch_.runs)
                              : client.start_read_list(file_->file, batch_.memory, batch_.runs);
      in_flight_.push_back({ticket, batch_.bytes});
    });
  }
}

void Transfer::take_first(Client& client) {
  const Flight first = in_flight_.front();
  in_flight_.pop_front();
  outcome_.add(outcome_of([&] {
    const auto bytes = static_cast<std::int64_t>(client.wait(first.ticket));
    moved_ += bytes;
    meets_end_ |= bytes < first.bytes;
  }));
}

bool Transfer::advance() {
  const Outcome used = outcome_of([&] {
    file_->connection->use([&](Client& client) {
      start_some(client);
      while (!in_flight_.empty() && client.is_done(in_flight_.front().ticket)) {
        take_first(client);
        start_some(client);
      }
    });
  });
  if (used.failed()) {
    outcome_.add(used);
    in_flight_.clear();
  }
  return in_flight_.empty();
}

void Transfer::move_all(Client& client) {
  start_some(client);
  while (!in_flight_.empty()) {
    take_first(client);
    start_some(client);
  }
}

Outcome Transfer::finish() {
  const Outcome used = outcome_of([&] { file_->connection->use([&](Client& client) { move_all(client); }); });
  if (used.failed()) {
    outcome_.add(used);
    in_flight_.clear();
  }
  return outcome_;
}

namespace {

/// In atomic mode: with a lock on the part of the file that the access lies in. Others of this process wait before they
/// ask for theirs.
Outcome move_locked(const std::shared_ptr<OpenFile>& file, const Task& task, std::int64_t& moved) {
  Connection& connection = *file->connection;
  const std::scoped_lock one_at_a_time(connection.atomic_transfers());
  const ByteRun hull = task.hull();
  const LockKind kind = task.direction == Direction::write ? LockKind::exclusive : LockKind::shared;
  LockId id{};
  Outcome outcome = outcome_of(
      [&] { id = connection.use([&](Client& client) { return client.lock(file->file, {&hull, 1}, kind); }); });
  if (outcome.failed()) return outcome;
  Transfer transfer(file, task);
  outcome = transfer.finish();
  moved = transfer.bytes_moved();
  outcome.add(outcome_of([&] { connection.use([&](Client& client) { client.unlock(id); }); }));
  return outcome;
}

}  // namespace

Outcome move(const std::shared_ptr<OpenFile>& file, const Task& task, std::int64_t& moved) {
  if (task.bytes == 0) return {};
  // The shared pointer of a collective call is known only then.
  if (Outcome placed = outcome_of([&] { require_place(task); }); placed.failed()) return placed;
  if (task.values) return move_converted(file, task, moved);
  if (file->is_atomic()) return move_locked(file, task, moved);
  Transfer transfer(file, task);
  Outcome outcome = transfer.finish();
  moved = transfer.bytes_moved();
  return outcome;
}

Outcome access_alone(const std::shared_ptr<OpenFile>& file, const Ask& ask, std::int64_t& moved) {
  moved = 0;
  Task task;
  Outcome outcome = outcome_of([&] {
    task = check(*file, ask, Participation::independent);
    place(*file, ask, task);
  });
  if (!outcome.failed()) outcome = move(file, task, moved);
  return outcome;
}

void describe(MPI_Status* status, std::int64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  below().Status_set_elements_x(status, MPI_BYTE, bytes);
  below().Status_set_cancelled(status, 0);
}

}  // namespace strider::listio::mpi
