#include "reports/rank_distributions.hpp"

namespace strider {
namespace {

struct Quantity {
  std::string_view name;
  enum class Kind : std::uint8_t { instant, amount } kind;
  double (*of)(const RankRow& row, double rate);
};
constexpr auto instant = Quantity::Kind::instant, amount = Quantity::Kind::amount;
constexpr auto quantities = std::to_array<Quantity>({
    {"start_s", instant, [](const RankRow& row, double) { return row.start_s; }},
    {"end_s", instant, [](const RankRow& row, double) { return row.end_s; }},
    {"open_s", amount, [](const RankRow& row, double) { return row.open_s; }},
    {"transfer_s", amount, [](const RankRow& row, double) { return row.transfer_s; }},
    {"close_s", amount, [](const RankRow& row, double) { return row.close_s; }},
    {"io_s", amount, [](const RankRow& row, double) { return row.io_s; }},
    {"user_s", amount, [](const RankRow& row, double) { return row.user_s; }},
    {"system_s", amount, [](const RankRow& row, double) { return row.system_s; }},
    {"bytes", amount, [](const RankRow& row, double) { return static_cast<double>(row.bytes); }},
    {"requests", amount, [](const RankRow& row, double) { return static_cast<double>(row.requests); }},
    {"rate", amount, [](const RankRow&, double rate) { return rate; }},
});
static_assert(quantities.size() == rank_quantities && quantities.back().name == "rate");

}  // namespace

RankQuantities quantities_of(const RankRow& row, double rate) {
  RankQuantities values{};
  for (std::size_t i = 0; i < rank_quantities; ++i) values[i] = quantities[i].of(row, rate);
  return values;
}

void count_from(double start_s, RankQuantities& values) {
  for (std::size_t i = 0; i < rank_quantities; ++i)
    if (quantities[i].kind == Quantity::Kind::instant) values[i] -= start_s;
}

void set_values(const RankQuantities& mine, const RankQuantities& bounds, Unit unit, int rank, bool works,
                std::vector<RankDistribution>& distributions) {
  distributions.resize(rank_quantities);
  for (std::size_t i = 0; i < rank_quantities; ++i) {
    RankDistribution& one = distributions[i];
    one.quantity = quantities[i].name;
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
