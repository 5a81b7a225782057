#include "runner/case_runner.hpp"

#include <algorithm>

#include "runner/cache_preparation.hpp"
#include "runner/slices.hpp"
#include "runner/turn.hpp"

namespace strider {
namespace {

constexpr std::uint64_t page_bytes = 4096;

std::uint64_t total_bytes(const Pattern& pattern, const Seating& seating, std::uint32_t clients, Operation operation) {
  std::uint64_t bytes = 0;
  for (std::uint32_t rank = 0; rank < clients; ++rank)
    bytes += pattern.bytes(seating.seat(rank).place, role_of(operation));
  return bytes;
}

std::uint64_t total_requests(const Pattern& pattern, const Seating& seating, std::uint32_t clients,
                             Operation operation) {
  std::uint64_t requests = 0;
  for (std::uint32_t rank = 0; rank < clients; ++rank)
    requests += pattern.requests(seating.seat(rank).place, role_of(operation));
  return requests;
}

class TurnRunner {
 public:
  TurnRunner(RunContext& context, const Case& test, std::uint64_t repetition, MPI_Comm communicator,
             const Schedule& schedule)
      : context_(context),
        test_(test),
        repetition_(repetition),
        communicator_(communicator),
        rank_(rank_in(communicator)),
        schedule_(schedule),
        pattern_(make_pattern_of(test)),
        interface_(test.interface->make(test.interface_settings)),
        seating_(test.sharing, test.clients, nodes()),
        slices_(*pattern_),
        prepares_(test.operations.front() != Operation::write && test.interface->capabilities.storage),
        slot_bytes_((memory_bytes() + page_bytes - 1) / page_bytes * page_bytes),
        buffer_(std::max(slot_bytes_ * test.depth, prepares_ ? slices_.request_bytes(test_.clients) : 0)),
        generation_(repetition * generations_per_repetition) {
    // The plan was checked for the nodes it names; these are the ones it got.
    for (std::uint64_t file = 0; file < seating_.files(); ++file) pattern_->check(seating_.ranks_of(file));
    // What is written where nothing is verified: noise that differs between runs and ranks.
    FileData({context.data_seed, test.workload, rank_, repetition}).fill(buffer_.get(), 0);
  }

  TurnOutcome run() {
    if (rank_ == 0) context_.events->case_begins(name_of_phase(""));
    TurnOutcome outcome;
    const auto refused = attempt([&] { interface_->connect(context_.directory); });
    outcome.failed = share_error(context_, communicator_, name_of_phase("connect"), refused);
    if (outcome.failed) return outcome;
    if (prepares_) step(Operation::prefill, slices_, outcome);
    std::uint64_t phase = 0;
    for (const Operation operation : test_.operations) {
      prepare_cache(operation, outcome, phase);
      if (outcome.failed || outcome.interrupted) break;
      step(operation, *pattern_, outcome, phase++);
    }
    remove_files(outcome);
    return outcome;
  }

 private:
  std::vector<std::uint32_t> nodes() {
    if (test_.sharing.kind == SharingKind::per_node) return nodes_of(communicator_, context_.nodes);
    return {};
  }

  /// Of this rank's own requests and of those whose data it reads.
  std::uint64_t memory_bytes() const {
    const std::uint32_t reads_as = readback_rank(test_, rank_, repetition_);
    return std::max(pattern_->memory_bytes(seating_.seat(rank_).place),
                    pattern_->memory_bytes(seating_.seat(reads_as).place));
  }

  PhaseName name_of_phase(std::string operation) const {
    return {test_.number, repetition_, repetition_ < test_.warmup, std::move(operation)};
  }

  /// What the case's cache policy wants done before a phase that reads.
  void prepare_cache(Operation operation, TurnOutcome& outcome, std::uint64_t phase) {
    cache_.reset();
    const bool applies = test_.interface->capabilities.storage && reads(operation) && !outcome.failed;
    if (!applies || outcome.interrupted || test_.cache == CachePolicy::as_is) return;
    if (test_.cache == CachePolicy::warm) step(Operation::read, *pattern_, outcome, phase, Purpose::preparation);
    if (outcome.failed || outcome.interrupted) return;
    if (test_.interface->capabilities.own_client) {
      cache_ = {test_.cache == CachePolicy::cold ? "cold" : "warm",
                "nothing that can be seen: the interface brings a client of its own", std::nullopt, ""};
      return;
    }
    const FilesOfRank files(test_, seating_, nodes_of(communicator_, context_.nodes), rank_, repetition_,
                            context_.directory);
    cache_ = test_.cache == CachePolicy::cold ? make_cold(context_, communicator_, files)
                                              : examine_warm(context_, communicator_, files);
  }

  using Purpose = PhaseTask::Purpose;
  void step(Operation operation, const Pattern& pattern, TurnOutcome& outcome, std::uint64_t phase = 0,
            Purpose purpose = Purpose::measurement) {
    TransferTask task;
    task.test = &test_;
    task.communicator = communicator_;
    task.operation = operation;
    const bool warms = purpose == Purpose::preparation && operation == Operation::read;
    task.name = name_of_phase(warms ? "preread" : std::string(name_of(operation)));
    task.purpose = operation == Operation::prefill ? Purpose::preparation : purpose;
    task.cache = cache_;
    // Files are prepared in large pieces, one at a time.
    if (operation != Operation::prefill) task.depth = test_.depth;
    task.slot_bytes = operation == Operation::prefill ? buffer_.get().size() : slot_bytes_;
    task.pattern = &pattern;
    task.interface = interface_.get();
    task.seating = &seating_;
    task.order = operation == Operation::prefill ? OrderKind::forward : test_.order;
    task.memory = buffer_.get();
    task.request_limit = operation == Operation::prefill ? ~std::uint64_t{0} : available_;
    task.expected_generation = generation_;
    task.written_generation = operation == Operation::prefill ? generation_ : generation_ + 1;
    task.nodes = context_.nodes.count_of_first(test_.clients);
    task.files = seating_.files();
    task.total_bytes = total_bytes(pattern, seating_, test_.clients, operation);
    task.total_requests = total_requests(pattern, seating_, test_.clients, operation);
    task.done_phases = schedule_.done_phases() + phase;
    task.planned_phases = schedule_.planned_phases();
    const PhaseOutcome result = run_phase(context_, task);
    if (operation != Operation::prefill && writes(operation)) ++generation_;
    // After a phase that its deadline cut short, only what every rank has done is there for the next ones.
    available_ = std::min(available_, result.completed_requests);
    outcome.failed = outcome.failed || result.failed;
    outcome.interrupted = outcome.interrupted || result.interrupted;
    if (rank_ == 0 && task.purpose == Purpose::measurement && result.valid) outcome.rates[task.name.operation] = result.rate;
  }

  /// Removes this rank's files; a file that stays would make the next repetition's write a rewrite, so all ranks hear
  /// of it.
  void remove_files(TurnOutcome& outcome) {
    if (!test_.interface->capabilities.storage) return;
    const Seat seat = seating_.seat(rank_);
    const auto error = attempt([&] {
      if (seat.place.rank == 0) interface_->remove(context_.directory + "/" + file_name(test_.number, seat.file));
    });
    if (share_error(context_, communicator_, name_of_phase("remove"), error)) outcome.failed = true;
  }

  RunContext& context_;
  const Case& test_;
  std::uint64_t repetition_;
  MPI_Comm communicator_;
  std::uint32_t rank_;
  const Schedule& schedule_;
  std::unique_ptr<Pattern> pattern_;
  std::unique_ptr<Interface> interface_;
  Seating seating_;
  Slices slices_;
  bool prepares_;
  std::uint64_t slot_bytes_;  ///< memory of a request
  Buffer buffer_;
  std::uint64_t generation_;
  std::uint64_t available_ = ~std::uint64_t{0};
  std::optional<Sample::CachePreparation> cache_;  ///< for the phase to come
};

}  // namespace

TurnOutcome run_turn(RunContext& context, const Case& test, std::uint64_t repetition, MPI_Comm communicator,
                     const Schedule& schedule) {
  if (test.tree != nullptr) return run_tree_turn(context, test, repetition, communicator, schedule);
  return TurnRunner(context, test, repetition, communicator, schedule).run();
}

}  // namespace strider
