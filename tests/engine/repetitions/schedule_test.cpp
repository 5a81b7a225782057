#include "repetitions/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "foundation/error.hpp"

namespace strider {
namespace {

Plan plan_of(std::vector<Repetitions> repetitions, Interleave interleave = Interleave::random, std::uint64_t seed = 1) {
  Plan plan;
  plan.interleave = interleave;
  plan.seed = seed;
  for (const Repetitions& each : repetitions) {
    Case test;
    test.number = plan.cases.size() + 1;
    test.operations = {Operation::write, Operation::read};
    test.repetitions = each;
    plan.cases.push_back(test);
  }
  return plan;
}
constexpr Repetitions times(std::uint64_t n) { return {n, n, 0}; }

/// Runs the schedule to its end. `rate(case, repetition)` is what each turn gives.
template <typename Rate>
std::vector<ScheduledRepetition> run_all(Schedule& schedule, const Rate& rate) {
  std::vector<ScheduledRepetition> turns;
  while (const auto turn = schedule.next()) {
    turns.push_back(*turn);
    schedule.finished(*turn, {{"write", rate(*turn)}});
  }
  return turns;
}
constexpr auto steady = [](const ScheduledRepetition&) { return 100.0; };
constexpr auto wild = [](const ScheduledRepetition& turn) { return turn.repetition % 2 == 0 ? 1.0 : 1000.0; };

std::vector<std::size_t> cases_of(const std::vector<ScheduledRepetition>& turns) {
  std::vector<std::size_t> cases;
  for (const ScheduledRepetition& turn : turns) cases.push_back(turn.case_index);
  return cases;
}

TEST(Schedule, CasesOfOneTurnHaveItAsOne) {
  Plan plan = plan_of({times(2), times(2), times(2)});
  plan.cases[1].turn = plan.cases[2].turn = 1;
  Schedule schedule(plan);
  EXPECT_EQ(schedule.planned_phases(), 12U);
  std::vector<std::size_t> cases = cases_of(run_all(schedule, steady));
  std::ranges::sort(cases);
  EXPECT_EQ(cases, (std::vector<std::size_t>{0, 0, 1, 1}));
  EXPECT_EQ(schedule.done_phases(), 12U);
  EXPECT_EQ(schedule.planned_phases(), 12U);
}

TEST(Schedule, ATurnThatWasCutIsRepeatedUnlessItsFirstCaseWasDone) {
  Plan plan = plan_of({times(1), times(1)}, Interleave::none);
  plan.cases[0].turn = plan.cases[1].turn = 1;
  Schedule cut(plan), done(plan);
  cut.resume({{.case_number = 2}}, 0);
  EXPECT_TRUE(cut.next());
  done.resume({{.case_number = 1}, {.case_number = 2}}, 0);
  EXPECT_FALSE(done.next());
}

TEST(Schedule, ExecutesEveryRepetitionOfEveryCaseInItsOrder) {
  for (const Interleave interleave : {Interleave::random, Interleave::none}) {
    const Plan plan = plan_of({times(3), times(1), times(5)}, interleave);
    Schedule schedule(plan);
    std::map<std::size_t, std::vector<std::uint64_t>> repetitions;
    for (const ScheduledRepetition& turn : run_all(schedule, steady))
      repetitions[turn.case_index].push_back(turn.repetition);
    EXPECT_EQ(repetitions[0], (std::vector<std::uint64_t>{0, 1, 2}));
    EXPECT_EQ(repetitions[1], (std::vector<std::uint64_t>{0}));
    EXPECT_EQ(repetitions[2], (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  }
}

// proves measuring: interleave, claims-random-order
TEST(Schedule, EachRoundVisitsEachOpenCaseOnce) {
  const Plan plan = plan_of(std::vector<Repetitions>(20, times(4)));
  Schedule schedule(plan);
  const std::vector<std::size_t> cases = cases_of(run_all(schedule, steady));
  ASSERT_EQ(cases.size(), 80U);
  for (std::size_t round = 0; round < 4; ++round) {
    const auto begin = cases.begin() + static_cast<std::ptrdiff_t>(20 * round);
    EXPECT_EQ(std::set<std::size_t>(begin, begin + 20).size(), 20U) << "round " << round;
  }
}

TEST(Schedule, NoRepetitionBeginsThatWouldEndAfterTheTimeLimit) {
  Plan plan = plan_of({times(100), times(100)});
  plan.time_limit_s = 20;
  Schedule schedule(plan);
  const double takes_s[] = {1, 4};
  double now_s = 3;  // the start of the ranks
  std::vector<std::size_t> turns;
  while (const auto turn = schedule.next(now_s)) {
    turns.push_back(turn->case_index);
    now_s += takes_s[turn->case_index];
    schedule.finished(*turn, {});
  }
  // A case that would end too late leaves its place to one that fits.
  EXPECT_LE(now_s, 20);
  EXPECT_GE(now_s, 19);
  EXPECT_GE(turns.size(), 6U);
}

TEST(Schedule, WithoutATimeLimitTimeDoesNotMatter) {
  const Plan plan = plan_of({times(3)});
  Schedule schedule(plan);
  double now_s = 0;
  std::size_t turns = 0;
  while (const auto turn = schedule.next(now_s += 1e6)) {
    ++turns;
    schedule.finished(*turn, {});
  }
  EXPECT_EQ(turns, 3U);
}

// proves comparing: interleaved-rounds
// proves measuring: claims-random-order
TEST(Schedule, RoundsDifferAndFollowTheSeed) {
  const auto order = [](std::uint64_t seed) {
    const Plan plan = plan_of(std::vector<Repetitions>(20, times(2)), Interleave::random, seed);
    Schedule schedule(plan);
    return cases_of(run_all(schedule, steady));
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
  const std::vector<std::size_t> both = order(1);
  EXPECT_FALSE(std::equal(both.begin(), both.begin() + 20, both.begin() + 20)) << "a new order in each round";
}

TEST(Schedule, WithoutInterleavingOneCaseComesAfterTheOther) {
  const Plan plan = plan_of({times(2), times(3), times(1)}, Interleave::none);
  Schedule schedule(plan);
  EXPECT_EQ(cases_of(run_all(schedule, steady)), (std::vector<std::size_t>{0, 0, 1, 1, 1, 2}));
}

TEST(Schedule, AClosedCaseIsNotVisitedByLaterRounds) {
  const Plan plan = plan_of({times(1), times(4)});
  Schedule schedule(plan);
  const std::vector<std::size_t> cases = cases_of(run_all(schedule, steady));
  EXPECT_EQ(std::count(cases.begin(), cases.end(), 0U), 1);
  EXPECT_EQ(std::count(cases.begin(), cases.end(), 1U), 4);
}

TEST(Schedule, UntilStopsAtTheMinimumWhenRatesAreSteady) {
  const Plan plan = plan_of({{4, 30, 0.05}});
  Schedule schedule(plan);
  EXPECT_EQ(run_all(schedule, steady).size(), 4U);
}

TEST(Schedule, UntilStopsAtTheMaximumWhenRatesAreWild) {
  const Plan plan = plan_of({{4, 30, 0.05}});
  Schedule schedule(plan);
  EXPECT_EQ(run_all(schedule, wild).size(), 30U);
}

// proves measuring: until
TEST(Schedule, UntilStopsBetweenThemAsSoonAsTheIntervalIsNarrow) {
  const Plan plan = plan_of({{2, 100, 0.10}});
  Schedule schedule(plan);
  std::vector<double> rates;
  while (const auto turn = schedule.next()) {
    if (rates.size() >= 2) {
      EXPECT_GT(relative_half_width(rates), 0.10) << "one repetition too many";
    }
    rates.push_back(turn->repetition % 2 == 0 ? 90 : 110);
    schedule.finished(*turn, {{"write", rates.back()}});
  }
  EXPECT_LE(relative_half_width(rates), 0.10);
  EXPECT_GT(rates.size(), 2U);
  EXPECT_LT(rates.size(), 100U);
}

TEST(Schedule, UntilHoldsForEveryOperation) {
  const Plan plan = plan_of({{2, 12, 0.05}});
  Schedule schedule(plan);
  int turns = 0;
  while (const auto turn = schedule.next()) {
    schedule.finished(*turn, {{"write", 100.0}, {"read", wild(*turn)}});
    ++turns;
  }
  EXPECT_EQ(turns, 12);
}

TEST(Schedule, WarmUpsComeFirstAndDoNotCount) {
  Plan plan = plan_of({{3, 20, 0.05}});
  plan.cases[0].warmup = 2;
  Schedule schedule(plan);
  const auto slow_at_first = [](const ScheduledRepetition& turn) { return turn.repetition < 2 ? 1.0 : 100.0; };
  EXPECT_EQ(run_all(schedule, slow_at_first).size(), 5U);
}

TEST(Schedule, AFailedCaseIsDroppedAndTheOthersGoOn) {
  for (const Interleave interleave : {Interleave::random, Interleave::none}) {
    const Plan plan = plan_of({times(3), times(3), times(3)}, interleave);
    Schedule schedule(plan);
    std::map<std::size_t, int> turns;
    while (const auto turn = schedule.next()) {
      ++turns[turn->case_index];
      if (turn->case_index == 1) schedule.failed(*turn);
      else schedule.finished(*turn, {{"write", 1.0}});
    }
    EXPECT_EQ(turns, (std::map<std::size_t, int>{{0, 3}, {1, 1}, {2, 3}}));
  }
}

TEST(Schedule, KnowsHowManyPhasesAreDoneAndPlanned) {
  Plan plan = plan_of({times(2), {1, 4, 0.5}});
  plan.cases[0].warmup = 1;
  Schedule schedule(plan);
  EXPECT_EQ(schedule.planned_phases(), 2U * (3 + 4));
  EXPECT_EQ(schedule.done_phases(), 0U);
  run_all(schedule, steady);  // the second case has enough after two repetitions
  EXPECT_EQ(schedule.done_phases(), 2U * (3 + 2));
  EXPECT_EQ(schedule.planned_phases(), schedule.done_phases());
}

TEST(Schedule, PhasesOfAFailedCaseAreNoLongerPlanned) {
  const Plan plan = plan_of({times(5), times(1)}, Interleave::none);
  Schedule schedule(plan);
  schedule.failed(*schedule.next());
  EXPECT_EQ(schedule.planned_phases(), 2U);
}

/// Runs a schedule to its end: a second case fails, others are steady or wild. Returns the record of all repetitions.
std::vector<EarlierRepetition> record_all(Schedule& schedule) {
  std::vector<EarlierRepetition> record;
  while (const auto turn = schedule.next()) {
    const bool fails = turn->case_index == 1 && turn->repetition == 1;
    record.push_back({turn->case_index + 1, turn->repetition, 1, fails, {{"write", wild(*turn)}}});
    if (turn->case_index == 2) record.back().rates["write"] = 100;
    if (fails) schedule.failed(*turn);
    else schedule.finished(*turn, record.back().rates);
  }
  return record;
}
std::vector<std::pair<std::uint64_t, std::uint64_t>> order_of(const std::vector<EarlierRepetition>& record) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> order;
  for (const EarlierRepetition& each : record) order.emplace_back(each.case_number, each.repetition);
  return order;
}

TEST(ResumedSchedule, ContinuesAsIfItHadNotBeenCutAnywhere) {
  for (const Interleave interleave : {Interleave::random, Interleave::none}) {
    Plan plan = plan_of({times(3), times(5), {2, 9, 0.05}, {2, 7, 0.05}}, interleave);
    plan.cases[3].warmup = 1;
    Schedule whole(plan);
    const std::vector<EarlierRepetition> all = record_all(whole);
    for (std::size_t cut = 0; cut <= all.size(); ++cut) {
      std::vector<EarlierRepetition> record(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(cut));
      Schedule resumed(plan);
      resumed.resume(record, 0);
      const std::vector<EarlierRepetition> rest = record_all(resumed);
      record.insert(record.end(), rest.begin(), rest.end());
      EXPECT_EQ(order_of(record), order_of(all)) << "cut after " << cut << " repetitions";
      EXPECT_EQ(resumed.done_phases(), whole.done_phases());
    }
  }
}

TEST(ResumedSchedule, BeginsWithWhatATimeLimitLeftOut) {
  Plan plan = plan_of({times(4), times(4)});
  plan.time_limit_s = 24;
  Schedule cut(plan);
  std::vector<EarlierRepetition> record;
  std::size_t counts[] = {0, 0};
  double now_s = 0;
  while (const auto turn = cut.next(now_s)) {
    const double took_s = turn->case_index == 0 ? 1 : 9;
    now_s += took_s;
    record.push_back({turn->case_index + 1, turn->repetition, took_s, false, {{"write", 1.0}}});
    cut.finished(*turn, record.back().rates);
    ++counts[turn->case_index];
  }
  ASSERT_EQ(counts[0], 4U) << "those that end in time are measured";
  ASSERT_LT(counts[1], 4U);
  Schedule resumed(plan);
  resumed.resume(record, 0);
  std::vector<std::uint64_t> rest;
  while (const auto turn = resumed.next(0)) {
    EXPECT_EQ(turn->case_index, 1U);
    rest.push_back(turn->repetition);
    resumed.finished(*turn, {{"write", 1.0}});
  }
  EXPECT_EQ(rest.size(), 4 - counts[1]);
  EXPECT_EQ(rest.front(), counts[1]);
}

TEST(ResumedSchedule, KnowsFromTheRecordHowLongARepetitionTakes) {
  const Plan plan = plan_of({times(4)});
  Schedule resumed(plan);
  resumed.resume({{1, 0, 30, false, {{"write", 1.0}}}}, 20);
  EXPECT_FALSE(resumed.next(0)) << "30 s do not fit into the 20 s that are left";
}

TEST(ResumedSchedule, RefusesTheRecordOfAnotherPlan) {
  const Plan plan = plan_of({times(2), times(2)});
  const auto resume = [&](const std::vector<EarlierRepetition>& record) { Schedule(plan).resume(record, 0); };
  EXPECT_THROW(resume({{3, 0, 1, false, {}}}), InputError) << "no such case";
  EXPECT_THROW(resume({{1, 1, 1, false, {}}}), InputError) << "the first repetition is missing";
  EXPECT_THROW(resume({{1, 0, 1, false, {}}, {1, 1, 1, false, {}}, {1, 2, 1, false, {}}}), InputError) << "too many";
  EXPECT_THROW(resume({{1, 0, 1, true, {}}, {1, 1, 1, false, {}}}), InputError) << "its case had failed";
}

// Student's t for 97.5 %: 12.706 (1 degree of freedom), 2.776 (4), 2.045 (29), 1.984 (99).
TEST(RelativeHalfWidth, AgreesWithTables) {
  const auto powers = [](const std::vector<double>& logs) {
    std::vector<double> values;
    for (const double each : logs) values.push_back(700 * std::exp(each));
    return values;
  };
  EXPECT_NEAR(relative_half_width(powers({-0.1, 0.1})), std::expm1(12.706 * 0.1), 1e-9);
  EXPECT_NEAR(relative_half_width(powers({-0.2, -0.1, 0, 0.1, 0.2})), std::expm1(2.776 * 0.1 * std::sqrt(2.5 / 5)),
              1e-9);
  const auto alternating = [&](int n) {
    std::vector<double> logs;
    for (int i = 0; i < n; ++i) logs.push_back(i % 2 == 0 ? -0.05 : 0.05);
    return powers(logs);
  };
  EXPECT_NEAR(relative_half_width(alternating(30)), std::expm1(2.045 * 0.05 * std::sqrt(1.0 / 29)), 1e-5);
  EXPECT_NEAR(relative_half_width(alternating(100)), std::expm1(1.984 * 0.05 * std::sqrt(1.0 / 99)), 1e-5);
}

TEST(RelativeHalfWidth, IsInfiniteWhereAValueIsNotAboveZero) {
  EXPECT_TRUE(std::isinf(relative_half_width({7, 0, 7})));
}

TEST(RelativeHalfWidth, OfEqualValuesIsZeroAndOfOneIsInfinite) {
  EXPECT_EQ(relative_half_width({7, 7, 7}), 0);
  EXPECT_TRUE(std::isinf(relative_half_width({7})));
  EXPECT_TRUE(std::isinf(relative_half_width({})));
}

}  // namespace
}  // namespace strider
