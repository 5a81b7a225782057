#include "listio/registration/pin_down_cache.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace strider::listio {

PinDownCache::PinDownCache(Domain& domain, std::uint64_t most_bytes, std::unique_ptr<MappingWatch> watch)
    : domain_(domain), most_bytes_(most_bytes), watch_(std::move(watch)) {}

PinDownCache::~PinDownCache() { flush(); }

std::optional<Region> PinDownCache::find(const Range& pages) {
  hear();
  const auto after = entries_.upper_bound(pages.begin);
  if (after == entries_.begin() || !std::prev(after)->second.region.range.contains(pages)) {
    ++counters_.misses;
    return {};
  }
  Entry& entry = std::prev(after)->second;
  if (entry.uses++ == 0) unused_.erase(entry.age);
  ++counters_.hits;
  return entry.region;
}

Domain::Result PinDownCache::add(const Range& pages) {
  drop_contained(pages);
  // Watched before it is pinned, so that nothing gets lost in between.
  const bool keep = !watch_ || watch_->add(pages);
  const Domain::Result result = domain_.register_range(pages);
  if (result.outcome != Outcome::registered) {
    if (keep) unwatch(pages);
    return result;
  }
  if (!keep) {
    detached_.push_back({result.region, 1, {}});
    return result;
  }
  entries_.emplace(pages.begin, Entry{result.region, 1, {}});
  bytes_ += pages.bytes();
  shrink();
  return result;
}

void PinDownCache::release(const Region& region) {
  const auto at = entries_.find(region.range.begin);
  if (at != entries_.end() && at->second.region == region) {
    Entry& entry = at->second;
    if (--entry.uses == 0) {
      entry.age = unused_.insert(unused_.end(), at->first);
      shrink();
    }
    return;
  }
  const auto entry =
      std::find_if(detached_.begin(), detached_.end(), [&](const Entry& each) { return each.region == region; });
  if (entry == detached_.end() || --entry->uses > 0) return;
  domain_.deregister(region);
  detached_.erase(entry);
}

void PinDownCache::invalidate(const Range& range) {
  // The first that ends after the range begins: the last that begins at or before it, or a later one.
  auto entry = entries_.upper_bound(range.begin);
  while (entry != entries_.begin() && std::prev(entry)->second.region.range.end > range.begin) --entry;
  while (entry != entries_.end() && entry->first < range.end) {
    ++counters_.invalidations;
    entry = drop(entry);
  }
}

bool PinDownCache::flush() {
  const bool any = !unused_.empty();
  while (!unused_.empty()) drop(entries_.find(unused_.front()));
  return any;
}

void PinDownCache::hear() {
  if (!watch_) return;
  const MappingWatch::Events events = watch_->take();
  if (events.lost) return invalidate({0, std::numeric_limits<std::uintptr_t>::max()});
  for (std::size_t i = 0; i < events.count; ++i) invalidate(events.ranges[i]);
}

PinDownCache::Entries::iterator PinDownCache::drop(Entries::iterator at) {
  const Entry entry = at->second;
  bytes_ -= entry.region.range.bytes();
  const auto next = entries_.erase(at);
  if (entry.uses > 0) {
    detached_.push_back(entry);
  } else {
    unused_.erase(entry.age);
    domain_.deregister(entry.region);
  }
  unwatch(entry.region.range);
  return next;
}

void PinDownCache::drop_contained(const Range& range) {
  for (auto entry = entries_.lower_bound(range.begin);
       entry != entries_.end() && range.contains(entry->second.region.range);)
    entry = drop(entry);
}

void PinDownCache::shrink() {
  while (bytes_ > most_bytes_ && !unused_.empty()) {
    ++counters_.evictions;
    drop(entries_.find(unused_.front()));
  }
}

void PinDownCache::unwatch(const Range& range) {
  if (!watch_) return;
  const auto after = entries_.lower_bound(range.end);
  const bool shared = after != entries_.begin() && std::prev(after)->second.region.range.end > range.begin;
  if (!shared) watch_->remove(range);
}

}  // namespace strider::listio
