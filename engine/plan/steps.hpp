#pragma once
#include <cstdint>
#include <vector>

#include "plan/case.hpp"

namespace strider {

/// A step of a repetition of a case of metadata.
struct Step {
  enum class Kind {
    measured,
    preparation,  ///< an operation that makes what a later one needs
    sweep,        ///< removes what the next one must not meet
  } kind = Kind::measured;
  Operation operation = Operation::stat;  ///< with Kind::sweep: the one before which it is
  Things swept = {};                      ///< with Kind::sweep

  bool operator==(const Step&) const = default;
};

/// The operations of a case, and between them what is made or removed unmeasured so that each finds what it works on.
/// `present`: what is there before.
std::vector<Step> steps_of(const std::vector<Operation>& operations, Things present = {});

/// What an operation makes of a file of so many bytes; `created_bytes`: what create writes.
std::uint64_t size_after(Operation operation, std::uint64_t bytes, std::uint64_t created_bytes);

/// Operations of metadata that the rank at `place` executes in a phase.
std::uint64_t operations_of(const Case& test, const Tree& tree, Operation operation, Place place);

}  // namespace strider
