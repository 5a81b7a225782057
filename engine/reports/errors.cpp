#include "reports/errors.hpp"

#include <span>
#include <utility>

#include "ranks/exchange.hpp"

namespace strider {
namespace {

constexpr int error_tag = 914;

void add_from(int child, std::vector<ErrorRecord>& errors, MPI_Comm communicator, const WaitOptions& waiting) {
  std::uint64_t count = 0;
  receive(std::span(&count, 1), child, error_tag, communicator, waiting);
  if (count == 0) return;
  const std::size_t known = errors.size();
  errors.resize(known + count);
  receive(std::span(errors).subspan(known), child, error_tag, communicator, waiting);
}

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
    add_from(child, errors, communicator, waiting);
  }
  errors = condense(std::move(errors));
  if (rank == 0) return errors;
  const std::uint64_t count = errors.size();
  const int parent = (rank - 1) / 2;
  send(std::span(&count, 1), parent, error_tag, communicator, waiting);
  if (count > 0) send(std::span(std::as_const(errors)), parent, error_tag, communicator, waiting);
  return {};
}

}  // namespace strider
