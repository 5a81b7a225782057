#include "repetitions/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "foundation/error.hpp"
#include "foundation/student.hpp"

namespace strider {
double relative_half_width(const std::vector<double>& values) {
  if (values.size() < 2) return std::numeric_limits<double>::infinity();
  if (std::any_of(values.begin(), values.end(), [](double value) { return value <= 0; }))
    return std::numeric_limits<double>::infinity();
  const auto n = static_cast<double>(values.size());
  std::vector<double> logs(values.size());
  std::transform(values.begin(), values.end(), logs.begin(), [](double value) { return std::log(value); });
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
  double squares = 0;
  for (const double value : logs) squares += (value - mean) * (value - mean);
  return std::expm1(t_975(values.size() - 1) * std::sqrt(squares / (n - 1) / n));
}

Schedule::Schedule(const Plan& plan)
    : plan_(plan), time_limit_s_(plan.time_limit_s), random_(plan.seed), states_(plan.cases.size()) {
  std::map<std::uint64_t, std::size_t> firsts;
  for (std::size_t index = 0; index < states_.size(); ++index) {
    const Case& test = plan.cases[index];
    std::size_t first = index;
    if (test.turn > 0) first = firsts.try_emplace(test.turn, index).first->second;
    states_[first].phases += test.operations.size();
    states_[index].closed = states_[index].follows = first != index;
  }
  begin_round();
}

void Schedule::resume(const std::vector<EarlierRepetition>& earlier, double time_limit_s) {
  time_limit_s_ = time_limit_s;
  for (const EarlierRepetition& repetition : earlier) take(repetition);
}

void Schedule::take(const EarlierRepetition& earlier) {
  const auto found = std::find_if(plan_.cases.begin(), plan_.cases.end(),
                                  [&](const Case& test) { return test.number == earlier.case_number; });
  const auto index = static_cast<std::size_t>(found - plan_.cases.begin());
  if (found != plan_.cases.end() && states_[index].follows) return;
  const bool planned = found != plan_.cases.end() && states_[index].repetitions_done == earlier.repetition;
  if (!planned || !move_to_turn(index))
    throw InputError("earlier",
                     "repetition " + std::to_string(earlier.repetition) + " of case " +
                         std::to_string(earlier.case_number) + " is not the next one of this plan",
                     "the plan or the events of the run were changed: start a new run");
  states_[index].took_s += earlier.elapsed_s;
  const ScheduledRepetition done{index, earlier.repetition};
  if (earlier.failed) failed(done);
  else finished(done, earlier.rates);
}

bool Schedule::move_to_turn(std::size_t case_index) {
  for (int round = 0; round < 2; ++round) {
    const auto found = std::find(round_.begin(), round_.end(), case_index);
    if (found != round_.end()) {
      // Those before it were left out by a time limit: their turn is still to come.
      std::rotate(found, found + 1, round_.end());
      return true;
    }
    round_.clear();
    begin_round();
  }
  return false;
}

void Schedule::begin_round() {
  for (std::size_t i = plan_.cases.size(); i-- > 0;)
    if (!states_[i].closed) round_.push_back(i);
  // The generator's output is fixed by the standard, std::shuffle's use of it is not: shuffle by hand.
  if (plan_.interleave == Interleave::random)
    for (std::size_t i = round_.size(); i > 1; --i) std::swap(round_[i - 1], round_[random_() % i]);
}

std::optional<ScheduledRepetition> Schedule::next(double elapsed_s) {
  if (turn_) states_[turn_->case_index].took_s += elapsed_s - turn_->began_s;
  turn_.reset();
  if (round_.empty()) begin_round();
  if (time_limit_s_ > 0) leave_out_what_ends_after(time_limit_s_, elapsed_s);
  if (round_.empty()) return std::nullopt;
  turn_ = Turn{round_.back(), elapsed_s};
  return ScheduledRepetition{round_.back(), states_[round_.back()].repetitions_done};
}

void Schedule::leave_out_what_ends_after(double limit_s, double elapsed_s) {
  const auto ends_late = [&](std::size_t index) {
    const State& state = states_[index];
    const auto done = static_cast<double>(std::max<std::uint64_t>(state.repetitions_done, 1));
    return elapsed_s + state.took_s / done > limit_s;
  };
  round_.erase(std::remove_if(round_.begin(), round_.end(), ends_late), round_.end());
}

bool Schedule::enough(std::size_t case_index) const {
  const Case& test = plan_.cases[case_index];
  const State& state = states_[case_index];
  if (state.repetitions_done >= test.warmup + test.repetitions.maximum) return true;
  if (state.repetitions_done < test.warmup + test.repetitions.minimum || test.repetitions.until <= 0) return false;
  return std::all_of(state.rates.begin(), state.rates.end(),
                     [&](const auto& entry) { return relative_half_width(entry.second) <= test.repetitions.until; });
}

void Schedule::finished(const ScheduledRepetition& done, const std::map<std::string, double>& rates) {
  State& state = states_[done.case_index];
  const Case& test = plan_.cases[done.case_index];
  if (done.repetition >= test.warmup)
    for (const auto& [operation, rate] : rates) state.rates[operation].push_back(rate);
  ++state.repetitions_done;
  done_phases_ += state.phases;
  state.closed = enough(done.case_index);
  // Without interleaving the case stays at hand until it is done.
  if (state.closed || plan_.interleave == Interleave::random) round_.pop_back();
}

void Schedule::leave_out(std::size_t case_index) {
  states_[case_index].closed = true;
  std::erase(round_, case_index);
}

void Schedule::failed(const ScheduledRepetition& done) {
  states_[done.case_index].closed = true;
  round_.pop_back();
}

std::uint64_t Schedule::planned_phases() const {
  std::uint64_t phases = done_phases_;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Case& test = plan_.cases[i];
    if (!states_[i].closed)
      phases += (test.warmup + test.repetitions.maximum - states_[i].repetitions_done) * states_[i].phases;
  }
  return phases;
}

}  // namespace strider
