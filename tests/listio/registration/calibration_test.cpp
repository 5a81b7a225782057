#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "listio/registration/cost.hpp"
#include "memory.hpp"

namespace strider::listio {
namespace {

// proves listio: calibrate, calibrate-rounds, calibrate-intervals
TEST(FitLine, FindsALineExactly) {
  const std::vector<double> x{1, 2, 4, 8}, y{8.19, 8.96, 10.5, 13.58};
  const Line line = fit_line(x, y);
  EXPECT_NEAR(line.slope, 0.77, 1e-9);
  EXPECT_NEAR(line.intercept, 7.42, 1e-9);
  EXPECT_NEAR(line.slope_error, 0, 1e-6);
}

/// Fits of a known line with relative noise.
std::vector<Line> noisy_fits(double deviation, int count) {
  std::mt19937_64 bits(1);
  std::normal_distribution<double> noise(0, deviation);
  std::vector<Line> fits;
  for (int fit = 0; fit < count; ++fit) {
    std::vector<double> x, y;
    for (double pages = 1; pages <= 1024; pages *= 2) {
      x.push_back(pages);
      y.push_back((0.77 * pages + 7.42) * std::exp(noise(bits)));
    }
    fits.push_back(fit_line(x, y));
  }
  return fits;
}

// proves listio: calibrate, calibrate-rounds, calibrate-intervals
TEST(FitLine, ItsErrorsAre95PercentIntervals) {
  constexpr int fits = 2000;
  int slopes = 0, intercepts = 0;
  for (const Line& line : noisy_fits(0.03, fits)) {
    slopes += std::abs(line.slope - 0.77) < line.slope_error;
    intercepts += std::abs(line.intercept - 7.42) < line.intercept_error;
  }
  EXPECT_NEAR(slopes, 0.95 * fits, 0.02 * fits);
  EXPECT_NEAR(intercepts, 0.95 * fits, 0.02 * fits);
}

TEST(FitLine, LowPointsDoNotPullItDown) {
  constexpr int fits = 4000;
  double slopes = 0;
  for (const Line& line : noisy_fits(0.1, fits)) slopes += line.slope / fits;
  // The noise raises the mean of the times by exp(0.1² / 2); weights of 1 / y² lower the slope by 2 %.
  EXPECT_NEAR(slopes / 0.77, std::exp(0.005), 0.005);
}

// proves listio: model-defaults, ogr-holes, ogr-8-pages
TEST(CostModel, AHoleIsWorthMergingWhileItCostsLessThanARegistration) {
  EXPECT_EQ(CostModel().most_hole_pages(), 8) << "8.52 µs at 1 µs a page";
  EXPECT_EQ((CostModel{1, 3, 1, 3}.most_hole_pages()), 3) << "as much is worth it";
  EXPECT_EQ((CostModel{10, 1, 0, 0}.most_hole_pages()), 0);
  EXPECT_EQ((CostModel{0, 1, 0, 0}.most_hole_pages()), std::numeric_limits<std::uint64_t>::max());
}

// proves listio: calibrate, calibrate-rounds, calibrate-intervals
TEST(Calibration, ReplacesTheModelByWhatWasMeasured) {
  const auto domain = make_model_domain({.cost = {0.05, 1, 0.01, 0.5}});
  const Calibration found = domain->calibrate();
  ASSERT_EQ(found.samples.size(), 11);
  for (const auto& sample : found.samples) {
    EXPECT_GE(sample.register_us, 0.05 * static_cast<double>(sample.pages) + 1 - 0.001)
        << "at least what the model spends";
    EXPECT_GE(sample.deregister_us, 0.01 * static_cast<double>(sample.pages) + 0.5 - 0.001);
  }
  EXPECT_EQ(domain->model().register_us_per_page, std::max(found.registering.slope, 0.0));
  EXPECT_EQ(domain->counters().registrations, 0) << "not work for anybody";
}

TEST(Calibration, OfEveryDomainLeavesNothingPinned) {
  for (const std::string name : {"uring", "mlock"}) {
    const auto domain = try_domain(name);
    if (!domain) continue;
    const std::uint64_t before = lasting_pinned_pages();
    domain->calibrate();
    EXPECT_EQ(pinned_pages(), before) << name;
    EXPECT_GT(domain->model().register_us_per_page, 0) << name;
  }
}

TEST(Calibration, SaysWhereTooLittleMemoryMayBePinned) {
  EXPECT_THROW(make_model_domain({.cost = quick_cost, .most_pages = 2})->calibrate(), std::system_error);
}

}  // namespace
}  // namespace strider::listio
