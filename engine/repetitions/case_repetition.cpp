#include "repetitions/case_repetition.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "interfaces/own_folder.hpp"
#include "ranks/exchange.hpp"
#include "reports/outside.hpp"

namespace strider {
namespace {

constexpr int shared_error_tag = 915;

}  // namespace

Buffer::Buffer(std::uint64_t bytes) : bytes_(std::max<std::uint64_t>(bytes, 1)) {
  memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
}

Buffer::~Buffer() { ::munmap(memory_, bytes_); }

std::uint32_t rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return static_cast<std::uint32_t>(rank);
}

CaseRepetition::CaseRepetition(RunContext& context, const RepetitionTask& task)
    : context_(context),
      test_(task.test),
      repetition_(task.repetition),
      communicator_(task.communicator),
      meeting_(task.meeting),
      rank_(rank_in(task.communicator)),
      interface_(test_.interface->make(test_.interface_settings)),
      assignments_(test_.sharing, test_.clients, context.nodes.of_rank),
      progress_(task.progress) {
  interface_->work_in(context.folder);
}

CaseRepetition::~CaseRepetition() {
  // Ranks without a part in the next case would keep the target from being unmounted.
  if (!context_.remount_command.empty() && context_.folder != nullptr) context_.folder->release();
}

void CaseRepetition::connect() {
  if (context_.folder != nullptr) context_.folder->check();
  interface_->connect(context_.directory);
}

bool CaseRepetition::may_measure(RepetitionOutcome& outcome) {
  if (meeting_ == nullptr || meeting_->has_begun()) return true;
  const Meeting::State all = meeting_->begin(Meeting::State::ready, test_.start_s);
  if (all == Meeting::State::ready) return true;
  outcome.interrupted = all == Meeting::State::interrupted;
  outcome.failed = !outcome.interrupted;
  if (outcome.interrupted || rank_ != 0) return false;
  ErrorInfo info;
  info.kind = "group";
  info.message = "not measured: another group failed before the common start";
  info.remedy = "the first error of this repetition says why";
  context_.events->error(name_of_phase(""), info);
  return false;
}

void CaseRepetition::await_other_groups() const {
  if (meeting_ != nullptr && meeting_->has_begun()) meeting_->end();
}

void CaseRepetition::remove_own_folder(RepetitionOutcome& outcome) {
  auto* made = dynamic_cast<OwnFolder*>(interface_.get());
  if (made == nullptr) return;
  share("remove", {}, outcome);  // all ranks are done with it
  std::optional<IoError> refused;
  if (rank_ == 0) refused = attempt([&] { made->remove_own_folder(context_.directory); });
  share("remove", refused, outcome);
}

void CaseRepetition::complete(PhaseTask& task, Operation operation, const PhaseTotals& totals) const {
  task.test = &test_;
  task.communicator = communicator_;
  task.operation = operation;
  task.assignments = &assignments_;
  task.shares = shares_of(context_.nodes.of_rank);
  task.total_bytes = totals.bytes;
  task.total_requests = totals.requests;
  task.done_phases = progress_.done_phases;
  task.planned_phases = progress_.planned_phases;
}

void CaseRepetition::account(const PhaseTask& task, const PhaseOutcome& result, RepetitionOutcome& outcome) {
  outcome.failed = outcome.failed || result.failed;
  outcome.interrupted = outcome.interrupted || result.interrupted;
  if (task.purpose != PhaseTask::Purpose::measurement) return;
  ++progress_.done_phases;
  if (rank_ == 0 && result.valid) outcome.rates[task.name.operation] = result.rate;
}

void CaseRepetition::fill_with_noise(std::span<std::byte> memory) const {
  FileData({context_.data_seed, test_.workload, rank_, repetition_}).fill(memory, 0);
}

bool CaseRepetition::share(const char* step, const std::optional<IoError>& mine, RepetitionOutcome& outcome) {
  const WaitOptions waiting{.stall_timeout_s = context_.stall_timeout_s};
  const auto rank = static_cast<int>(rank_);
  constexpr int nobody = -1;
  int who = mine ? rank : nobody;
  all_reduce(std::span(&who, 1), MPI_MAX, communicator_, waiting);
  if (who == nobody) return false;
  outcome.failed = true;
  ErrorRecord record{};
  if (who == rank) record = describe_error(explained(*mine, context_), rank, context_.nodes.host);
  if (who == rank && rank != 0) send(std::span(&record, 1), 0, shared_error_tag, communicator_, waiting);
  if (rank != 0) return true;
  if (who != 0) receive(std::span(&record, 1), who, shared_error_tag, communicator_, waiting);
  context_.events->error(name_of_phase(step), info_of(record));
  return true;
}

}  // namespace strider
