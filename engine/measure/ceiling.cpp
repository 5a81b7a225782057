#include "measure/ceiling.hpp"

#include <algorithm>
#include <utility>

namespace strider {

Ceiling ceiling_of(std::string name, std::string unit, std::vector<double> rounds, std::string about) {
  std::sort(rounds.begin(), rounds.end());
  const std::size_t half = rounds.size() / 2;
  const double median = rounds.size() % 2 == 1 ? rounds[half] : (rounds[half - 1] + rounds[half]) / 2;
  std::optional<double> spread;
  if (rounds.size() > 1) spread = median > 0 ? (rounds.back() - rounds.front()) / median : 0;
  return {std::move(name), std::move(unit), median, spread, std::move(about)};
}

}  // namespace strider
