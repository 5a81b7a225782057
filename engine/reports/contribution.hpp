#pragma once
#include <mpi.h>

#include <cstdint>

#include "events/rows.hpp"
#include "events/sample.hpp"
#include "measure/counter_sources.hpp"
#include "measure/milestones.hpp"
#include "operations/transfer.hpp"
#include "ranks/clock_watch.hpp"
#include "reports/phase.hpp"
#include "reports/phase_report.hpp"
#include "reports/rank_distributions.hpp"

namespace strider {

/// When ranks began and ended, in seconds since the run's start, and how; all ranks learn it.
struct Ends {
  double first_begin_s, last_begin_s;
  double first_end_s, last_end_s, last_working_end_s;  ///< first, and working: of ranks with work
  double news_s;                                       ///< that a start takes to reach all
  double failed, interrupted;                          ///< 1: a rank is
  double fewest_capped_requests;                       ///< of ranks that did not do all they had
  RankQuantities bounds;                               ///< of the quantities of all ranks

  static constexpr auto figures() {
    return std::tuple{
        least_of(&Ends::first_begin_s), most_of(&Ends::last_begin_s),       least_of(&Ends::first_end_s),
        most_of(&Ends::last_end_s),     most_of(&Ends::last_working_end_s), most_of(&Ends::news_s),
        most_of(&Ends::failed),         most_of(&Ends::interrupted),        least_of(&Ends::fewest_capped_requests),
        most_of(&Ends::bounds)};
  }
  /// `first_end_s` and `last_working_end_s` where no rank had work.
  void complete();
};

/// Sums over ranks that are in no sample.
struct Aside {
  std::uint64_t uncounted_ranks = 0, working_ranks = 0;
  StorageTraffic traffic;

  static constexpr auto figures() {
    return std::tuple{summed(&Aside::uncounted_ranks), summed(&Aside::working_ranks), within(&Aside::traffic)};
  }
};

/// A time of a phase without its ramp.
double counted_s(const PhaseTask& task, double seconds);

/// What one rank brings to the report of a phase.
class Contribution {
 public:
  Contribution(const RunContext& context, const PhaseTask& task, const ClockWatch& clocks, const RankResult& of)
      : context_(context),
        task_(task),
        clocks_(clocks),
        rank_(of.rank),
        part_(of.part),
        tally_(of.tally),
        milestones_(of.milestones) {}

  /// Whether this rank has anything to do in the phase; one that has not says nothing about rates.
  bool works() const { return part_.had_requests > 0; }
  Ends ends() const;
  RankRow row() const;
  Aside aside() const {
    return {.uncounted_ranks = part_.calls ? 0U : 1U, .working_ranks = works() ? 1U : 0U, .traffic = {}};
  }
  /// Sets a sample to what this rank brings, but its counts. Every rank has the same optional records in it. `all`: of
  /// all ranks.
  void set(Sample& sample, const Ends& all) const;
  /// Adds the counts of this rank to a sample of this rank, or of this one and others.
  void count_in(Sample& sample, const Ends& all) const;

 private:
  double since_origin_s(std::uint64_t ns) const;
  std::uint64_t on_my_clock_ns(double instant_s) const;
  double rate() const;
  RankQuantities values_from(double start_s) const;
  void set_optional_records(Sample& sample) const;

  const RunContext& context_;
  const PhaseTask& task_;
  const ClockWatch& clocks_;
  int rank_;
  const RankPart& part_;
  const Tally& tally_;
  const Milestones& milestones_;
};

}  // namespace strider
