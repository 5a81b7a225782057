#pragma once
#include <optional>

#include "plan/totals.hpp"
#include "repetitions/case_runner.hpp"
#include "reports/error_record.hpp"

namespace strider {

/// Page-aligned memory, as direct I/O wants it, present before the clock starts.
class Buffer {
 public:
  explicit Buffer(std::uint64_t bytes);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();
  std::span<std::byte> get() const { return {static_cast<std::byte*>(memory_), bytes_}; }

 private:
  std::uint64_t bytes_;
  void* memory_;
};

std::uint32_t rank_in(MPI_Comm communicator);

/// Runs an action; returns the error of storage, if any.
template <typename Action>
std::optional<IoError> attempt(const Action& action) {
  try {
    action();
  } catch (const IoError& error) {
    return error;
  }
  return {};
}

/// A repetition of a case on its ranks: what cases of data and of metadata have in common.
class CaseRepetition {
 protected:
  CaseRepetition(RunContext& context, const RepetitionTask& task);
  CaseRepetition(const CaseRepetition&) = delete;
  CaseRepetition& operator=(const CaseRepetition&) = delete;
  ~CaseRepetition();
  /// Checks that the run's folder still exists, and connects to the storage. Throws IoError.
  void connect();
  PhaseName name_of_phase(std::string operation) const {
    return {test_.number, repetition_, repetition_ < test_.warmup, std::move(operation)};
  }
  /// Sets the fields of a task that all phases need; its name and purpose are set already.
  void complete(PhaseTask& task, Operation operation, const PhaseTotals& totals) const;
  /// Adds the result of a phase to that of the repetition.
  void account(const PhaseTask& task, const PhaseOutcome& result, RepetitionOutcome& outcome);
  /// Before a measured phase: all groups begin to measure at the same time. Whether this one may.
  bool may_measure(RepetitionOutcome& outcome);
  /// Before files are removed or checked.
  void await_other_groups() const;
  /// Removes the run's folder in a file system that is not mounted on the target, when all ranks are done with it.
  void remove_own_folder(RepetitionOutcome& outcome);
  /// Returns, on all ranks, whether any rank has an error; rank 0 reports one of these errors.
  bool share(const char* step, const std::optional<IoError>& mine, RepetitionOutcome& outcome);
  /// Fills memory with noise that differs between runs and ranks: the data of cases that are not verified.
  void fill_with_noise(std::span<std::byte> memory) const;

  RunContext& context_;
  const Case& test_;
  std::uint64_t repetition_;
  MPI_Comm communicator_;
  Meeting* meeting_;
  std::uint32_t rank_;
  std::unique_ptr<Interface> interface_;
  FileAssignments assignments_;
  RunProgress progress_;
};

}  // namespace strider
