#include "measure/ceiling.hpp"

#include <algorithm>
#include <utility>

#include "foundation/median.hpp"

namespace strider {

Ceiling ceiling_of(std::string name, std::string unit, std::vector<double> rounds, std::string about) {
  const double value = median(rounds);
  const auto [lowest, highest] = std::minmax_element(rounds.begin(), rounds.end());
  std::optional<double> spread;
  if (rounds.size() > 1) spread = value > 0 ? (*highest - *lowest) / value : 0;
  return {std::move(name), std::move(unit), value, spread, std::move(about)};
}

}  // namespace strider
