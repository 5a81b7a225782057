#include "listio/mpi/request.hpp"

#include <algorithm>

#include "listio/mpi/below.hpp"
#include "listio/mpi/errors.hpp"

namespace strider::listio::mpi {
namespace {

#ifdef MPICH_NUMVERSION
bool is_polled() { return below().Grequest_start_polled != nullptr; }
#else
bool is_polled() { return false; }
#endif

/// What MPI keeps for a request.
using State = std::shared_ptr<NonblockingAccess>;
State& state_of(void* state) { return *static_cast<State*>(state); }

int query(void* state, MPI_Status* status) {
  const State& access = state_of(state);
  below().Status_set_elements_x(status, MPI_BYTE, access->bytes_moved());
  below().Status_set_cancelled(status, 0);
  if (access->outcome().failed()) note(access->outcome());
  return access->outcome().error_class;
}
int forget(void* state) {
  delete static_cast<State*>(state);
  return MPI_SUCCESS;
}
/// Pending access is finished: a request is never cancelled.
int cancel(void*, int) { return MPI_SUCCESS; }

#ifdef MPICH_NUMVERSION
int poll(void* state, MPI_Status*) {
  const State access = state_of(state);  // completing may free what MPI keeps
  access->go_on();
  return MPI_SUCCESS;
}
int wait(int count, void** states, double, MPI_Status*) {
  for (int i = 0; i < count; ++i) {
    const State access = state_of(states[i]);
    access->finish();
  }
  return MPI_SUCCESS;
}
#endif

}  // namespace

const char* progress_of_requests() { return is_polled() ? "by calls" : "none: the call that starts it ends it"; }

Outcome NonblockingAccess::start(const std::shared_ptr<OpenFile>& file, const Ask& ask, Participation participation,
                                 MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  Task task;
  Outcome outcome = outcome_of([&] {
    task = check(*file, ask, participation);
    place(*file, ask, task);
  });
  if (outcome.failed()) return outcome;
  const auto access = std::make_shared<NonblockingAccess>(file, task);
  auto* const state = new State(access);
  const bool is_eager = !is_polled() || task.bytes == 0 || task.values || file->is_atomic();
  if (is_eager) {
    access->outcome_ = move(file, task, access->bytes_);
    access->complete_ = true;
    below().Grequest_start(query, forget, cancel, state, request);
    below().Grequest_complete(*request);
    return {};
  }
#ifdef MPICH_NUMVERSION
  {
    const std::scoped_lock lock(access->mutex_);
    below().Grequest_start_polled(query, forget, cancel, poll, wait, state, &access->request_);
    *request = access->request_;
  }
  {
    const std::scoped_lock lock(file->mutex);
    file->in_flight.push_back(access);
  }
  access->go_on();
#endif
  return {};
}

/// With the lock held. MPI may free the request at once, and the state with it: the caller holds another reference.
void NonblockingAccess::complete() {
  if (complete_) return;
  complete_ = true;
  outcome_ = transfer_.finish();
  bytes_ = transfer_.bytes_moved();
  {
    const std::scoped_lock lock(file_->mutex);
    std::erase_if(file_->in_flight, [this](const auto& other) { return other.get() == this; });
  }
  below().Grequest_complete(request_);
}

void NonblockingAccess::go_on() {
  const std::scoped_lock lock(mutex_);
  if (!complete_ && transfer_.advance()) complete();
}

void NonblockingAccess::finish() {
  const std::scoped_lock lock(mutex_);
  complete();
}

void finish_all(OpenFile& file) {
  while (true) {
    std::shared_ptr<NonblockingAccess> first;
    {
      const std::scoped_lock lock(file.mutex);
      if (file.in_flight.empty()) return;
      first = file.in_flight.front();
    }
    first->finish();
  }
}

}  // namespace strider::listio::mpi
