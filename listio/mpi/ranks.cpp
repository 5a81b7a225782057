#include "listio/mpi/ranks.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "listio/mpi/below.hpp"

namespace strider::listio::mpi {
namespace {

constexpr int exchange_tag = 1;

/// Gives the processor away, for longer and longer: a rank that has not come for long will not come at once.
class BackOff {
 public:
  void rest() {
    if (++turns_ <= most_yields) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(pause_ * 2, longest);
  }

 private:
  static constexpr int most_yields = 20;
  static constexpr std::chrono::microseconds longest{1000};
  int turns_ = 0;
  std::chrono::microseconds pause_{5};
};

}  // namespace

Ranks::Ranks(MPI_Comm communicator, std::chrono::milliseconds patience) : patience_(patience) {
  const Below& mpi = below();
  duplicate(communicator);
  mpi.Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  mpi.Comm_rank(communicator_, &rank_);
  mpi.Comm_size(communicator_, &count_);
}

void Ranks::duplicate(MPI_Comm communicator) {
  // MPI_Comm_dup's messages go back and forth while all ranks spin, which takes the processors of those still to come.
  auto duplicated = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  run(duplicated, [&](MPI_Request* request) {
    if (below().Comm_idup(communicator, duplicated.get(), request) != MPI_SUCCESS)
      throw Failure(MPI_ERR_COMM, "the communicator cannot be duplicated");
    return MPI_SUCCESS;
  });
  communicator_ = *duplicated;
}

void Ranks::require_whole() const {
  if (broken_)
    throw Failure(MPI_ERR_IO,
                  "a rank did not take part in an earlier collective call in time; close the file and open it again");
}

void Ranks::require_success(int code) {
  if (code == MPI_SUCCESS) return;
  broken_ = true;
  throw Failure(MPI_ERR_IO, "a message to or from another rank failed");
}

void Ranks::wait(std::span<MPI_Request> requests) {
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  BackOff back_off;
  while (true) {
    int done = 0;
    require_success(below().Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
    if (done != 0) return;
    if (std::chrono::steady_clock::now() > deadline) {
      broken_ = true;
      throw Failure(MPI_ERR_IO, "a rank did not take part in a collective call within " +
                                    std::to_string(patience_.count()) +
                                    " ms; the hint listio_rank_timeout sets "
                                    "the seconds to wait");
    }
    back_off.rest();
  }
}

template <typename Buffers, typename Begin>
void Ranks::run(std::unique_ptr<Buffers>& buffers, const Begin& begin) {
  MPI_Request request = MPI_REQUEST_NULL;
  try {
    require_success(begin(&request));
    wait({&request, 1});
  } catch (const Failure&) {
    static_cast<void>(buffers.release());
    throw;
  }
}

std::vector<std::int64_t> Ranks::gather(std::span<const std::int64_t> mine) {
  require_whole();
  std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(count_));
  if (count_ == 1) {
    std::ranges::copy(mine, all.begin());
    return all;
  }
  struct Buffers {
    std::vector<std::int64_t> mine, all;
  };
  auto buffers = std::make_unique<Buffers>(Buffers{{mine.begin(), mine.end()}, std::move(all)});
  const int numbers = static_cast<int>(mine.size());
  run(buffers, [&](MPI_Request* request) {
    return below().Iallgather(buffers->mine.data(), numbers, MPI_INT64_T, buffers->all.data(), numbers, MPI_INT64_T,
                              communicator_, request);
  });
  return std::move(buffers->all);
}

void Ranks::share(std::span<std::int64_t> numbers) {
  require_whole();
  if (count_ == 1) return;
  auto buffer = std::make_unique<std::vector<std::int64_t>>(numbers.begin(), numbers.end());
  run(buffer, [&](MPI_Request* request) {
    return below().Ibcast(buffer->data(), static_cast<int>(buffer->size()), MPI_INT64_T, 0, communicator_, request);
  });
  std::ranges::copy(*buffer, numbers.begin());
}

Outcome Ranks::agree(Outcome mine) {
  if (count_ == 1) return mine;
  struct Buffers {
    int mine, worst;
  };
  try {
    require_whole();
    auto buffers = std::make_unique<Buffers>(Buffers{mine.error_class, MPI_SUCCESS});
    run(buffers, [&](MPI_Request* request) {
      return below().Iallreduce(&buffers->mine, &buffers->worst, 1, MPI_INT, MPI_MAX, communicator_, request);
    });
    if (!mine.failed() && buffers->worst != MPI_SUCCESS) return {buffers->worst, "the call failed on another rank"};
    return mine;
  } catch (const Failure& failure) {
    mine.add({failure.error_class(), failure.what()});
    return mine;
  }
}

/// Buffers and requests of one exchange.
struct Ranks::Exchange {
  std::vector<std::int64_t> outgoing, incoming;  ///< bytes to and from each rank
  std::vector<Parcel> sent, received;
  std::vector<MPI_Request> requests;
};

std::vector<Parcel> Ranks::exchange(std::vector<Parcel> parcels) {
  require_whole();
  if (count_ == 1) return parcels;
  auto all = std::make_unique<Exchange>();
  all->sent = std::move(parcels);
  all->outgoing.resize(static_cast<std::size_t>(count_));
  all->incoming.resize(static_cast<std::size_t>(count_));
  for (const Parcel& parcel : all->sent)
    all->outgoing[static_cast<std::size_t>(parcel.rank)] = static_cast<std::int64_t>(parcel.bytes.size());
  const Below& mpi = below();
  try {
    MPI_Request counts = MPI_REQUEST_NULL;
    require_success(mpi.Ialltoall(all->outgoing.data(), 1, MPI_INT64_T, all->incoming.data(), 1, MPI_INT64_T,
                                  communicator_, &counts));
    wait({&counts, 1});
    for (int from = 0; from < count_; ++from)
      if (const std::int64_t bytes = all->incoming[static_cast<std::size_t>(from)]; bytes > 0)
        all->received.push_back({from, Bytes(static_cast<std::size_t>(bytes))});
    for (Parcel& parcel : all->received)
      if (parcel.rank != rank_)
        require_success(mpi.Irecv(parcel.bytes.data(), static_cast<int>(parcel.bytes.size()), MPI_BYTE, parcel.rank,
                                  exchange_tag, communicator_, &all->requests.emplace_back(MPI_REQUEST_NULL)));
    for (const Parcel& parcel : all->sent)
      if (!parcel.bytes.empty() && parcel.rank != rank_)
        require_success(mpi.Isend(parcel.bytes.data(), static_cast<int>(parcel.bytes.size()), MPI_BYTE, parcel.rank,
                                  exchange_tag, communicator_, &all->requests.emplace_back(MPI_REQUEST_NULL)));
    wait(all->requests);
    for (Parcel& parcel : all->sent)
      for (Parcel& own : all->received)
        if (parcel.rank == rank_ && own.rank == rank_) own.bytes = std::move(parcel.bytes);
  } catch (const Failure&) {
    static_cast<void>(all.release());
    throw;
  }
  return std::move(all->received);
}

void Ranks::leave() {
  // A communicator with messages without a receiver cannot be freed.
  if (!broken_ && communicator_ != MPI_COMM_NULL) below().Comm_free(&communicator_);
  communicator_ = MPI_COMM_NULL;
}

}  // namespace strider::listio::mpi
