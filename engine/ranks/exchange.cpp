#include "ranks/exchange.hpp"

namespace strider {
namespace {

int count_of(auto elements) { return static_cast<int>(elements.size()); }

template <typename Number>
void reduce_on_all(std::span<Number> numbers, MPI_Datatype type, MPI_Op operation, MPI_Comm communicator,
                   const WaitOptions& waiting) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), count_of(numbers), type, operation, communicator, &request);
  wait(request, waiting);
}

}  // namespace

void barrier(MPI_Comm communicator, const WaitOptions& waiting) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator, &request);
  wait(request, waiting);
}

void broadcast_bytes(std::span<std::byte> bytes, MPI_Comm communicator, const WaitOptions& waiting) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(bytes.data(), count_of(bytes), MPI_BYTE, 0, communicator, &request);
  wait(request, waiting);
}

void gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all, MPI_Comm communicator,
                  const WaitOptions& waiting) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Igather(mine.data(), count_of(mine), MPI_BYTE, all.data(), count_of(mine), MPI_BYTE, 0, communicator, &request);
  wait(request, waiting);
}

void send_bytes(std::span<const std::byte> bytes, int receiver, int tag, MPI_Comm communicator,
                const WaitOptions& waiting) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(bytes.data(), count_of(bytes), MPI_BYTE, receiver, tag, communicator, &request);
  wait(request, waiting);
}

void receive_bytes(std::span<std::byte> bytes, int sender, int tag, MPI_Comm communicator, const WaitOptions& waiting) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(bytes.data(), count_of(bytes), MPI_BYTE, sender, tag, communicator, &request);
  wait(request, waiting);
}

void all_reduce(std::span<int> numbers, MPI_Op operation, MPI_Comm communicator, const WaitOptions& waiting) {
  reduce_on_all(numbers, MPI_INT, operation, communicator, waiting);
}

void all_reduce(std::span<std::uint64_t> numbers, MPI_Op operation, MPI_Comm communicator, const WaitOptions& waiting) {
  reduce_on_all(numbers, MPI_UINT64_T, operation, communicator, waiting);
}

void all_reduce(std::span<double> numbers, MPI_Op operation, MPI_Comm communicator, const WaitOptions& waiting) {
  reduce_on_all(numbers, MPI_DOUBLE, operation, communicator, waiting);
}

bool is_so_on_any(bool mine, MPI_Comm communicator, const WaitOptions& waiting) {
  int any = mine ? 1 : 0;
  all_reduce(std::span(&any, 1), MPI_MAX, communicator, waiting);
  return any != 0;
}

}  // namespace strider
