#include "measure/timeline.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "foundation/random.hpp"
#include "operations/transfer.hpp"

namespace strider {
namespace {

constexpr std::uint64_t start = 1000, interval = 10;

struct Request {
  std::uint64_t end, latency, bytes;
};

Tally tally_of(const std::vector<Request>& requests) {
  Tally tally;
  tally.timeline.begin(start, interval);
  for (const Request& request : requests) tally.record(request.end, request.latency, request.bytes);
  tally.timeline.finish(tally.totals());
  return tally;
}

void expect_equal(const Timeline::Interval& found, const Timeline::Interval& wanted) {
  EXPECT_EQ(found.bytes, wanted.bytes);
  EXPECT_EQ(found.requests, wanted.requests);
  EXPECT_EQ(found.busy_ns, wanted.busy_ns);
  EXPECT_EQ(found.longest_ns, wanted.longest_ns);
}

// proves measuring: counted-at-end
TEST(Timeline, ARequestCountsWhereItEnded) {
  // The second ends with the first interval, so it belongs to the next; between it and the last one nothing ends.
  Tally tally = tally_of({{1009, 7, 100}, {1010, 3, 200}, {1019, 5, 400}, {1045, 26, 800}});
  EXPECT_EQ(tally.timeline.last_unmerged(), 4U);
  const auto found = tally.timeline.intervals(0, 5);
  expect_equal(found[0], {100, 1, 7, 7});
  expect_equal(found[1], {600, 2, 8, 5});
  expect_equal(found[2], {0, 0, 0, 0});
  expect_equal(found[3], {0, 0, 0, 0});
  expect_equal(found[4], {800, 1, 26, 26});
}

TEST(Timeline, WhatIsNotBegunNotesNothing) {
  Tally tally;
  tally.record(5, 1, 1);
  tally.timeline.finish(tally.totals());
  EXPECT_EQ(tally.timeline.last_unmerged(), 0U);
  expect_equal(tally.timeline.intervals(0, 1)[0], {0, 0, 0, 0});
}

TEST(Timeline, DoublingsAreThoseThatMakeTheLastIntervalFit) {
  for (const std::uint64_t last : {0U, 1U, 599U, 600U, 1199U, 1200U, 2399U, 2400U, 1'000'000U}) {
    const unsigned doublings = Timeline::doublings_for(last);
    EXPECT_LT(last >> doublings, Timeline::capacity);
    if (doublings > 0) {
      EXPECT_GE(last >> (doublings - 1), Timeline::capacity);
    }
  }
}

// proves measuring: intervals-double, any-length
TEST(Timeline, LongPhasesMergeNeighboursAndLoseNothing) {
  std::vector<Request> requests;
  std::uint64_t end = start;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    end += below(mix64(i), 9);
    requests.push_back({end, 1 + below(mix64(i ^ 0xabcd), 1000), below(mix64(i ^ 0x1234), 5000)});
  }
  Tally tally = tally_of(requests);
  const std::uint64_t last = (end - start) / interval;
  const unsigned doublings = Timeline::doublings_for(last);
  EXPECT_EQ(tally.timeline.last_unmerged() >> doublings, last >> doublings);
  ASSERT_GE(doublings, 2U);
  const std::uint64_t length = interval << doublings;
  std::vector<Timeline::Interval> wanted((last >> doublings) + 1);
  for (const Request& request : requests) {
    Timeline::Interval& one = wanted[(request.end - start) / length];
    one.bytes += request.bytes;
    ++one.requests;
    one.busy_ns += request.latency;
    one.longest_ns = std::max(one.longest_ns, request.latency);
  }
  const auto found = tally.timeline.intervals(doublings, wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) expect_equal(found[i], wanted[i]);
}

TEST(Timeline, AShortOneIsMergedAsOftenAsTheLongestOfThePhase) {
  Tally tally = tally_of({{1005, 1, 1}, {1015, 2, 2}, {1025, 4, 4}, {1095, 8, 8}});
  const auto found = tally.timeline.intervals(2, 3);
  expect_equal(found[0], {7, 3, 7, 4});
  expect_equal(found[1], {0, 0, 0, 0});
  expect_equal(found[2], {8, 1, 8, 8});
}

TEST(Timeline, OneRequestAfterAVeryLongTimeFits) {
  Tally tally = tally_of({{1001, 1, 1}, {start + interval * 5'000'000, 2, 2}});
  const unsigned doublings = Timeline::doublings_for(5'000'000);
  const auto found = tally.timeline.intervals(doublings, Timeline::capacity);
  expect_equal(found[0], {1, 1, 1, 1});
  expect_equal(found[5'000'000 >> doublings], {2, 1, 2, 2});
  const auto requests = std::accumulate(found.begin(), found.end(), std::uint64_t{0},
                                        [](auto sum, const auto& each) { return sum + each.requests; });
  EXPECT_EQ(requests, 2U);
}

}  // namespace
}  // namespace strider
