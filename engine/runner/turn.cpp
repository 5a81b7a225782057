#include "runner/turn.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "runner/waiting.hpp"

namespace strider {
namespace {

constexpr int shared_error_tag = 915;

}  // namespace

Buffer::Buffer(std::uint64_t bytes) : bytes_(std::max<std::uint64_t>(bytes, 1)) {
  memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
}

Buffer::~Buffer() { ::munmap(memory_, bytes_); }

std::uint32_t rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return static_cast<std::uint32_t>(rank);
}

bool share_error(RunContext& context, MPI_Comm communicator, const PhaseName& name,
                 const std::optional<IoError>& mine) {
  const WaitOptions waiting{.stall_timeout_s = context.stall_timeout_s};
  const auto rank = static_cast<int>(rank_in(communicator));
  constexpr int nobody = -1;
  int who = mine ? rank : nobody;
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, &who, 1, MPI_INT, MPI_MAX, communicator, &request);
  wait(request, waiting);
  if (who == nobody) return false;
  ErrorRecord record{};
  if (who == rank) record = describe_error(*mine, rank, context.nodes.host);
  if (who == rank && rank != 0) {
    MPI_Isend(&record, sizeof record, MPI_BYTE, 0, shared_error_tag, communicator, &request);
    wait(request, waiting);
  }
  if (rank != 0) return true;
  if (who != 0) {
    MPI_Irecv(&record, sizeof record, MPI_BYTE, who, shared_error_tag, communicator, &request);
    wait(request, waiting);
  }
  context.events->error(name, info_of(record));
  return true;
}

}  // namespace strider
