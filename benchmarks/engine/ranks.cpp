/// What ranks need to agree and to report, in seconds on rank 0: a line of JSON with the median of each.
/// strider-ranks ROUNDS
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <vector>

#include "events/events.hpp"
#include "events/sample.hpp"
#include "foundation/clock.hpp"
#include "measure/histogram.hpp"
#include "ranks/exchange.hpp"
#include "reports/rank_distributions.hpp"
#include "reports/reduction.hpp"

namespace {

using namespace strider;

constexpr WaitOptions waiting{};
constexpr std::uint64_t requests = 1000;

Sample sample_of(int rank) {
  Sample sample;
  Histogram latencies;
  for (std::uint64_t request = 0; request < requests; ++request) latencies.record(1000 + 7 * request);
  sample.latency = LatencyCounts::of(latencies);
  RankQuantities mine{}, bounds{};
  mine.fill(1.0 + rank);
  bounds.fill(1000.0);
  set_values(mine, bounds, Unit::bytes, rank, true, sample.rank_distributions);
  count(mine, sample.rank_distributions);
  return sample;
}

void reduce(Sample& sample) {
  Reduction reduction;
  reduction.add(sample);
  reduction.add(sample.latency);
  for (RankDistribution& one : sample.rank_distributions) reduction.add(one.counts);
  reduction.to_first(MPI_COMM_WORLD, waiting);
}

/// The ranks begin each round at about the same time.
double median_s(int rounds, const std::function<void()>& act) {
  std::vector<double> times_s;
  for (int round = 0; round < rounds; ++round) {
    barrier(MPI_COMM_WORLD, waiting);
    const std::uint64_t begin = monotonic_ns();
    act();
    times_s.push_back(static_cast<double>(monotonic_ns() - begin) * 1e-9);
  }
  std::ranges::sort(times_s);
  return times_s[times_s.size() / 2];
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  const int rounds = count > 1 ? std::max(1, std::atoi(words[1])) : 20;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto sample = std::make_unique<Sample>(sample_of(rank));
  const auto reduced = std::make_unique<Sample>();
  EventStream events(rank == 0 ? "/dev/null" : "");
  const double barrier_s = median_s(rounds, [] { barrier(MPI_COMM_WORLD, waiting); });
  const double reduction_s = median_s(rounds, [&] {
    *reduced = *sample;
    reduce(*reduced);
  });
  const double events_s = median_s(rounds, [&] { events.sample({}, *reduced); });
  if (rank == 0)
    std::cout << R"({"barrier_s":)" << barrier_s << R"(,"reduction_s":)" << reduction_s << R"(,"events_s":)" << events_s
              << "}\n";
  MPI_Finalize();
  return 0;
}
