#include "listio/registration/cost.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "foundation/student.hpp"

namespace strider::listio {

std::uint64_t CostModel::most_hole_pages() const {
  const double per_page = register_us_per_page + deregister_us_per_page;
  const double once = register_us + deregister_us;
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  if (once < per_page || once <= 0) return 0;
  if (per_page <= 0 || once / per_page >= static_cast<double>(most)) return most;
  return static_cast<std::uint64_t>(once / per_page);
}

namespace {

struct Point {
  double x, y, weight;
};

Line weighted_line(std::span<const Point> points) {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const auto& [x, y, weight] : points) {
    w += weight;
    wx += weight * x;
    wy += weight * y;
    wxx += weight * x * x;
    wxy += weight * x * y;
  }
  const double determinant = w * wxx - wx * wx;
  Line line;
  line.slope = (w * wxy - wx * wy) / determinant;
  line.intercept = (wxx * wy - wx * wxy) / determinant;
  double residual = 0;
  for (const auto& [x, y, weight] : points) {
    const double off = y - line.slope * x - line.intercept;
    residual += weight * off * off;
  }
  const auto freedom = points.size() - 2;
  const double variance = residual / static_cast<double>(freedom);
  line.slope_error = t_975(freedom) * std::sqrt(variance * w / determinant);
  line.intercept_error = t_975(freedom) * std::sqrt(variance * wxx / determinant);
  return line;
}

}  // namespace

Line fit_line(std::span<const double> x, std::span<const double> y) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < x.size(); ++i) points.push_back({x[i], y[i], 1 / (y[i] * y[i])});
  Line line = weighted_line(points);
  constexpr int rounds = 3;
  for (int round = 0; round < rounds; ++round) {
    for (auto& point : points) {
      const double fitted = line.slope * point.x + line.intercept;
      // A line through noise may reach 0: keep the weight of the point itself there.
      const double scale = fitted > point.y / 2 ? fitted : point.y;
      point.weight = 1 / (scale * scale);
    }
    line = weighted_line(points);
  }
  return line;
}

}  // namespace strider::listio
