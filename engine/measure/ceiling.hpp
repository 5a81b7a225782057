#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strider {

/// A rate that a part of the machine reached by itself, to be seen beside the rates of storage.
struct Ceiling {
  std::string name;              ///< memory_copy, data_generation, …; docs/formats.md names them all
  std::string unit;              ///< MiB/s or requests/s
  std::optional<double> value;   ///< median of the rounds; nothing where it cannot be measured here
  std::optional<double> spread;  ///< (highest - lowest) / median of the rounds; nothing of fewer than two
  std::string about;             ///< how it was measured, or why not
};

/// The ceiling that rounds of measuring found; `rounds` is not empty.
Ceiling ceiling_of(std::string name, std::string unit, std::vector<double> rounds, std::string about);

}  // namespace strider
