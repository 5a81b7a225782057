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

/// What storage has against an action.
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
class TurnOfCase {
 protected:
  TurnOfCase(RunContext& context, const Case& test, std::uint64_t repetition, MPI_Comm communicator,
             const Schedule& schedule);
  TurnOfCase(const TurnOfCase&) = delete;
  TurnOfCase& operator=(const TurnOfCase&) = delete;
  ~TurnOfCase();
  /// Sees that the run's folder is where it was, and reaches the storage behind it. Throws IoError.
  void connect();
  PhaseName name_of_phase(std::string operation) const {
    return {test_.number, repetition_, repetition_ < test_.warmup, std::move(operation)};
  }
  /// Tells a task what every phase has to know; its name and purpose are set already.
  void complete(PhaseTask& task, Operation operation, const PhaseTotals& totals) const;
  /// What has become of a phase.
  void account(const PhaseTask& task, const PhaseOutcome& result, TurnOutcome& outcome);
  /// Tells all ranks whether one of them has an error; rank 0 reports one of these errors. Returns that there is one.
  bool share(const char* step, const std::optional<IoError>& mine, TurnOutcome& outcome);
  /// What is written where nothing is verified: noise that differs between runs and ranks.
  void fill_with_noise(std::span<std::byte> memory) const;

  RunContext& context_;
  const Case& test_;
  std::uint64_t repetition_;
  MPI_Comm communicator_;
  std::uint32_t rank_;
  const Schedule& schedule_;
  std::unique_ptr<Interface> interface_;
  Seating seating_;
  std::uint64_t done_phases_ = 0;  ///< measured ones
};

}  // namespace strider
