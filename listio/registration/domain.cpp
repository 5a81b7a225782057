#include "listio/registration/domain.hpp"

#include <string>

#include "foundation/clock.hpp"
#include "foundation/error.hpp"

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
      if (live_) live_->emplace(result.region.range.begin, result.region.range.end, result.region.slot);
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
  if (!live_) return;
  const auto found = live_->find({region.range.begin, region.range.end, region.slot});
  if (found != live_->end()) live_->erase(found);
}

void Domain::track() {
  if (!live_) live_.emplace();
}

bool Domain::is_live(const Region& region) const {
  return live_ && live_->contains({region.range.begin, region.range.end, region.slot});
}

#ifndef STRIDER_OFI
std::unique_ptr<Domain> make_ofi_domain() {
  throw InputError("registration", "this build has no libfabric", "install libfabric-dev and build again");
}
#endif

std::unique_ptr<Domain> make_domain(std::string_view name) {
  if (name == "uring") return make_uring_domain();
  if (name == "mlock") return make_mlock_domain();
  if (name == "model") return make_model_domain();
  if (name == "ofi") return make_ofi_domain();
  throw InputError("registration", "there is no registration domain '" + std::string(name) + "'",
                   "choose uring, mlock, model or ofi");
}

}  // namespace strider::listio
