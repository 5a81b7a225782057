#include "reports/values.hpp"

#include <vector>

#include "ranks/exchange.hpp"

namespace strider {
namespace {

constexpr int values_tag = 919;

}  // namespace

void report_values(RunContext& context, const PhaseTask& task, std::span<const RequestValues> mine,
                   const WaitOptions& waiting) {
  int rank = 0;
  MPI_Comm_rank(task.communicator, &rank);
  const std::vector<std::uint64_t> counts = gather(static_cast<std::uint64_t>(mine.size()), task.communicator, waiting);
  if (rank != 0) {
    if (!mine.empty()) send(mine, 0, values_tag, task.communicator, waiting);
    return;
  }
  for (std::uint32_t sender = 0; sender < counts.size(); ++sender) {
    if (counts[sender] == 0) continue;
    ValuesRow row{.rank = sender, .requests = {mine.begin(), mine.end()}};
    if (sender > 0) {
      row.requests.resize(counts[sender]);
      receive(std::span(row.requests), static_cast<int>(sender), values_tag, task.communicator, waiting);
    }
    context.events->values(task.name, row);
  }
}

}  // namespace strider
