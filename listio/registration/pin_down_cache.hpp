#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "listio/registration/domain.hpp"
#include "listio/registration/mapping_watch.hpp"

namespace strider::listio {

/// Registered regions that are kept for the next time (Tezuka et al., Pin-down Cache, 1998). Those in use stay; of the
/// others the least recently used go while all together have more than `most_bytes`. A region is good only as long as
/// its memory stays mapped: who unmaps has to `invalidate`, or a watch does it.
///
/// No region in it contains another, so that ends increase with beginnings and the only one that can contain a range is
/// the last that begins at or before it.
class PinDownCache {
 public:
  struct Counters {
    std::uint64_t hits = 0, misses = 0;
    std::uint64_t evictions = 0;      ///< for want of room
    std::uint64_t invalidations = 0;  ///< regions whose memory went away
  };

  /// `watch` may be nothing.
  PinDownCache(Domain& domain, std::uint64_t most_bytes, std::unique_ptr<MappingWatch> watch);
  ~PinDownCache();
  PinDownCache(const PinDownCache&) = delete;
  PinDownCache& operator=(const PinDownCache&) = delete;

  /// A region that contains `pages`, now in use once more.
  std::optional<Region> find(const Range& pages);
  /// Registers `pages`; the region is in use once.
  Domain::Result add(const Range& pages);
  /// One use less.
  void release(const Region& region);
  /// Forgets all regions that overlap: their memory is no longer what it was. Those in use are deregistered when
  /// released.
  void invalidate(const Range& range);
  /// Deregisters what is not in use. Whether there was anything.
  bool flush();

  bool watched() const { return watch_ != nullptr; }
  const Counters& counters() const { return counters_; }

 private:
  struct Entry {
    Region region;
    std::uint32_t uses = 0;
    std::list<std::uintptr_t>::iterator age;  ///< in `unused_`, if `uses` is 0
  };
  using Entries = std::map<std::uintptr_t, Entry>;

  void hear();
  /// Takes it out; deregisters it unless it is in use.
  Entries::iterator drop(Entries::iterator entry);
  void drop_contained(const Range& range);
  void shrink();
  void unwatch(const Range& range);

  Domain& domain_;
  std::uint64_t most_bytes_;
  std::unique_ptr<MappingWatch> watch_;
  Entries entries_;                   ///< by beginning
  std::list<std::uintptr_t> unused_;  ///< beginnings, least recently used first
  std::vector<Entry> detached_;       ///< in use, but not for anybody else
  std::uint64_t bytes_ = 0;           ///< of all entries
  Counters counters_;
};

}  // namespace strider::listio
