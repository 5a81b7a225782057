#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "listio/registration/domain.hpp"
#include "listio/registration/grouping.hpp"
#include "listio/registration/pin_down_cache.hpp"

namespace strider::listio {

/// How the pieces of a transfer are registered. `none`: not at all, as if it were for nothing. `individual`: each piece
/// by itself. `single`: one region from the first to the last. `ogr`: Optimistic Group Registration (Wu, Wyckoff, Panda
/// 2003).
enum class Strategy { none, individual, single, ogr };

std::string_view name_of(Strategy strategy);
/// InputError if there is none of this name.
Strategy strategy_of(std::string_view name);

/// How a pin-down cache learns that memory has gone: by `invalidate` alone, or from the kernel as well, where that can
/// be.
enum class Invalidation { by_caller, watched };

struct RegistrarOptions {
  Strategy strategy = Strategy::ogr;
  std::uint64_t cache_bytes = 0;  ///< of the pin-down cache; 0: none
  Invalidation invalidation = Invalidation::watched;
  AddressSpace::Source source = AddressSpace::Source::best;  ///< of what is mapped
};

/// What has been done for all lists so far; what it cost stands in the counters of domain and cache.
struct RegistrarCounters {
  std::uint64_t lists = 0;
  std::uint64_t hole_pages = 0;  ///< registered though no piece has them
  std::uint64_t cuts = 0;        ///< groups whose holes were cut out after a fault
  std::uint64_t queries = 0;     ///< questions to the kernel about what is mapped
  double query_us = 0;
  std::uint64_t flushes = 0;  ///< of the cache, for want of memory that may be pinned
  std::uint64_t shrinks = 0;  ///< lists that were tried again with smaller groups
  std::uint64_t packs = 0;    ///< lists that could not be registered at all
};

class Registrar;

/// Registered regions that are in use; given back when it ends, before its registrar does.
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept
      : registrar_(std::exchange(other.registrar_, nullptr)), regions_(std::move(other.regions_)) {}
  Lease& operator=(Lease&& other) noexcept {
    std::swap(registrar_, other.registrar_);
    std::swap(regions_, other.regions_);
    return *this;
  }
  ~Lease();

  /// By increasing beginning.
  std::span<const Region> regions() const { return regions_; }
  /// A region that contains all of `range`, or nothing. A piece larger than the domain's largest region has none.
  const Region* find(const Range& range) const;

 private:
  friend class Registrar;
  Lease(Registrar* registrar, std::vector<Region> regions);
  Registrar* registrar_ = nullptr;
  std::vector<Region> regions_;
};

/// What came of registering a list. `pack`: not enough can be pinned; copy the pieces through memory that is registered
/// already. `fault`: memory that the strategy has to register is not there, or does not allow the access.
enum class Verdict { registered, pack, fault };

struct Registration {
  Verdict verdict = Verdict::registered;
  Lease lease;          ///< of `registered`
  std::string message;  ///< of the others: what happened, and what to do about it
};

/// Registers lists of pieces in a domain by a strategy. Not for several threads at once.
class Registrar {
 public:
  Registrar(Domain& domain, const RegistrarOptions& options);

  /// Makes `pieces`, in any order, ready for transfer. Every byte of every piece is in a region of the lease, and
  /// nothing else is live on its behalf; unless the verdict is `registered`, nothing is. std::system_error if the
  /// kernel itself fails.
  ///
  /// `ogr` sorts the pieces; groups them by the domain's cost model; registers each group; on a fault asks the kernel
  /// what is there, cuts the holes out and registers the rest. For want of memory it undoes what it did, flushes the
  /// cache, leaves out all holes, registers pieces one by one, and in the end says `pack`.
  Registration acquire(std::span<const Range> pieces);

  /// The program unmaps `range`, or has done so.
  void invalidate(const Range& range);

  const Domain& domain() const { return domain_; }
  const PinDownCache* cache() const { return cache_ ? &*cache_ : nullptr; }
  RegistrarCounters counters() const;

 private:
  friend class Lease;
  struct Failure {
    Outcome outcome = Outcome::fault;
    Range where;
  };
  using Failed = std::optional<Failure>;
  struct Taken {
    std::vector<Region> regions;
    std::uint64_t hole_pages = 0;
  };

  Failed try_all(std::span<const Range> sorted, std::span<const Group> groups, Taken& taken);
  Failed try_with_flush(std::span<const Range> sorted, std::span<const Group> groups, Taken& taken);
  Failed take_group(std::span<const Range> sorted, const Group& group, Taken& taken);
  Failed take_parts(std::span<const Range> sorted, const Group& group, Taken& taken);
  Failed take(const Range& pages, Taken& taken);
  Domain::Result take_region(const Range& pages);
  Failed shrink(std::span<const Range> sorted, Failure failure, Taken& taken);
  std::vector<Group> first_groups(std::span<const Range> sorted) const;
  void give_back(std::span<const Region> regions);
  Registration refuse(const Failure& failure, std::size_t pieces);

  Domain& domain_;
  RegistrarOptions options_;
  Capabilities capabilities_;
  AddressSpace memory_;
  std::optional<PinDownCache> cache_;
  RegistrarCounters counters_;
};

}  // namespace strider::listio
