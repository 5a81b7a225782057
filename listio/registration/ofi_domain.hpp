#pragma once
#include <memory>
#include <vector>

#include "listio/ofi/fabric.hpp"
#include "listio/registration/domain.hpp"

namespace strider::listio {

/// Memory registration of libfabric. With `verbs` the network card's, which pins the pages and fails on holes;
/// providers in software take note of the range and no more, holes or not. Regions can be used by operations of this
/// process, not by those of others.
class OfiDomain final : public Domain {
 public:
  explicit OfiDomain(std::shared_ptr<const ofi::Fabric> fabric);

  std::string_view name() const override { return "ofi"; }
  Capabilities capabilities() const override;

  const ofi::Fabric& fabric() const { return *fabric_; }
  /// Whether the provider wants to know of memory before it moves it.
  bool is_needed() const { return fabric_->has_mode(FI_MR_LOCAL); }
  /// What libfabric's operations want for a piece in this region.
  void* descriptor(const Region& region) const { return ::fi_mr_desc(regions_[region.slot].get()); }

 private:
  Result pin(const Range& pages) override;
  void unpin(const Region& region) override;

  std::shared_ptr<const ofi::Fabric> fabric_;
  std::vector<ofi::Owned<fid_mr>> regions_;  ///< by slot
  std::vector<std::uint32_t> free_;
};

}  // namespace strider::listio
