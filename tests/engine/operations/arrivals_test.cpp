// When requests come in open loop, and what is told of those that had to wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "foundation/pace.hpp"
#include "operations/queued_transfer.hpp"
#include "operations/recording_file.hpp"
#include "operations/transfer.hpp"
#include "operations/work.hpp"

namespace strider {
namespace {

constexpr std::uint64_t begin_ticks = 1'000'000'000'000;
constexpr double rate = 1000;

/// Seconds from the beginning to each of the first requests of all ranks, in order.
std::vector<double> arrivals(const Timer& timer, std::uint32_t ranks, std::size_t each, std::uint64_t key = 1) {
  std::vector<double> times;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const Load load{Arrivals::poisson, rate / ranks, rank, ranks, key * 1000 + rank};
    Pace pace(load, timer, begin_ticks);
    for (std::size_t k = 0; k < each; ++k, pace.issue())
      times.push_back(static_cast<double>(pace.due() - begin_ticks) * timer.ns_per_tick() * 1e-9);
  }
  std::ranges::sort(times);
  return times;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
double variance(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return sum / static_cast<double>(values.size() - 1);
}

/// Gaps between what came while all ranks still had requests: none of them is to be missing at the end.
std::vector<double> gaps(const std::vector<double>& times, std::uint32_t ranks) {
  const std::size_t whole = ranks == 1 ? times.size() : times.size() * 8 / 10;
  std::vector<double> found(whole);
  std::adjacent_difference(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(whole), found.begin());
  return found;
}

// However many ranks there are, all together are a Poisson process of the whole rate. The bounds are five standard
// errors of 80 000 gaps or more, whose standard deviation is their mean and whose variance has a kurtosis of 9.
class PoissonArrivals : public testing::TestWithParam<std::uint32_t> {
 protected:
  const std::uint32_t ranks = GetParam();
  const Timer timer;
  const std::vector<double> found = gaps(arrivals(timer, ranks, 100'000 / ranks), ranks);
  const double error = 5 / std::sqrt(static_cast<double>(found.size()));
};

// proves measuring: arrivals, arrival-rate, fixed-arrivals, poisson-arrivals
TEST_P(PoissonArrivals, HaveGapsOfTheRightMeanAndVariance) {
  EXPECT_NEAR(mean(found) * rate, 1, error);
  EXPECT_NEAR(variance(found) * rate * rate, 1, error * std::sqrt(8.0));
}

// proves measuring: arrivals, arrival-rate, fixed-arrivals, poisson-arrivals
TEST_P(PoissonArrivals, HaveExponentialGaps) {
  for (const double longer : {0.1, 0.5, 1.0, 2.0, 4.0}) {
    const auto count = std::ranges::count_if(found, [&](double gap) { return gap * rate > longer; });
    const double share = static_cast<double>(count) / static_cast<double>(found.size());
    EXPECT_NEAR(share, std::exp(-longer), error) << longer;
  }
}

// proves measuring: arrivals, arrival-rate, fixed-arrivals, poisson-arrivals
TEST_P(PoissonArrivals, HaveNoMemory) {
  double product = 0;
  for (std::size_t i = 1; i < found.size(); ++i) product += (found[i] * rate - 1) * (found[i - 1] * rate - 1);
  EXPECT_NEAR(product / static_cast<double>(found.size()), 0, error);
}

INSTANTIATE_TEST_SUITE_P(Ranks, PoissonArrivals, testing::Values(1U, 2U, 7U, 64U));

// proves measuring: arrival-seed
TEST(Arrivals, AreTheSameForTheSameKeyAndOthersForAnother) {
  const Timer timer;
  EXPECT_EQ(arrivals(timer, 2, 100, 1), arrivals(timer, 2, 100, 1));
  EXPECT_NE(arrivals(timer, 2, 100, 1), arrivals(timer, 2, 100, 2));
}

TEST(Arrivals, OfAnIdleRankAreCarriedAsOffered) {
  const Timer timer;
  for (const Arrivals kind : {Arrivals::fixed, Arrivals::poisson}) {
    Pace pace({kind, rate, 0, 1, 1}, timer, timer.now());
    while (pace.issued() < 100) {
      while (!pace.wait(1'000'000'000)) {
      }
      pace.issue();
    }
    EXPECT_NEAR(pace.offered_per_s(), rate, kind == Arrivals::fixed ? 1e-6 * rate : rate / 2);
    EXPECT_LE(pace.achieved_per_s(), pace.offered_per_s());
    EXPECT_LT(pace.late_requests(), 100U);
  }
}

// proves measuring: arrivals-field, late-requests, saturated
TEST(Arrivals, ThatFindARankBusyAreLate) {
  const Timer timer;
  // A second behind its requests, which come every tenth of one.
  const std::uint64_t begin = timer.now() - timer.from_ns(1'000'000'000);
  Pace pace({Arrivals::fixed, 10, 0, 1, 1}, timer, begin);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(pace.wait(0));
    pace.issue();
  }
  const double since_s = static_cast<double>(timer.to_ns(timer.now() - begin)) * 1e-9;  // a little more than one
  EXPECT_EQ(pace.late_requests(), 4U) << "nothing was in hand when the first one came";
  const double latest_s = static_cast<double>(timer.to_ns(pace.latest())) * 1e-9;
  EXPECT_GE(latest_s, 1 - 1e-6);
  EXPECT_LE(latest_s, since_s);
  // Five requests came in half a second. The last one was due after 0.4 s and issued after 1 s: 0.6 s late.
  EXPECT_NEAR(pace.offered_per_s(), 10, 0.01);
  EXPECT_LE(pace.achieved_per_s(), 5 / 1.1 + 1e-3);
  EXPECT_GE(pace.achieved_per_s(), 5 / (since_s + 0.1) - 1e-3);
}

// proves measuring: arrivals, arrival-rate, fixed-arrivals, poisson-arrivals, latency-from-due
// proves measuring: wait-for-client
TEST(Arrivals, AreTimedFromWhenTheyCame) {
  for (const Operation operation : {Operation::write, Operation::read, Operation::read_modify_write}) {
    Job job(operation);
    Pace pace({Arrivals::fixed, 10, 0, 1, 1}, job.timer, job.timer.now() - job.timer.from_ns(1'000'000'000));
    job.work.timing.pace = &pace;
    RecordingFile file;
    EXPECT_EQ(Transfer(job.work, file, job.timer, job.tally, job.watch).run(3, 0), Stop::finished);
    EXPECT_EQ(job.tally.requests, 3U);
    EXPECT_GE(job.tally.latency_ns.minimum(), 800'000'000U);
    EXPECT_GE(job.tally.latency_ns.maximum(), 1'000'000'000U);
  }
}

struct QueuedArrivals : testing::Test {
  Stop run(std::uint64_t last, Pace& pace) {
    job.memory.resize(16);
    job.work.memory = job.memory;
    job.work.depth = 4;
    job.work.timing.pace = &pace;
    return QueuedTransfer(job.work, queue, job.timer, job.tally, job.watch).run(last, 0);
  }
  Job job{Operation::write, 12};
  RecordingQueue queue;
};

// proves measuring: arrivals-and-depth
TEST_F(QueuedArrivals, AreIssuedWhenTheyComeWhileOthersAreInFlight) {
  queue.slow = true;
  Pace pace({Arrivals::fixed, 1000, 0, 1, 1}, job.timer, job.timer.now());
  EXPECT_EQ(run(4, pace), Stop::finished);
  EXPECT_EQ(job.tally.requests, 4U);
  // Nothing was waited for before all four were in flight: the first took from its own start to the last one's.
  EXPECT_GE(job.tally.latency_ns.maximum(), 2'990'000U);
}

// proves measuring: arrivals-and-depth, arrivals-field, late-requests, saturated
TEST_F(QueuedArrivals, WaitInLineWhereAllSlotsAreTaken) {
  Pace pace({Arrivals::fixed, 10, 0, 1, 1}, job.timer, job.timer.now() - job.timer.from_ns(1'000'000'000));
  EXPECT_EQ(run(8, pace), Stop::finished);
  EXPECT_EQ(job.tally.requests, 8U);
  EXPECT_EQ(pace.late_requests(), 7U);
  EXPECT_GE(job.tally.latency_ns.minimum(), 290'000'000U);
  EXPECT_GE(job.tally.latency_ns.maximum(), 1'000'000'000U);
}

TEST_F(QueuedArrivals, KeepToALimitUntilTheLastBytesArePaidFor) {
  const std::uint64_t begin = job.timer.now();
  Pace pace({.per_s = 400}, job.timer, begin);
  EXPECT_EQ(run(5, pace), Stop::finished);
  EXPECT_GE(job.timer.to_ns(job.timer.now() - begin), 49'999'000U);
}

// proves measuring: rate-limit, time-of-request, issued-on-time
TEST(RateLimit, HoldsATransferUntilItsLastBytesArePaidFor) {
  Job job(Operation::write, 5);
  const std::uint64_t begin = job.timer.now();
  Pace pace({.per_s = 400}, job.timer, begin);  // bytes, and a request has four
  job.work.timing.pace = &pace;
  RecordingFile file;
  EXPECT_EQ(Transfer(job.work, file, job.timer, job.tally, job.watch).run(5, 0), Stop::finished);
  EXPECT_EQ(job.tally.requests, 5U);
  EXPECT_GE(job.timer.to_ns(job.timer.now() - begin), 49'999'000U);
}

// proves measuring: waits-checked
TEST(RateLimit, EndsAtTheDeadlineAndByTheWatchAlsoWhileItWaits) {
  Job job(Operation::write, 5);
  Pace pace({.per_s = 0.001}, job.timer, job.timer.now());
  job.work.timing.pace = &pace;
  RecordingFile file;
  Transfer transfer(job.work, file, job.timer, job.tally, job.watch);
  EXPECT_EQ(transfer.run(5, job.timer.now() + job.timer.from_ns(20'000'000)), Stop::deadline);
  EXPECT_EQ(job.tally.requests, 1U);
  job.watch.allowed = job.watch.looks + 2;
  EXPECT_EQ(transfer.run(5, 0), Stop::ended);
  EXPECT_EQ(job.tally.requests, 1U);
}

}  // namespace
}  // namespace strider
