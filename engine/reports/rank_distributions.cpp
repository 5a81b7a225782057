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

std::vector<RankDistribution> distributions_of(const RankQuantities& mine, const RankQuantities& bounds, Unit unit,
                                               int rank, bool works) {
  std::vector<RankDistribution> distributions(rank_quantities);
  for (std::size_t i = 0; i < rank_quantities; ++i) {
    RankDistribution& one = distributions[i];
    one.quantity = names[i];
    one.bound = bounds[i];
    if (!works) continue;
    one.ranks = 1;
    one.mean = mine[i];
    one.lowest = one.highest = {mine[i], rank};
    one.counts.record(mine[i], bounds[i]);
  }
  distributions.back().quantity = unit == Unit::bytes ? "rate_mib_s" : "rate_requests_s";
  return distributions;
}

void complete(std::vector<RankDistribution>& distributions, std::span<const std::uint32_t> node_of_rank) {
  std::erase_if(distributions, [](const RankDistribution& one) { return one.ranks == 0; });
  for (RankDistribution& one : distributions) {
    one.mean /= static_cast<double>(one.ranks);
    one.lowest_node = node_of_rank[static_cast<std::size_t>(one.lowest.rank)];
    one.highest_node = node_of_rank[static_cast<std::size_t>(one.highest.rank)];
  }
}

}  // namespace strider
