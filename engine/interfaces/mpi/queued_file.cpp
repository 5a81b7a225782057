#include "interfaces/mpi/queued_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "foundation/descriptor.hpp"
#include "interfaces/mpi/error.hpp"

namespace strider {

MpiQueuedFile::MpiQueuedFile(const OpenRequest& request, std::string name, MpiOptions options, MPI_Info hints)
    : name_(std::move(name)),
      path_(request.path),
      write_(nonblocking_call(Direction::write, options.pointer, options.participation)),
      read_(nonblocking_call(Direction::read, options.pointer, options.participation)),
      slots_(request.depth) {
  const std::uint32_t handles = options.participation == Participation::collective ? request.depth : 1;
  for (std::uint32_t i = 0; i < handles; ++i) {
    handles_.push_back(std::make_unique<MpiHandle>(request, name_, options, hints));
    options.preallocation = Preallocation::no;  // once is enough
  }
  sync_is_forgotten_ = options.participation == Participation::independent && options.atomicity == Atomicity::no;
  finished_.reserve(request.depth);
  requests_.reserve(request.depth);
  flights_.reserve(request.depth);
}

void MpiQueuedFile::submit(Direction direction, const Request& request, std::uint32_t slot) {
  const NonblockingCall& call = direction == Direction::write ? write_ : read_;
  MpiHandle& handle = handle_of(slot);
  if (!handle.by_extents()) return start(handle.piece_of(request, slots_[slot].memory_type), call, slot);
  if (request.extents.empty()) start({}, call, slot);
  for (const Extent& extent : request.extents) start(MpiHandle::piece_of(extent, request.memory), call, slot);
}

void MpiQueuedFile::start(const Piece& piece, const NonblockingCall& call, std::uint32_t slot) {
  MpiHandle& handle = handle_of(slot);
  handle.go_to(piece);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = call.function(handle.get(), piece.offset, piece.memory, piece.count, piece.type, &request);
  if (code != MPI_SUCCESS) throw_mpi(code, {call.name, name_, piece.file_offset, piece.bytes, 0});
  requests_.push_back(request);
  flights_.push_back({slot, direction_of(call), call.name, piece});
  ++slots_[slot].in_flight;
}

void MpiQueuedFile::check(const Flight& flight, int code, MPI_Status& status) {
  const IoError::What what{flight.call, name_, flight.piece.file_offset, flight.piece.bytes, 0};
  if (code != MPI_SUCCESS) throw_mpi(code, what);
  if (const std::uint64_t bytes = bytes_moved(status); bytes < flight.piece.bytes)
    throw IoError(what, moved_too_little(bytes, flight.piece.bytes));
  if (flight.direction == Direction::read) handles_[0]->check_end(flight.call, flight.piece);
}

/// An MPI library may leave null requests where there was nothing to move.
int MpiQueuedFile::finish_null_requests() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    indices_[i] = static_cast<int>(i);
    MPI_Status_set_elements(&statuses_[i], MPI_BYTE, 0);
  }
  return static_cast<int>(requests_.size());
}

/// Waits until MPI calls are done and checks them; how many. Their indices are in `indices_`.
std::size_t MpiQueuedFile::wait_for_some() {
  indices_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int count = 0;
  const int code =
      MPI_Waitsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(), statuses_.data());
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) throw_mpi(code, {"MPI_Waitsome", name_, 0, 0, 0});
  if (count == MPI_UNDEFINED) count = finish_null_requests();
  const auto done = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < done; ++i) {
    MPI_Status& status = statuses_[i];
    check(flights_[static_cast<std::size_t>(indices_[i])], code == MPI_SUCCESS ? code : status.MPI_ERROR, status);
  }
  return done;
}

/// Takes the first `done` of `indices_` out of what is in flight.
void MpiQueuedFile::forget(std::size_t done) {
  std::sort(indices_.begin(), indices_.begin() + static_cast<std::ptrdiff_t>(done), std::greater<>());
  for (std::size_t i = 0; i < done; ++i) {
    const auto index = static_cast<std::size_t>(indices_[i]);
    requests_[index] = requests_.back();
    flights_[index] = flights_.back();
    requests_.pop_back();
    flights_.pop_back();
  }
}

std::size_t MpiQueuedFile::complete(std::span<std::uint32_t> slots) {
  try {
    while (finished_.empty() && !requests_.empty()) {
      const std::size_t done = wait_for_some();
      for (std::size_t i = 0; i < done; ++i) {
        const std::uint32_t slot = flights_[static_cast<std::size_t>(indices_[i])].slot;
        if (--slots_[slot].in_flight > 0) continue;
        slots_[slot].memory_type.reset();
        finished_.push_back(slot);
      }
      forget(done);
    }
  } catch (const IoError&) {
    wait_for_all();
    throw;
  }
  const std::size_t count = std::min(slots.size(), finished_.size());
  std::copy(finished_.end() - static_cast<std::ptrdiff_t>(count), finished_.end(), slots.begin());
  finished_.resize(finished_.size() - count);
  return count;
}

void MpiQueuedFile::move(Direction direction, const Request& request) {
  submit(direction, request, 0);
  std::vector<std::uint32_t> slots(slots_.size());
  complete(slots);
}

void MpiQueuedFile::wait_for_all() {
  if (!requests_.empty()) MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  flights_.clear();
  finished_.clear();
  for (Slot& slot : slots_) {
    slot.in_flight = 0;
    slot.memory_type.reset();
  }
}

void MpiQueuedFile::sync() {
  for (const auto& handle : handles_) handle->sync();
  if (sync_is_forgotten_) sync_by_the_kernel();
}

void MpiQueuedFile::sync_by_the_kernel() const {
  Descriptor descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  // A driver that the prefix names may keep its files elsewhere, and has a sync of its own.
  if (!descriptor && errno == ENOENT && path_ != name_) return;
  OpenFile(std::move(descriptor), path_).sync();
}

void MpiQueuedFile::close() {
  wait_for_all();
  for (const auto& handle : handles_) handle->close();
}

}  // namespace strider
