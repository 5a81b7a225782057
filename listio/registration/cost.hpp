#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace strider::listio {

/// What registering p pages costs: T = a·p + b, and a'·p + b' to undo it, in microseconds. The defaults are those of
/// VAPI on a Mellanox InfiniHost (Wu, Wyckoff, Panda: Supporting Efficient Noncontiguous Access in PVFS over
/// InfiniBand, 2003).
struct CostModel {
  double register_us_per_page = 0.77;    ///< a
  double register_us = 7.42;             ///< b
  double deregister_us_per_page = 0.23;  ///< a'
  double deregister_us = 1.1;            ///< b'

  /// The largest hole, in pages, that is cheaper to register along than another registration:
  /// hole · (a + a') ≤ b + b'.
  std::uint64_t most_hole_pages() const;
};

/// The line y = slope · x + intercept through points, with half the widths of 95 % intervals.
struct Line {
  double slope = 0, intercept = 0;
  double slope_error = 0, intercept_error = 0;
};

/// Least squares with relative errors: times are known to some per cent, and short ones say as much as long ones. The
/// weights are 1 / (value of the line)². With 1 / y², points that are low by chance would weigh more, and the line
/// would be too low. The errors come from how far the points are off the line (two points fewer than there are). Needs
/// at least three points with different x and y > 0.
Line fit_line(std::span<const double> x, std::span<const double> y);

}  // namespace strider::listio
