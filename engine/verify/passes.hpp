#pragma once
#include <cstdint>

namespace strider {

/// Requests of a rank that repeats its order until the time of a phase is over: request n has index n mod `per_pass` in
/// pass n div `per_pass`.
struct Passes {
  std::uint64_t per_pass = 0;
  std::uint64_t requests = 0;  ///< completed in all passes

  /// The last pass that completed the request at an index; 0 also if none did.
  std::uint64_t last_at(std::uint64_t index) const {
    return requests > index + per_pass ? (requests - 1 - index) / per_pass : 0;
  }
  bool repeated() const { return requests > per_pass; }
};

}  // namespace strider
