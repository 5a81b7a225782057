#include "runner/runner.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <span>
#include <thread>

#include "ceilings/ceilings.hpp"
#include "foundation/clock.hpp"
#include "foundation/error.hpp"
#include "plan/case_ranks.hpp"
#include "ranks/communicators.hpp"
#include "ranks/exchange.hpp"
#include "ranks/interrupt.hpp"
#include "repetitions/case_repetition.hpp"
#include "repetitions/case_runner.hpp"
#include "repetitions/schedule.hpp"
#include "repetitions/simulated_repetition.hpp"
#include "reports/per_rank_file.hpp"
#include "runner/announcement.hpp"
#include "runner/earlier_starts.hpp"
#include "runner/plan_agreement.hpp"
#include "runner/progress_relay.hpp"
#include "runner/run_watch.hpp"
#include "runner/shared_plan.hpp"
#include "runner/workplaces.hpp"

namespace strider {
namespace {

constexpr std::chrono::seconds time_for_rank_0{10};
constexpr std::chrono::seconds time_for_others{5};
constexpr int most_ranks_that_tell = 128;
constexpr int report_tag = 920;
constexpr std::uint32_t simulated_ranks_per_node = 64;  ///< where the plan does not say

/// MPI from start to end.
class MpiSession {
 public:
  MpiSession() {
    int provided = 0;  // interfaces may have threads, which make no MPI calls
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession() { MPI_Finalize(); }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

 private:
  int rank_ = 0, ranks_ = 1;
};

/// The next repetition, which rank 0 broadcasts; a negative case_index ends the run.
struct Command {
  std::int64_t case_index = -1;
  std::uint64_t repetition = 0;
  std::uint64_t number = 0;  ///< of the repetition in the run
  RunProgress progress;
};

/// Phases of a repetition, prepared files included, are numbered from Command::number * this.
constexpr std::uint64_t phases_per_repetition = 512;

class Runner {
 public:
  Runner(const MpiSession& session, SharedPlan& plan, const RunOptions& options)
      : session_(session),
        shared_plan_(plan),
        plan_(plan.plan()),
        events_(session.rank() == 0 ? options.events : ""),
        schedule_(plan_),
        places_(options) {
    places_.enter_target(context_);
    context_.confined = is_confined(options.confinement);
    if (context_.confined) context_.errands = options.confinement.errands;
    context_.data_seed = options.data_seed;
    context_.stall_timeout_s = plan_.stall_timeout_s;
    context_.counters = options.counters;
    context_.processes = options.processes;
    ceilings_ = options.ceilings;
    context_.timelines = options.timelines;
    context_.remount_command = options.remount_command;
    if (options.simulated_ranks > 0) simulate();
    context_.events = &events_;
    context_.stalled = [this](const StallError& error) { stalled(error); };
    began_ns_ = events_.origin_ns();
    if (session.rank() == 0 && !options.earlier.empty()) resume(read_earlier_starts(options.earlier));
    context_.origin_ns = events_.origin_ns();
    broadcast(context_.origin_ns, MPI_COMM_WORLD, idle);
    origin_ns_ = context_.origin_ns;
    try {
      confinement_ = find_confinement(options.confinement, MPI_COMM_WORLD, {.stall_timeout_s = plan_.stall_timeout_s});
      discover_topology();
    } catch (const StallError& error) {
      if (session.rank() == 0) announce(options);  // as far as it is known: it is a run's first event
      stalled(error);
    }
    if (session.rank() == 0) announce(options);
    if (options.confinement.required && confinement_.state != "full") refuse_unconfined();
    else if (session.rank() == 0) refuse_other_nodes();
    refused_ = share_flag(refusal_.has_value());
    if (!refused_ && !options.per_rank.empty()) begin_per_rank(options);
    if (!refused_) watch(options);
  }

  RunResult run() {
    if (refused_) return refuse();
    try {
      if (session_.rank() == 0) refuse_cases();
      measure_ceilings_at(CeilingMoment::start);
      take_turns();
      context_.nodes = run_nodes_;
      use_clock_of(0);
      places_.enter_target(context_);
      measure_ceilings_at(CeilingMoment::end);
    } catch (const StallError& error) {
      stalled(error);
    }
    communicators_.free();
    const bool stopped = share_flag(interrupted_);
    const bool wrong = share_flag(events_.errors() > 0);
    if (session_.rank() == 0) events_.end(stopped ? "interrupted" : "complete");
    if (stopped) return RunResult::interrupted;
    return wrong ? RunResult::with_errors : RunResult::complete;
  }

 private:
  /// Of what this machine has, nothing is measured.
  void simulate() {
    simulated_.emplace();
    context_.counters = CounterScope::none;
    ceilings_ = CeilingScope::none;
  }

  Nodes nodes_of_run(const WaitOptions& waiting) const {
    if (!simulated_) return find_nodes(plan_.ranks_per_node, waiting);
    return simulated_nodes(plan_.ranks, plan_.ranks_per_node > 0 ? plan_.ranks_per_node : simulated_ranks_per_node);
  }

  void watch(const RunOptions& options) {
    RunWatch::Signs signs;
    if (session_.rank() == 0) signs.events_are_over = [this] { return events_.is_over(); };
    // A folder that strider run made is there until it removes it; a remount hides it for a while.
    const bool is_lasting = options.marker == RunFolder::Marker::required && options.remount_command.empty();
    if (is_lasting) signs.folder = options.directory;
    if (!is_lasting && session_.rank() != 0) return;
    watch_.emplace(std::move(signs), "rank " + std::to_string(session_.rank()) + " on " + context_.nodes.host);
  }

  /// Where the ranks are, and what their clocks show at first.
  void discover_topology() {
    const WaitOptions waiting{.stall_timeout_s = plan_.stall_timeout_s};
    run_nodes_ = nodes_of_run(waiting);
    context_.nodes = run_nodes_;
    ClockWatch clocks(context_.nodes, MPI_COMM_WORLD, waiting);
    clocks.compare();
    first_clocks_ = clocks.readings();
    broadcast(std::span(first_clocks_), MPI_COMM_WORLD, waiting);
    context_.first_clocks = first_clocks_;
    context_.starts = StartSignal(session_.ranks());
    for (std::size_t clock = 1; clock < context_.first_clocks.size() && session_.rank() == 0; ++clock) {
      const auto first = static_cast<std::size_t>(context_.nodes.first_of_clock[clock]);
      NodeInfo& node = run_nodes_.table[run_nodes_.of_rank[first]];
      node.clock_offset_s = context_.first_clocks[clock].offset_s;
      node.clock_error_s = context_.first_clocks[clock].error_s;
      const std::vector<double>& days_s = run_nodes_.time_of_day_of_rank_s;
      node.time_of_day_offset_s = days_s[first] - days_s[0] - node.clock_offset_s;
    }
  }

  void announce(const RunOptions& options) {
    RunInfo info = announcement(options, plan_.ranks, run_nodes_.table, context_.timer, confinement_);
    if (simulated_) info.timer = "simulated";
    events_.run(info);
  }

  /// On rank 0.
  void resume(const EarlierStarts& earlier) {
    events_.resume({.elapsed_s = earlier.elapsed_s, .samples = earlier.samples, .errors = earlier.errors});
    schedule_.resume(earlier.repetitions, earlier.time_limit_s);
    repetitions_ = earlier.repetitions.size();
    for (const EarlierRepetition& each : earlier.repetitions) complete_.emplace(each.case_number, each.repetition);
    earlier_nodes_ = earlier.nodes;
  }

  void refuse_unconfined() {
    refusal_.emplace();
    refusal_->message = "the confinement that this run requires is not in force: " + confinement_.missing;
    refusal_->remedy = "strider doctor shows what this machine supports; --confine auto runs without full confinement";
  }

  /// On rank 0.
  void refuse_other_nodes() {
    const std::string difference = difference_of_nodes(earlier_nodes_, run_nodes_.table);
    if (difference.empty()) return;
    refusal_.emplace();
    refusal_->message = "the ranks are not on the nodes of the earlier start: " + difference;
    refusal_->remedy = "start the ranks there, or resume with --anyway";
  }

  void begin_per_rank(const RunOptions& options) {
    per_rank_.emplace(options.per_rank, options.run, plan_.ranks);
    context_.per_rank = &*per_rank_;
    const auto complete = options.earlier.empty() ? std::nullopt : std::optional(complete_);
    try {
      refusal_ = per_rank_->begin(complete, run_nodes_, {.stall_timeout_s = plan_.stall_timeout_s});
    } catch (const StallError& error) {
      stalled(error);
    }
    refused_ = share_flag(refusal_.has_value());
  }

  /// On all ranks, after each turn.
  void write_per_rank(const PerRankFile::Turn& turn) {
    if (!per_rank_) return;
    const auto error = per_rank_->write(turn, {.stall_timeout_s = plan_.stall_timeout_s});
    if (error) events_.error({}, *error);
  }

  /// Before anything was touched.
  RunResult refuse() {
    if (session_.rank() == 0) {
      refusal_->kind = "plan";
      events_.error(context_.current, *refusal_);
      events_.end("failed");
    }
    return RunResult::failed;
  }

  void measure_ceilings_at(CeilingMoment moment) {
    if (ceilings_ == CeilingScope::none || share_flag(interrupted_)) return;
    const auto of = [this](const NumberRuns& ranks) { return communicators_.of(ranks); };
    interrupted_ = measure_ceilings(context_, plan_, moment, of);
    if (!context_.remount_command.empty()) places_.release_target();
  }

  void take_turns() {
    while (true) {
      Command command = next_command();
      broadcast(command, MPI_COMM_WORLD, idle);
      if (command.case_index < 0) return;
      communicators_.begin_turn();
      if (simulated_) {
        simulate_turn(command);
        continue;
      }
      const Turn turn = turn_of(command);
      const double begin_s = elapsed_s();
      TurnReport report;
      if (turn.mine) report = take_part(turn, command, begin_s);
      const std::vector<TurnReport> others = receive_others(turn);
      write_per_rank(
          {.cases = turn.cases.size(),
           .mine = turn.mine,
           .communicator = turn.mine ? communicators_.of(turn.case_ranks[*turn.mine]) : MPI_COMM_NULL,
           .end = report.outcome.interrupted ? PerRankFile::Turn::End::interrupted : PerRankFile::Turn::End::complete});
      if (session_.rank() == 0) conclude(turn, report, others, begin_s);
    }
  }

  /// Every process stands for some of the ranks of each case, so the cases of a turn are simulated one by one.
  void simulate_turn(const Command& command) {
    const auto first_case = static_cast<std::size_t>(command.case_index);
    const std::uint64_t repetition = command.repetition;
    const std::vector<Case>& cases = shared_plan_.begin_turn(first_case).cases;
    for (const Case& test : cases) {
      const double begin_s = elapsed_s();
      context_.nodes = run_nodes_.subset(case_ranks_.of(test, run_nodes_.of_rank), 0);
      context_.current = {test.number, repetition, repetition < test.warmup, ""};
      const RepetitionOutcome outcome =
          simulate_repetition(context_, {test, repetition, MPI_COMM_WORLD, nullptr, command.progress}, *simulated_);
      write_per_rank({.mine = 0, .communicator = MPI_COMM_WORLD});
      if (session_.rank() != 0) continue;
      if (&test == &cases.front()) schedule_.finished({first_case, repetition}, outcome.rates);
      end_repetition(test, repetition, outcome, false, begin_s);
    }
  }

  /// A repetition of cases that run at the same time.
  struct Turn {
    std::uint64_t repetition = 0;
    std::size_t first_case = 0;  ///< in the plan
    std::span<const Case> cases;
    std::vector<NumberRuns> case_ranks;  ///< of each
    std::optional<std::size_t> mine;     ///< the one in which this rank takes part
  };

  Turn turn_of(const Command& command) {
    Turn turn;
    turn.repetition = command.repetition;
    turn.first_case = static_cast<std::size_t>(command.case_index);
    turn.cases = shared_plan_.begin_turn(turn.first_case).cases;
    for (const Case& test : turn.cases) {
      turn.case_ranks.push_back(case_ranks_.of(test, run_nodes_.of_rank));
      if (place_in(turn.case_ranks.back())) turn.mine = turn.case_ranks.size() - 1;
    }
    return turn;
  }

  /// This rank's place in a case, if it takes part.
  std::optional<std::size_t> place_in(const NumberRuns& case_ranks) const {
    return case_ranks.find(static_cast<std::uint32_t>(session_.rank()));
  }

  /// What the first rank of a case has to say of it.
  struct TurnReport {
    RepetitionOutcome outcome;
    EventStream::Kept events;
    std::string end;  ///< of the repetition
  };

  TurnReport take_part(const Turn& turn, const Command& command, double begin_s) {
    const NumberRuns& case_ranks = turn.case_ranks[*turn.mine];
    const Case& test = turn.cases[*turn.mine];
    std::optional<Meeting> meeting;
    WaitOptions for_groups{};
    if (session_.rank() == 0) for_groups.attention = &relay_;
    if (turn.cases.size() > 1) meeting.emplace(communicators_.of(joined(turn.case_ranks)), for_groups);
    context_.nodes = run_nodes_.subset(case_ranks, *place_in(case_ranks));
    context_.next_phase = command.number * phases_per_repetition;
    context_.current = {test.number, command.repetition, command.repetition < test.warmup, ""};
    use_clock_of(case_ranks.front());
    const bool reports = case_ranks.front() == static_cast<std::uint32_t>(session_.rank()) && session_.rank() != 0;
    if (reports) events_.keep(context_.origin_ns, [this](std::string line) { relay_.send(std::move(line)); });
    TurnReport report;
    report.outcome = attempt_turn(
        {test, command.repetition, communicators_.of(case_ranks), meeting ? &*meeting : nullptr, command.progress});
    const bool stopped = report.outcome.interrupted;
    if (meeting) meeting->leave(stopped ? Meeting::State::interrupted : Meeting::State::failed);
    interrupted_ = interrupted_ || report.outcome.interrupted;
    if (!reports) return report;
    report.events = events_.take_kept();
    events_.keep(context_.origin_ns, nullptr);
    end_repetition(test, command.repetition, report.outcome, false, begin_s);
    report.end = events_.take_kept().lines;
    send_report(report, relay_.finish());
    return report;
  }

  static NumberRuns joined(const std::vector<NumberRuns>& case_ranks) {
    NumberRuns all;
    for (const NumberRuns& each : case_ranks) all.append(each);
    return all;
  }

  /// Times of phases are compared with the clock of their first rank, which rank 0's has been compared with.
  void use_clock_of(std::uint32_t rank) {
    const ClockReading own = first_clocks_[run_nodes_.clock_of_rank[rank]];
    context_.origin_ns = origin_ns_ - static_cast<std::int64_t>(own.offset_s * 1e9);
    context_.first_clocks = first_clocks_;
    for (ClockReading& each : context_.first_clocks) {
      each.offset_s -= own.offset_s;
      each.error_s += own.error_s;
    }
  }

  /// How a report travels to rank 0, before its lines.
  struct ReportHead {
    std::uint64_t bytes, end_bytes, samples, errors, progress;
    std::uint8_t failed, wrong, interrupted;
  };

  static void send_report(const TurnReport& report, std::uint64_t progress) {
    const auto& [outcome, events, end] = report;
    const ReportHead head{.bytes = events.lines.size(),
                          .end_bytes = end.size(),
                          .samples = events.samples,
                          .errors = events.errors,
                          .progress = progress,
                          .failed = outcome.failed,
                          .wrong = outcome.wrong,
                          .interrupted = outcome.interrupted};
    send(std::span(&head, 1), 0, report_tag, MPI_COMM_WORLD, idle);
    const std::string text = events.lines + end;
    send(std::span(text), 0, report_tag, MPI_COMM_WORLD, idle);
  }

  TurnReport receive_report(std::uint32_t rank) {
    ReportHead head{};
    const auto sender = static_cast<int>(rank);
    WaitOptions waiting = idle;
    waiting.attention = &relay_;
    receive(std::span(&head, 1), sender, report_tag, MPI_COMM_WORLD, waiting);
    relay_.take_all(sender, head.progress);
    TurnReport report;
    report.outcome.failed = head.failed != 0;
    report.outcome.wrong = head.wrong != 0;
    report.outcome.interrupted = head.interrupted != 0;
    std::string text(head.bytes + head.end_bytes, ' ');
    receive(std::span(text), sender, report_tag, MPI_COMM_WORLD, idle);
    report.events = {text.substr(0, head.bytes), head.samples, head.errors};
    report.end = text.substr(head.bytes);
    return report;
  }

  /// On rank 0: of the cases in which it took no part.
  std::vector<TurnReport> receive_others(const Turn& turn) {
    std::vector<TurnReport> others;
    for (std::size_t i = 0; i < turn.cases.size() && session_.rank() == 0; ++i)
      if (turn.mine != i) others.push_back(receive_report(turn.case_ranks[i].front()));
    return others;
  }

  /// On rank 0: cases that need more of the nodes than there is are not begun.
  void refuse_cases() {
    for (std::size_t index = 0; index < plan_.cases.size(); ++index) {
      const Case& test = plan_.cases[index];
      try {
        case_ranks_.of(test, run_nodes_.of_rank);
        refuse_remount(test);
      } catch (const InputError& error) {
        events_.error({test.number, 0, test.warmup > 0, ""}, plan_error(error));
        schedule_.leave_out(members_of_turn(plan_, index).front());
      }
    }
  }

  void refuse_remount(const Case& test) const {
    if (test.turn > 0 && test.cache == CachePolicy::cold && !context_.remount_command.empty())
      throw InputError("cache", "the target cannot be remounted while other groups use it",
                       "cache = \"as-is\", or a run without a remount command");
  }

  static ErrorInfo plan_error(const InputError& error) {
    ErrorInfo info;
    info.kind = "plan";
    info.message = error.what();
    info.remedy = error.remedy();
    return info;
  }

  /// On rank 0. Should the run be cut within what is written here, no sample counts twice: the repetition of the first
  /// case tells whether that of the others is done.
  void conclude(const Turn& turn, const TurnReport& mine, const std::vector<TurnReport>& others, double begin_s) {
    RepetitionOutcome all = mine.outcome;
    for (const TurnReport& other : others) {
      all.failed = all.failed || other.outcome.failed;
      all.wrong = all.wrong || other.outcome.wrong;
      all.interrupted = all.interrupted || other.outcome.interrupted;
    }
    interrupted_ = interrupted_ || all.interrupted;
    // What is once found wrong would be measured for nothing from now on.
    const ScheduledRepetition scheduled{turn.first_case, turn.repetition};
    if (all.failed || all.wrong || all.interrupted) schedule_.failed(scheduled);
    else schedule_.finished(scheduled, all.rates);
    // An interrupted turn is repeated as a whole.
    if (turn.mine && !all.interrupted)
      end_repetition(turn.cases[*turn.mine], turn.repetition, mine.outcome, all.failed || all.wrong, begin_s);
    for (const TurnReport& other : others) {
      events_.add(other.events);
      if (!all.interrupted) events_.add({.lines = other.end});
    }
  }

  /// `ends_case`: no further repetition begins.
  void end_repetition(const Case& test, std::uint64_t repetition, const RepetitionOutcome& outcome, bool ends_case,
                      double begin_s) {
    if (outcome.interrupted) return;
    events_.repetition_ends({test.number, repetition, repetition < test.warmup, ""},
                            {.elapsed_s = elapsed_s() - begin_s,
                             .failed = outcome.failed || outcome.wrong || ends_case,
                             .rates = outcome.rates});
  }

  /// A pattern that does not fit the nodes it got fails alike on all ranks.
  RepetitionOutcome attempt_turn(const RepetitionTask& task) {
    try {
      places_.enter(task.test, context_);
      return run_repetition(context_, task);
    } catch (const InputError& error) {
      const bool reports = rank_in(task.communicator) == 0;
      if (reports) events_.error(context_.current, plan_error(error));
      RepetitionOutcome outcome;
      outcome.failed = true;
      return outcome;
    }
  }

  Command next_command() {
    if (session_.rank() != 0) return {};
    if (interrupted()) interrupted_ = true;
    if (interrupted_) return {};
    const std::optional<ScheduledRepetition> next = schedule_.next(elapsed_s());
    if (!next) return {};
    return {static_cast<std::int64_t>(next->case_index),
            next->repetition,
            repetitions_++,
            {schedule_.done_phases(), schedule_.planned_phases()}};
  }

  /// Since the start of these ranks.
  double elapsed_s() const { return static_cast<double>(static_cast<std::int64_t>(monotonic_ns()) - began_ns_) * 1e-9; }

  /// Rank 0's flag, on all ranks.
  bool share_flag(bool flag) {
    broadcast(flag, MPI_COMM_WORLD, idle);
    return flag;
  }

  [[noreturn]] void stalled(const StallError& error) {
    ErrorInfo info;
    info.kind = "stall";
    info.rank = session_.rank();
    info.host = context_.nodes.host;
    info.message = error.what();
    info.remedy = "a rank hangs in I/O or is far slower than the others; raise stall_timeout if that is normal here";
    const auto tell = [&info](const std::string& more) {
      std::cerr << "strider-engine: rank " << info.rank << (info.host.empty() ? "" : " on ") << info.host << ' '
                << info.message << more << '\n';
    };
    if (session_.ranks() <= most_ranks_that_tell) tell("");  // those that do not are looked at first
    if (session_.rank() == 0) {
      events_.error(context_.current, info);
    } else if (events_.keeps()) {  // this rank reports for its group
      events_.error(context_.current, info);
      relay_.send_last(events_.take_kept().lines);
    }
    // Rank 0 most likely waits as well, and it is the one that reports.
    std::this_thread::sleep_for(session_.rank() == 0 ? time_for_others : time_for_rank_0);
    if (session_.rank() == 0) events_.end("failed");
    tell(": " + info.remedy);
    MPI_Abort(MPI_COMM_WORLD, 3);
    std::abort();
  }

  const MpiSession& session_;
  SharedPlan& shared_plan_;
  const Plan& plan_;  ///< with its cases on rank 0
  EventStream events_;
  Schedule schedule_;
  Workplaces places_;
  Confinement confinement_;
  std::optional<ErrorInfo> refusal_;  ///< on rank 0
  bool refused_ = false;
  ProgressRelay relay_{events_};
  RunContext context_;
  std::int64_t origin_ns_ = 0;              ///< start of the run on rank 0's clock
  std::vector<ClockReading> first_clocks_;  ///< as found at the start of the run, with rank 0's
  Nodes run_nodes_;
  KnownCaseRanks case_ranks_;
  CommunicatorCache communicators_{plan_.stall_timeout_s};
  std::int64_t began_ns_ = 0;
  std::vector<NodeInfo> earlier_nodes_;  ///< on rank 0
  PerRankFile::Repetitions complete_;    ///< on rank 0, of earlier starts
  std::optional<PerRankFile> per_rank_;
  std::uint64_t repetitions_ = 0;
  CeilingScope ceilings_ = CeilingScope::none;
  bool interrupted_ = false;
  std::optional<SimulatedTime> simulated_;  ///< where the ranks are
  std::optional<RunWatch> watch_;           ///< goes first: it looks at the events
};

bool fits_simulated(const MpiSession& session, const Plan& plan, std::uint32_t ranks) {
  const auto processes = static_cast<std::uint32_t>(session.ranks());
  bool few = std::ranges::all_of(plan.cases, [&](const Case& test) { return test.clients >= processes; });
  broadcast(few, MPI_COMM_WORLD, idle);  // rank 0 alone has the cases
  if (few && plan.ranks == ranks) return true;
  if (session.rank() == 0)
    std::cerr << "strider-engine: cannot simulate " << ranks << " ranks with " << processes
              << " processes of a plan for " << plan.ranks
              << " ranks: simulate as many as the plan has, with at most as many processes as the clients "
              << "of each case\n";
  return false;
}

bool fits(const MpiSession& session, const Plan& plan, std::uint32_t simulated_ranks) {
  if (simulated_ranks > 0) return fits_simulated(session, plan, simulated_ranks);
  if (static_cast<std::uint32_t>(session.ranks()) == plan.ranks) return true;
  if (session.rank() == 0)
    std::cerr << "strider-engine: the plan needs " << plan.ranks << " ranks but MPI started " << session.ranks()
              << ": use the mpiexec of the MPI library with which the engine was built, and -n " << plan.ranks << '\n';
  return false;
}

}  // namespace

RunResult run_plan(const RunOptions& options) {
  watch_for_interrupts();
  const MpiSession session;
  std::vector<PlanError> errors;
  SharedPlan plan(options.plan_file, errors);
  if (!agree_on_plan(errors, options)) return RunResult::bad_plan;
  if (!fits(session, plan.plan(), options.simulated_ranks)) return RunResult::failed;
  try {
    return Runner(session, plan, options).run();
  } catch (const std::exception& error) {
    std::cerr << "strider-engine: rank " << session.rank() << ": " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 3);
    return RunResult::failed;
  }
}

}  // namespace strider
