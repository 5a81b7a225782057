#pragma once
#include <cstdint>

namespace strider {

/// Requests of a rank that repeats its list until the time of a phase is over: request n belongs to visit n mod
/// `visits` of pass n div `visits`.
struct Passes {
  std::uint64_t visits = 0;    ///< of one pass
  std::uint64_t requests = 0;  ///< completed in all passes

  /// The last pass that completed a visit; 0 also where none did.
  std::uint64_t last_at(std::uint64_t visit) const {
    return requests > visit + visits ? (requests - 1 - visit) / visits : 0;
  }
  bool repeated() const { return requests > visits; }
};

}  // namespace strider
