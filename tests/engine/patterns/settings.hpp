#pragma once
#include <cstdint>
#include <functional>
#include <random>
#include <span>

#include "patterns/pattern.hpp"

namespace strider {

/// What values a test tries for the parameters of any pattern, whatever they are called.
struct Choices {
  std::span<const std::uint64_t> bytes;
  std::span<const std::uint64_t> counts;
};

enum class Optional {
  drawn,   ///< parameters without a default are sometimes left out
  absent,  ///< the parameters that end a tiling keep their default: a pattern that tiles does so now
};

/// Calls `use` with every combination of values; the seed is 1.
void each_combination(const PatternEntry& entry, const Choices& choices,
                      const std::function<void(const Settings&)>& use);

/// A random combination, seed included.
Settings draw(const PatternEntry& entry, const Choices& choices, Optional optional, std::mt19937_64& random);

/// A number of ranks up to `most`; a square one for patterns that need that.
std::uint32_t draw_ranks(const PatternEntry& entry, std::uint32_t most, std::mt19937_64& random);

/// The pattern, or null where it refuses the parameters or the number of ranks.
std::unique_ptr<Pattern> make_if_valid(const PatternEntry& entry, const Settings& settings, std::uint32_t ranks);

/// Settings in words, for messages.
std::string describe(const Settings& settings);

}  // namespace strider
