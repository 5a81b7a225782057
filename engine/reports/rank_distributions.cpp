#include "reports/rank_distributions.hpp"

namespace strider {
namespace {

constexpr std::size_t instants = 2;  ///< come first
constexpr std::array<std::string_view, rank_quantities> names{
    "start_s", "end_s", "open_s", "transfer_s", "close_s", "io_s", "user_s", "system_s", "bytes", "requests", "rate"};

}  // namespace

RankQuantities quantities_of(const RankRow& row, double rate) {
  return {row.start_s,
          row.end_s,
          row.open_s,
          row.transfer_s,
          row.close_s,
          row.io_s,
          row.user_s,
          row.system_s,
          static_cast<double>(row.bytes),
          static_cast<double>(row.requests),
          rate};
}

void count_from(double start_s, RankQuantities& values) {
  for (std::size_t i = 0; i < instants; ++i) values[i] -= start_s;
}

void set_values(const RankQuantities& mine, const RankQuantities& bounds, Unit unit, int rank, bool works,
                std::vector<RankDistribution>& distributions) {
  distributions.resize(rank_quantities);
  for (std::size_t i = 0; i < rank_quantities; ++i) {
    RankDistribution& one = distributions[i];
    one.quantity = names[i];
    one.bound = bounds[i];
    one.ranks = works ? 1 : 0;
    one.mean = works ? mine[i] : 0;
    one.lowest = {works ? mine[i] : no_rank, rank};
    one.highest = {works ? mine[i] : -no_rank, rank};
  }
  distributions.back().quantity = unit == Unit::bytes ? "rate_mib_s" : "rate_requests_s";
}

void count(const RankQuantities& mine, std::vector<RankDistribution>& distributions) {
  for (std::size_t i = 0; i < rank_quantities; ++i) distributions[i].counts.record(mine[i], distributions[i].bound);
}

void complete(std::vector<RankDistribution>& distributions, const NumberRuns& node_of_rank) {
  std::erase_if(distributions, [](const RankDistribution& one) { return one.ranks == 0; });
  for (RankDistribution& one : distributions) {
    one.mean /= static_cast<double>(one.ranks);
    one.lowest_node = node_of_rank[static_cast<std::size_t>(one.lowest.rank)];
    one.highest_node = node_of_rank[static_cast<std::size_t>(one.highest.rank)];
  }
}

}  // namespace strider
