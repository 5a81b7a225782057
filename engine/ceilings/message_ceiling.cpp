#include <sched.h>

#include <array>
#include <vector>

#include "ceilings/rank_ceilings.hpp"
#include "foundation/clock.hpp"
#include "foundation/units.hpp"
#include "ranks/interrupt.hpp"

namespace strider {
namespace {

constexpr int message_tag = 917, messages = 8;
constexpr std::size_t message_bytes = mib;
constexpr std::uint64_t messages_ns = 50'000'000;

/// Waits without ever sleeping: many MPI libraries move messages only while they are asked about them.
void complete(std::span<MPI_Request> requests, double stall_timeout_s) {
  const std::uint64_t begin = monotonic_ns();
  for (int done = 0; done == 0; ::sched_yield()) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    const double waited_s = static_cast<double>(monotonic_ns() - begin) * 1e-9;
    if (done == 0 && stall_timeout_s > 0 && waited_s > stall_timeout_s)
      throw StallError("waited " + std::to_string(static_cast<int>(waited_s)) + " s for messages of other ranks");
  }
}

/// Ranks in a ring, each of which sends to the next.
class Ring {
 public:
  Ring(MPI_Comm communicator, double stall_timeout_s)
      : communicator_(communicator),
        stall_timeout_s_(stall_timeout_s),
        sent_(message_bytes),
        got_(messages * message_bytes) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &ranks);
    next_ = (rank + 1) % ranks;
    last_ = (rank + ranks - 1) % ranks;
  }
  /// MiB/s of a slice; 0 where it was interrupted.
  double rate() {
    const std::uint64_t begin = monotonic_ns();
    std::uint64_t bytes = 0;
    while (!over(begin)) {
      exchange();
      bytes += messages * message_bytes;
    }
    return static_cast<double>(bytes) / mib / (static_cast<double>(monotonic_ns() - begin) * 1e-9);
  }

 private:
  void exchange() {
    std::array<MPI_Request, std::size_t{2} * messages> requests{};
    constexpr int size = message_bytes;
    for (std::size_t i = 0; i < messages; ++i) {
      MPI_Irecv(got_.data() + i * message_bytes, size, MPI_BYTE, last_, message_tag, communicator_, &requests[2 * i]);
      MPI_Isend(sent_.data(), size, MPI_BYTE, next_, message_tag, communicator_, &requests[2 * i + 1]);
    }
    complete(requests, stall_timeout_s_);
  }
  /// Agreed upon, since each needs the others' messages.
  bool over(std::uint64_t begin) {
    std::uint8_t mine = monotonic_ns() >= begin + messages_ns || interrupted() ? 1 : 0, any = 0;
    std::array<MPI_Request, 1> request{};
    MPI_Iallreduce(&mine, &any, 1, MPI_UINT8_T, MPI_MAX, communicator_, request.data());
    complete(request, stall_timeout_s_);
    return any != 0;
  }

  MPI_Comm communicator_;
  double stall_timeout_s_;
  int next_ = 0, last_ = 0;
  std::vector<std::byte> sent_, got_;
};

}  // namespace

std::vector<double> measure_messages(const RunContext& context, MPI_Comm communicator) {
  Ring ring(communicator, context.stall_timeout_s);
  std::vector<double> found;
  ring.rate();  // connections are made with the first message
  for (int round = 0; round < ceiling_rounds; ++round) found.push_back(ring.rate());
  return found;
}

}  // namespace strider
