#include "foundation/clock.hpp"
#include "listio/registration/domain.hpp"

namespace strider::listio {
namespace {

/// Keeps the processor busy until `us` microseconds after `start_ns`.
void spend(std::uint64_t start_ns, double us) {
  const std::uint64_t end = start_ns + static_cast<std::uint64_t>(us * 1e3);
  while (monotonic_ns() < end) {
  }
}

class ModelDomain final : public Domain {
 public:
  explicit ModelDomain(const ModelOptions& options) : Domain(options.cost), options_(options) {}

  std::string_view name() const override { return "model"; }
  Capabilities capabilities() const override {
    return {options_.most_regions, std::uint64_t{1} << 46, Access::read_write, Vectored::yes};
  }

 private:
  Result pin(const Range& pages) override {
    const std::uint64_t start = monotonic_ns();
    const std::uint64_t count = pages_in(pages);
    Outcome outcome = Outcome::registered;
    if (regions_ == options_.most_regions) outcome = Outcome::no_region;
    else if (count > options_.most_pages - pages_) outcome = Outcome::no_memory;
    else if (!memory_.is_accessible(pages, Access::read_write)) outcome = Outcome::fault;
    // What fails costs what is spent once; how far a card gets before it meets the hole nobody says.
    const double per_page = outcome == Outcome::registered ? options_.cost.register_us_per_page : 0;
    spend(start, per_page * static_cast<double>(count) + options_.cost.register_us);
    if (outcome != Outcome::registered) return {outcome, {}};
    ++regions_;
    pages_ += count;
    return {outcome, {pages, next_slot_++}};
  }
  void unpin(const Region& region) override {
    const std::uint64_t start = monotonic_ns(), count = pages_in(region.range);
    --regions_;
    pages_ -= count;
    spend(start, options_.cost.deregister_us_per_page * static_cast<double>(count) + options_.cost.deregister_us);
  }

  ModelOptions options_;
  AddressSpace memory_;
  std::size_t regions_ = 0;
  std::uint64_t pages_ = 0;
  std::uint32_t next_slot_ = 0;
};

}  // namespace

std::unique_ptr<Domain> make_model_domain(const ModelOptions& options) {
  return std::make_unique<ModelDomain>(options);
}

}  // namespace strider::listio
