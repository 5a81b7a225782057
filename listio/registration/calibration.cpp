#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "foundation/clock.hpp"
#include "listio/registration/domain.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t most_pages = 1024;

/// Touched memory of pages of ordinary size.
class TouchedPages {
 public:
  TouchedPages() : bytes_(most_pages * page_bytes()) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    ::madvise(memory_, bytes_, MADV_NOHUGEPAGE);
    auto* const bytes = static_cast<volatile char*>(memory_);
    for (std::size_t i = 0; i < bytes_; i += page_bytes()) bytes[i] = 1;
  }
  ~TouchedPages() { ::munmap(memory_, bytes_); }
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;

  Range first(std::uint64_t pages) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_);
    return {begin, begin + pages * page_bytes()};
  }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
};

double lower_quartile(std::vector<double>& values) {
  const auto quarter = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), quarter, values.end());
  return *quarter;
}

}  // namespace

Calibration Domain::calibrate() {
  const TouchedPages memory;
  Calibration calibration;
  std::vector<double> pages, registering, deregistering;
  for (std::uint64_t p = 1; p <= most_pages; p *= 2) {
    const int rounds = p <= 64 ? 100 : 20;
    std::vector<double> on, off;
    for (int round = 0; round < rounds; ++round) {
      const std::uint64_t start = monotonic_ns();
      const Result result = pin(memory.first(p));
      const std::uint64_t between = monotonic_ns();
      if (result.outcome != Outcome::registered) break;
      unpin(result.region);
      on.push_back(static_cast<double>(between - start) * 1e-3);
      off.push_back(static_cast<double>(monotonic_ns() - between) * 1e-3);
    }
    if (on.empty()) break;
    calibration.samples.push_back({p, lower_quartile(on), lower_quartile(off)});
    pages.push_back(static_cast<double>(p));
    registering.push_back(calibration.samples.back().register_us);
    deregistering.push_back(calibration.samples.back().deregister_us);
  }
  if (pages.size() < 3) throw std::system_error(ENOMEM, std::generic_category(), "calibrating registration");
  calibration.registering = fit_line(pages, registering);
  calibration.deregistering = fit_line(pages, deregistering);
  // Noise may put a cost that is next to nothing below nothing.
  model_ = {std::max(calibration.registering.slope, 0.0), std::max(calibration.registering.intercept, 0.0),
            std::max(calibration.deregistering.slope, 0.0), std::max(calibration.deregistering.intercept, 0.0)};
  return calibration;
}

}  // namespace strider::listio
