#pragma once
#include <memory>

#include "foundation/pace.hpp"
#include "measure/milestones.hpp"
#include "ranks/alarm.hpp"
#include "ranks/waiting.hpp"
#include "reports/phase.hpp"
#include "reports/phase_report.hpp"

namespace strider {

/// A rank at work in a phase, whatever it works on: begins with the others, polls for errors of other ranks, reports.
class PhaseWorker : public Watch, public Agreement, public Attention {
 public:
  PhaseWorker(RunContext& context, const PhaseTask& task);
  PhaseOutcome run();

 protected:
  /// What has to be known of the other ranks before the phase begins.
  virtual void prepare() {}
  /// What the phase is about.
  virtual void execute() = 0;
  /// Goes on from where the deadline had stopped this rank, up to request `last`.
  virtual void catch_up(std::uint64_t last) = 0;
  /// What only the one who executed it knows; called before the report.
  virtual void complete(RankPart&) {}
  /// What can be looked at only when all ranks have come to their end, outside of the phase's time.
  virtual void inspect(RankPart&) {}

  bool go_on(const Tally& tally) override;
  Vote agree(Vote mine) override;
  void look() override;

  void note_error(const IoError& error);
  template <typename Step>
  void guarded(const Step& step) {
    try {
      step();
    } catch (const IoError& error) {
      note_error(error);
    } catch (const std::bad_alloc&) {
      note_error(IoError({"allocate", "", 0, 0, ENOMEM}));
    }
  }
  /// At the deadline: the most requests that any rank has done; nothing if the phase has to end. Every rank of the
  /// case takes part, also one that could do nothing.
  std::optional<std::uint64_t> most_requests();
  /// What was done at the deadline; then, if wanted, every rank completes as many requests as the fastest.
  void wear_out(std::uint64_t requests, WearOut wanted);
  /// When to stop, in timer ticks; 0 where the phase has no deadline and no runtime.
  std::uint64_t deadline_ticks() const;
  /// When counting begins, in timer ticks; 0: at once.
  std::uint64_t ramp_ticks() const;

  /// What holds this rank to its part of the case's rate, from 0 to 1, from now on.
  Pace pace(double part) const;
  RankPart::Arrivals arrivals_of(const Pace& pace) const;

  /// Adds mismatches of an open file to a rank's part: the first ones in full; the last of them counts the
  /// rest of all `count`.
  template <typename Mismatches, typename Describe>
  static void add_findings(RankPart& part, const Mismatches& first, std::uint64_t count, const File& file,
                           const Describe& describe) {
    for (const auto& mismatch : first) {
      part.findings.push_back(describe(mismatch));
      set_server(part.findings.back(), file.server_of(mismatch.file_offset));
    }
    if (!first.empty()) part.findings.back().count += count - first.size();
  }

  virtual bool limited() const;
  /// Whether the phase repeats its requests until its time is over.
  bool by_time() const { return is_by_time(task_); }
  bool failed() const { return !part_.errors.empty(); }
  bool ending() { return failed() || alarm_.raised(); }
  WaitOptions waiting() { return {.stall_timeout_s = context_.stall_timeout_s, .attention = this}; }
  /// For agree().
  virtual MPI_Comm agreeing() const { return task_.communicator; }
  /// The file that this rank will write; empty: none, or many.
  virtual std::string written_file() const { return {}; }

  RunContext& context_;
  const PhaseTask& task_;
  const Case& test_;
  int rank_ = 0;
  Alarm alarm_;
  std::unique_ptr<Tally> tally_ = std::make_unique<Tally>();
  RankPart part_;
  /// No part of the phase: waiting for the others at a deadline, when done oneself; asking a file for its facts.
  std::uint64_t untimed_ns_ = 0;
  std::uint64_t begin_ns_ = 0;

 private:
  void settle() const;
  void require_own_place() const;
  std::uint64_t ticks_at(std::uint64_t time_ns) const;
  /// `start_ns`: when the phase is to start, on this rank's clock.
  void begin_timeline(std::uint64_t start_ns);
  void report_progress(const Tally& tally);
  std::uint64_t amount(const Tally& tally) const { return task_.unit == Unit::bytes ? tally.bytes : tally.requests; }

  Milestones milestones_;
  bool interrupted_ = false;
  std::uint64_t next_progress_ns_ = 0;
};

inline double seconds_between(std::uint64_t begin_ns, std::uint64_t end_ns) {
  return static_cast<double>(end_ns - begin_ns) * 1e-9;
}

/// Executes a phase; a stall ends the run.
PhaseOutcome run_worker(RunContext& context, PhaseWorker& worker);

}  // namespace strider
