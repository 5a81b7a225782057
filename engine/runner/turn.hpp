#pragma once
#include <optional>

#include "runner/error_record.hpp"
#include "runner/phase.hpp"

namespace strider {

/// Generations of contents that a repetition may write: one for each of its phases, and what was prepared.
constexpr std::uint64_t generations_per_repetition = 512;

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

/// Tells all ranks of the communicator whether one of them has an error; rank 0 reports one of these errors.
bool share_error(RunContext& context, MPI_Comm communicator, const PhaseName& name, const std::optional<IoError>& mine);

}  // namespace strider
