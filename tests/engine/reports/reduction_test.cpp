#include "reports/reduction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <tuple>
#include <type_traits>

#include "mpi_session.hpp"

namespace strider {
namespace {

class ReductionOverRanks : public RanksTest {
 protected:
  const WaitOptions waiting{.stall_timeout_s = 60};
};

double as_number(double value) { return value; }
double as_number(std::uint64_t value) { return static_cast<double>(value); }
double as_number(const RankExtreme& extreme) { return extreme.value; }

template <typename Value>
void set(Value& value, double number) {
  if constexpr (std::is_same_v<Value, RankExtreme>) value.value = number;
  else value = static_cast<Value>(number);
}

template <typename Value>
constexpr bool is_reduced =
    std::is_same_v<Value, double> || std::is_same_v<Value, std::uint64_t> || std::is_same_v<Value, RankExtreme>;

/// Of ranks that have 10, 11, 12, … in a field.
double expected(Over over, int ranks, int rank) {
  switch (over) {
    case Over::sum:
    case Over::mean: return 10.0 * ranks + ranks * (ranks - 1) / 2.0;
    case Over::least: return 10;
    case Over::most: return 10 + ranks - 1;
    case Over::none: break;
  }
  return 10 + rank;
}

/// Each field of a record by itself, all others as they are by default.
template <Record Type>
void expect_each_field_reduced_as_declared(int rank, int ranks, const WaitOptions& waiting) {
  for_each_field<Type>([&](const auto& field) {
    if constexpr (requires { field.info; }) {
      using Value = std::decay_t<std::invoke_result_t<decltype(field.get), const Type&>>;
      if constexpr (is_reduced<Value> && std::is_member_object_pointer_v<decltype(field.get)>) {
        Type record{};
        set(record.*field.get, 10 + rank);
        Reduction reduction;
        reduction.add(record);
        reduction.to_first(MPI_COMM_WORLD, waiting);
        const double found = as_number(record.*field.get);
        EXPECT_EQ(found, rank == 0 ? expected(field.info.over, ranks, 0) : 10 + rank)
            << Type::record_name << '.' << field.info.name;
      } else if constexpr (!std::is_same_v<Value, std::optional<Digest>>) {
        EXPECT_EQ(field.info.over, Over::none) << field.info.name << " has a type that is not reduced";
      }
    }
  });
}

TEST_F(ReductionOverRanks, EachFieldAsItIsDeclared) {
  expect_each_field_reduced_as_declared<Sample>(rank, ranks, waiting);
  expect_each_field_reduced_as_declared<Sample::Deadline>(rank, ranks, waiting);
  expect_each_field_reduced_as_declared<Sample::OpenLoop>(rank, ranks, waiting);
  expect_each_field_reduced_as_declared<Sample::Verification>(rank, ranks, waiting);
  expect_each_field_reduced_as_declared<Sample::RankRates>(rank, ranks, waiting);
  expect_each_field_reduced_as_declared<RankDistribution>(rank, ranks, waiting);
  expect_each_field_reduced_as_declared<SamplePart>(rank, ranks, waiting);
  expect_each_field_reduced_as_declared<CallCount>(rank, ranks, waiting);
  expect_each_field_reduced_as_declared<Usage>(rank, ranks, waiting);
}

TEST_F(ReductionOverRanks, RecordsWithinAndLatencies) {
  const auto number = static_cast<std::uint64_t>(rank);
  Sample sample;
  sample.calls = CallCount{.read = number};
  sample.digest = Digest{number};
  sample.usage.user_s = 0.5 * rank;
  sample.parts = {{"stat", number, {}}, {"open", 1, {}}};
  sample.rank_rates = {{100.0 - rank, rank}, 100.0 - rank, {100.0 - rank, rank}};
  Histogram histogram;
  for (int i = 0; i <= rank; ++i) histogram.record(1000);
  sample.latency = LatencyCounts::of(histogram);
  Reduction reduction(sample);
  reduction.add(sample.latency);
  reduction.to_first(MPI_COMM_WORLD, waiting);
  if (rank != 0) return;
  const auto n = static_cast<std::uint64_t>(ranks);
  const std::uint64_t sum = n * (n - 1) / 2;
  EXPECT_EQ(sample.calls->read, sum);
  EXPECT_EQ(sample.digest->value, sum);
  EXPECT_EQ(sample.usage.user_s, 0.5 * static_cast<double>(sum));
  EXPECT_EQ(sample.parts[0].requests, sum);
  EXPECT_EQ(sample.parts[1].requests, n);
  EXPECT_EQ(sample.rank_rates.lowest.rank, ranks - 1);
  EXPECT_EQ(sample.rank_rates.highest.rank, 0);
  EXPECT_EQ(sample.latency.summary()->count, n + sum);
  EXPECT_EQ(sample.latency.minimum_ns, 1000);
  EXPECT_EQ(sample.latency.maximum_ns, 1000);
}

struct Pair {
  std::uint64_t first, second;
  static constexpr auto figures() { return std::tuple{summed(&Pair::first), most_of(&Pair::second)}; }
};
struct Declared {
  double least, own;
  std::array<double, 2> sums;
  Pair pair;
  static constexpr auto figures() {
    return std::tuple{least_of(&Declared::least), summed(&Declared::sums), within(&Declared::pair)};
  }
};

TEST_F(ReductionOverRanks, FiguresAsTheyAreDeclared) {
  const auto number = static_cast<std::uint64_t>(rank), n = static_cast<std::uint64_t>(ranks);
  const double mine = rank;
  Declared all{.least = -mine, .own = mine, .sums = {1, 0.5 * mine}, .pair = {.first = number, .second = number}};
  Reduction(all).to_all(MPI_COMM_WORLD, waiting);
  EXPECT_EQ(all.least, 1 - ranks);
  EXPECT_EQ(all.own, rank);
  EXPECT_EQ(all.sums, (std::array<double, 2>{1.0 * ranks, 0.25 * ranks * (ranks - 1)}));
  EXPECT_EQ(all.pair.first, n * (n - 1) / 2);
  EXPECT_EQ(all.pair.second, n - 1);
}

TEST(Reduction, TakesInTheNumbersOfAFurtherRankOfTheProcess) {
  Sample::RankRates rates{{5, 0}, 5, {5, 0}}, further{{3, 1}, 3, {3, 1}};
  Sample::Deadline deadline{.requests = 2, .requests_per_rank_min = 2, .requests_per_rank_max = 2};
  Sample::Deadline other{.requests = 7, .requests_per_rank_min = 7, .requests_per_rank_max = 7};
  Reduction(rates, deadline).take_in(Reduction(further, other));
  EXPECT_EQ(rates.lowest.rank, 1);
  EXPECT_EQ(rates.highest.rank, 0);
  EXPECT_EQ(rates.mean, 8);  // a sum so far
  EXPECT_EQ(deadline.requests, 9U);
  EXPECT_EQ(deadline.requests_per_rank_min, 2U);
  EXPECT_EQ(deadline.requests_per_rank_max, 7U);
}

TEST_F(ReductionOverRanks, ABoundOfNoRankStaysWhatItWas) {
  Sample::Deadline deadline{.requests_per_rank_min = std::numeric_limits<std::uint64_t>::max()};
  Reduction reduction;
  reduction.add(deadline);
  reduction.to_first(MPI_COMM_WORLD, waiting);
  EXPECT_EQ(deadline.requests_per_rank_min, std::numeric_limits<std::uint64_t>::max());
  LatencyCounts none;
  EXPECT_FALSE(none.summary());
}

TEST_F(ReductionOverRanks, ToAllBringsTheResultToEachRank) {
  std::uint64_t sum = 1;
  double real_sum = 0.5, least = -rank, most = rank;
  Sample::RankRates rates{{100.0 - rank, rank}, 0, {100.0 - rank, rank}};
  Reduction reduction;
  reduction.sum(sum);
  reduction.sum(real_sum);
  reduction.add(rates);
  reduction.least(least);
  reduction.most(most);
  reduction.to_all(MPI_COMM_WORLD, waiting);
  EXPECT_EQ(sum, static_cast<std::uint64_t>(ranks));
  EXPECT_EQ(real_sum, 0.5 * ranks);
  EXPECT_EQ(rates.lowest.rank, ranks - 1);
  EXPECT_EQ(rates.highest.rank, 0);
  EXPECT_EQ(least, 1 - ranks);
  EXPECT_EQ(most, ranks - 1);
}

}  // namespace
}  // namespace strider
