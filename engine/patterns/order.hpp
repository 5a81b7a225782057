#pragma once
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "foundation/random.hpp"

namespace strider {

enum class OrderKind { forward, backward, random };

/// The sequence in which a rank issues its requests: each one exactly once, in O(1) memory.
class Order {
 public:
  Order(OrderKind kind, std::uint64_t requests, std::uint64_t seed) : kind_(kind), requests_(requests) {
    if (kind == OrderKind::random) shuffled_.emplace(requests, seed);
  }

  /// The requests at indexes first, first + 1, …
  void fill(std::uint64_t first, std::span<std::uint64_t> out) const {
    switch (kind_) {
      case OrderKind::forward: std::iota(out.begin(), out.end(), first); break;
      case OrderKind::backward:
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = requests_ - 1 - (first + i);
        break;
      case OrderKind::random:
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = (*shuffled_)(first + i);
        break;
    }
  }

 private:
  OrderKind kind_;
  std::uint64_t requests_;
  std::optional<Permutation> shuffled_;
};

}  // namespace strider
