#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace strider {

/// The middle one of some values, of an even number the mean of the two in the middle; there is one at least.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace strider
