#include "listio/registration/cost.hpp"

#include <cmath>
#include <limits>

namespace strider::listio {

std::uint64_t CostModel::most_hole_pages() const {
  const double per_page = register_us_per_page + deregister_us_per_page;
  const double once = register_us + deregister_us;
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  if (once < per_page || once <= 0) return 0;
  if (per_page <= 0 || once / per_page >= static_cast<double>(most)) return most;
  return static_cast<std::uint64_t>(once / per_page);
}

Line fit_line(std::span<const double> x, std::span<const double> y) {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double weight = 1 / (y[i] * y[i]);
    w += weight;
    wx += weight * x[i];
    wy += weight * y[i];
    wxx += weight * x[i] * x[i];
    wxy += weight * x[i] * y[i];
  }
  const double determinant = w * wxx - wx * wx;
  Line line;
  line.slope = (w * wxy - wx * wy) / determinant;
  line.intercept = (wxx * wy - wx * wxy) / determinant;
  double residual = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = (y[i] - line.slope * x[i] - line.intercept) / y[i];
    residual += off * off;
  }
  const double variance = residual / static_cast<double>(x.size() - 2);
  line.slope_error = std::sqrt(variance * w / determinant);
  line.intercept_error = std::sqrt(variance * wxx / determinant);
  return line;
}

}  // namespace strider::listio
