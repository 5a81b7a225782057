#include "reports/reduction.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "ranks/exchange.hpp"

namespace strider {
namespace {

constexpr double no_number = 0x1p63;  ///< a bound from here on is of no rank

}  // namespace

void Reduction::add_number(std::uint64_t& number, Over over) {
  if (over == Over::sum || over == Over::mean) return sum(number);
  Whole& whole = wholes_.emplace_back(Whole{&number, static_cast<double>(number)});
  over == Over::least ? least(whole.value) : most(whole.value);
}

void Reduction::add_number(double& number, Over over) {
  if (over == Over::sum || over == Over::mean) return sum(number);
  over == Over::least ? least(number) : most(number);
}

void Reduction::add(LatencyCounts& latency) {
  sums_.emplace_back(latency.counts);
  sum(latency.sum_ns);
  least(latency.minimum_ns);
  most(latency.maximum_ns);
}

std::vector<std::uint64_t> Reduction::packed_sums() const {
  std::vector<std::uint64_t> packed;
  for (const auto& numbers : sums_) packed.insert(packed.end(), numbers.begin(), numbers.end());
  return packed;
}

void Reduction::unpack_sums(std::span<const std::uint64_t> packed) {
  for (const auto& numbers : sums_) {
    std::ranges::copy(packed.first(numbers.size()), numbers.begin());
    packed = packed.subspan(numbers.size());
  }
}

/// Maxima travel negated, so that one reduction serves all.
std::vector<double> Reduction::packed_bounds() const {
  std::vector<double> packed;
  for (const Bound& bound : bounds_) packed.push_back(bound.sign * *bound.at);
  return packed;
}

void Reduction::unpack_bounds(std::span<const double> packed) {
  for (std::size_t i = 0; i < bounds_.size(); ++i) *bounds_[i].at = bounds_[i].sign * packed[i];
  for (const Whole& whole : wholes_)
    *whole.at =
        whole.value < no_number ? static_cast<std::uint64_t>(whole.value) : std::numeric_limits<std::uint64_t>::max();
}

void Reduction::take_in(const Reduction& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i)
    std::ranges::transform(sums_[i], other.sums_[i], sums_[i].begin(), std::plus<>());
  for (std::size_t i = 0; i < real_sums_.size(); ++i) *real_sums_[i] += *other.real_sums_[i];
  std::vector<double> bounds = packed_bounds();
  const std::vector<double> theirs = other.packed_bounds();
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = std::min(bounds[i], theirs[i]);
  unpack_bounds(bounds);
  for (std::size_t i = 0; i < extremes_.size(); ++i) {
    const RankExtreme &mine = *extremes_[i].at, &further = *other.extremes_[i].at;
    if (extremes_[i].most ? further.value > mine.value : further.value < mine.value) *extremes_[i].at = further;
  }
}

void Reduction::bring(To to, MPI_Comm communicator, const WaitOptions& waiting) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  std::vector<std::uint64_t> sums = packed_sums();
  std::vector<double> bounds = packed_bounds(), real_sums;
  for (const double* number : real_sums_) real_sums.push_back(*number);
  std::vector<RankExtreme> lowest, highest;
  for (const Extreme& extreme : extremes_) (extreme.most ? highest : lowest).push_back(*extreme.at);

  std::vector<MPI_Request> requests;
  const auto reduce = [&](auto& numbers, MPI_Datatype type, MPI_Op operation) {
    if (numbers.empty()) return;
    const auto count = static_cast<int>(numbers.size());
    MPI_Request& request = requests.emplace_back(MPI_REQUEST_NULL);
    if (to == To::all) MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), count, type, operation, communicator, &request);
    else if (rank == 0) MPI_Ireduce(MPI_IN_PLACE, numbers.data(), count, type, operation, 0, communicator, &request);
    else MPI_Ireduce(numbers.data(), nullptr, count, type, operation, 0, communicator, &request);
  };
  reduce(sums, MPI_UINT64_T, MPI_SUM);
  reduce(real_sums, MPI_DOUBLE, MPI_SUM);
  reduce(bounds, MPI_DOUBLE, MPI_MIN);
  reduce(lowest, MPI_DOUBLE_INT, MPI_MINLOC);
  reduce(highest, MPI_DOUBLE_INT, MPI_MAXLOC);
  for (MPI_Request& request : requests) wait(request, waiting);
  if (to == To::first && rank != 0) return;

  unpack_sums(sums);
  unpack_bounds(bounds);
  for (std::size_t i = 0; i < real_sums.size(); ++i) *real_sums_[i] = real_sums[i];
  std::size_t low = 0, high = 0;
  for (const Extreme& extreme : extremes_) *extreme.at = extreme.most ? highest[high++] : lowest[low++];
}

}  // namespace strider
