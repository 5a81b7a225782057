#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace strider {

/// One repetition of one case, and of those that run at the same time.
struct ScheduledRepetition {
  std::size_t case_index = 0;    ///< of cases that run at the same time: of the first one
  std::uint64_t repetition = 0;  ///< warm-ups counted first
};

/// A repetition that an earlier start of the run has completed.
struct EarlierRepetition {
  std::uint64_t case_number = 0;
  std::uint64_t repetition = 0;
  double elapsed_s = 0;
  bool failed = false;  ///< and with it its case
  std::map<std::string, double> rates;
};

/// The order in which repetitions are executed, and when a case has had enough of them. Cases that run at the same time
/// have their turns as one, which is that of the first of them. No MPI, no I/O.
class Schedule {
 public:
  explicit Schedule(const Plan& plan);
  /// Continues after earlier starts of the run, as if it had not been cut: in the same order, with the rates so far.
  /// `time_limit_s` replaces that of the plan. Throws InputError if the repetitions are not those of this plan.
  void resume(const std::vector<EarlierRepetition>& earlier, double time_limit_s);
  /// The next repetition, or nothing when all cases are done or when none of this round would end within the plan's
  /// time limit, judged by the mean repetition of its case so far. `elapsed_s`: since the start of the ranks.
  std::optional<ScheduledRepetition> next(double elapsed_s = 0);
  /// Takes the result of a repetition: the rate of each measured operation, in any unit.
  void finished(const ScheduledRepetition& done, const std::map<std::string, double>& rates);
  /// The case cannot begin.
  void leave_out(std::size_t case_index);
  /// The case cannot be continued.
  void failed(const ScheduledRepetition& done);

  std::uint64_t done_phases() const { return done_phases_; }
  /// Phases that are still to come at most, and those done.
  std::uint64_t planned_phases() const;

 private:
  struct State {
    std::uint64_t repetitions_done = 0;
    bool closed = false;
    bool follows = false;    ///< the turns of an earlier case
    std::size_t phases = 0;  ///< of a repetition
    double took_s = 0;       ///< all its repetitions
    std::map<std::string, std::vector<double>> rates;
  };
  bool enough(std::size_t case_index) const;
  void begin_round();
  void take(const EarlierRepetition& earlier);
  bool move_to_turn(std::size_t case_index);
  void leave_out_what_ends_after(double limit_s, double elapsed_s);

  const Plan& plan_;
  double time_limit_s_;
  std::mt19937_64 random_;
  std::vector<State> states_;
  std::vector<std::size_t> round_;  ///< cases left in this round, last first
  std::uint64_t done_phases_ = 0;
  struct Turn {
    std::size_t case_index = 0;
    double began_s = 0;
  };
  std::optional<Turn> turn_;  ///< the last one
};

/// How far the 95 % interval of the geometric mean (Student's t on the logarithms) reaches above it, as a share of it.
/// Infinite for fewer than two values, and if a value is not above zero.
double relative_half_width(const std::vector<double>& values);

}  // namespace strider
