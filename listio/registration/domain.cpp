#include "listio/registration/domain.hpp"

#include <string>

#include "core/clock.hpp"
#include "core/error.hpp"

namespace strider::listio {
namespace {

double us_since(std::uint64_t start_ns) { return static_cast<double>(monotonic_ns() - start_ns) * 1e-3; }

}  // namespace

Domain::Result Domain::register_range(const Range& pages) {
  const std::uint64_t start = monotonic_ns();
  const Result result = pin(pages);
  counters_.register_us += us_since(start);
  switch (result.outcome) {
    case Outcome::registered:
      ++counters_.registrations;
      counters_.pages += pages_in(pages);
      break;
    case Outcome::fault: ++counters_.faults; break;
    case Outcome::no_memory:
    case Outcome::no_region: ++counters_.refusals; break;
  }
  return result;
}

void Domain::deregister(const Region& region) {
  const std::uint64_t start = monotonic_ns();
  unpin(region);
  counters_.deregister_us += us_since(start);
  ++counters_.deregistrations;
}

std::unique_ptr<Domain> make_domain(std::string_view name) {
  if (name == "uring") return make_uring_domain();
  if (name == "mlock") return make_mlock_domain();
  if (name == "model") return make_model_domain();
  throw InputError("registration", "there is no registration domain '" + std::string(name) + "'",
                   "choose uring, mlock or model");
}

}  // namespace strider::listio
