#pragma once
#include <mpi.h>

#include <stdexcept>

namespace strider {

/// A rank waited longer than the stall timeout for the others.
class StallError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Called now and then while a rank waits.
class Attention {
 public:
  virtual ~Attention() = default;
  virtual void look() = 0;
};

enum class Patience {
  awake,         ///< an answer is due at once: give way to others, but do not sleep unless it takes long
  short_sleeps,  ///< the others will be here soon: wake up often
  long_sleeps,   ///< this rank has nothing to do: yield the CPU to busy ranks
};

struct WaitOptions {
  Patience patience = Patience::short_sleeps;
  double stall_timeout_s = 0;  ///< 0: for ever
  Attention* attention = nullptr;
};

/// Of a rank that has nothing to do until rank 0 calls: however long others work, since these have deadlines.
constexpr WaitOptions idle{.patience = Patience::long_sleeps};

/// Waits for a nonblocking MPI operation without spinning: MPI's own waits burn the processor that working ranks need.
/// Throws StallError.
void wait(MPI_Request& request, const WaitOptions& options);

}  // namespace strider
