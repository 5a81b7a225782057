#include "listio/registration/ofi_domain.hpp"

#include <system_error>

namespace strider::listio {
namespace {

/// Providers in software on Debian 12, a virtual machine. What a card costs only `calibrate` can tell; until then it is
/// believed to cost what the paper's did.
constexpr CostModel in_software{0, 0.08, 0, 0.05};
constexpr std::size_t most_regions = std::size_t{1} << 20;

}  // namespace

OfiDomain::OfiDomain(std::shared_ptr<const ofi::Fabric> fabric)
    : Domain(fabric->has_mode(FI_MR_LOCAL) ? CostModel{} : in_software), fabric_(std::move(fabric)) {}

Capabilities OfiDomain::capabilities() const {
  const std::size_t count = fabric_->info().domain_attr->mr_cnt;  // 0: the provider does not say
  return {count == 0 ? most_regions : std::min(count, most_regions), std::uint64_t{1} << 46, Access::read_write,
          fabric_->info().tx_attr->iov_limit > 1 ? Vectored::yes : Vectored::no};
}

Domain::Result OfiDomain::pin(const Range& pages) {
  const bool grows = free_.empty();
  if (grows && regions_.size() == capabilities().most_regions) return {Outcome::no_region, {}};
  ofi::Owned<fid_mr> region;
  try {
    region = fabric_->register_memory({reinterpret_cast<std::byte*>(pages.begin), pages.bytes()}, ofi::Reach::local);
  } catch (const ofi::Error& error) {
    switch (error.error_number()) {
      case FI_EFAULT: return {Outcome::fault, {}};
      case FI_ENOMEM: return {Outcome::no_memory, {}};
      case FI_ENOSPC: return {Outcome::no_region, {}};
      default:
        throw std::system_error(error.error_number(), std::generic_category(), fabric_->provider() + ": fi_mr_reg");
    }
  }
  if (grows) {
    free_.push_back(static_cast<std::uint32_t>(regions_.size()));
    regions_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  regions_[slot] = std::move(region);
  return {Outcome::registered, {pages, slot}};
}

void OfiDomain::unpin(const Region& region) {
  regions_[region.slot].reset();
  free_.push_back(region.slot);
}

std::unique_ptr<Domain> make_ofi_domain() { return std::make_unique<OfiDomain>(std::make_shared<ofi::Fabric>("", "")); }

}  // namespace strider::listio
