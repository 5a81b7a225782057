#include "reports/errors.hpp"

#include <span>
#include <utility>

#include "ranks/exchange.hpp"

namespace strider {
namespace {

constexpr int error_tag = 914;

}  // namespace

std::vector<ErrorRecord> bring_errors_to_first(std::vector<ErrorRecord> mine, MPI_Comm communicator,
                                               const WaitOptions& waiting) {
  if (!is_so_on_any(!mine.empty(), communicator, waiting)) return {};
  int rank = 0, ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  std::vector<ErrorRecord> errors = std::move(mine);
  for (const int child : {2 * rank + 1, 2 * rank + 2}) {
    if (child >= ranks) continue;
    errors = condense(std::move(errors));
    receive_sized(errors, child, error_tag, communicator, waiting);
  }
  errors = condense(std::move(errors));
  if (rank == 0) return errors;
  send_sized(std::span(std::as_const(errors)), (rank - 1) / 2, error_tag, communicator, waiting);
  return {};
}

}  // namespace strider
