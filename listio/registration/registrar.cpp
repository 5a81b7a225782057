#include "listio/registration/registrar.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "foundation/error.hpp"

namespace strider::listio {
namespace {

constexpr std::array<std::string_view, 4> strategy_names{"none", "individual", "single", "ogr"};

std::vector<Group> one_by_one(std::span<const Range> sorted) {
  std::vector<Group> groups;
  groups.reserve(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) groups.push_back({sorted[i], i, i + 1});
  return groups;
}

std::uint64_t holes_in(std::span<const Range> sorted, const Group& group) {
  return pages_in(group.pages) - covered_pages(sorted.subspan(group.first, group.last - group.first));
}

std::string text_of(const Range& range) {
  char text[96];
  std::snprintf(text, sizeof text, "%llu bytes at 0x%llx", static_cast<unsigned long long>(range.bytes()),
                static_cast<unsigned long long>(range.begin));
  return text;
}

}  // namespace

std::string_view name_of(Strategy strategy) { return strategy_names[static_cast<std::size_t>(strategy)]; }

Strategy strategy_of(std::string_view name) {
  const auto found = std::find(strategy_names.begin(), strategy_names.end(), name);
  if (found == strategy_names.end())
    throw InputError("strategy", "there is no registration strategy '" + std::string(name) + "'",
                     "choose none, individual, single or ogr");
  return static_cast<Strategy>(found - strategy_names.begin());
}

Lease::Lease(Registrar* registrar, std::vector<Region> regions) : registrar_(registrar), regions_(std::move(regions)) {
  const auto by_beginning = [](const Region& a, const Region& b) { return a.range.begin < b.range.begin; };
  if (!std::is_sorted(regions_.begin(), regions_.end(), by_beginning))
    std::sort(regions_.begin(), regions_.end(), by_beginning);
}

Lease::~Lease() {
  if (registrar_ != nullptr) registrar_->give_back(regions_);
}

const Region* Lease::find(const Range& range) const {
  auto region = std::upper_bound(regions_.begin(), regions_.end(), range.begin,
                                 [](std::uintptr_t begin, const Region& each) { return begin < each.range.begin; });
  while (region != regions_.begin())
    if ((--region)->range.contains(range)) return &*region;
  return nullptr;
}

Registrar::Registrar(Domain& domain, const RegistrarOptions& options)
    : domain_(domain), options_(options), capabilities_(domain.capabilities()), memory_(options.source) {
  if (options.cache_bytes > 0)
    cache_.emplace(domain, options.cache_bytes,
                   options.invalidation == Invalidation::watched ? MappingWatch::make() : nullptr);
}

Registration Registrar::acquire(std::span<const Range> pieces) {
  ++counters_.lists;
  const std::vector<Range> sorted = options_.strategy == Strategy::none ? std::vector<Range>{} : sorted_pages(pieces);
  if (sorted.empty()) return {};
  Taken taken;
  Failed failed = try_with_flush(sorted, first_groups(sorted), taken);
  if (failed && failed->outcome == Outcome::no_memory && options_.strategy == Strategy::ogr)
    failed = shrink(sorted, *failed, taken);
  if (failed) return refuse(*failed, pieces.size());
  counters_.hole_pages += taken.hole_pages;
  return {Verdict::registered, Lease(this, std::move(taken.regions)), {}};
}

void Registrar::invalidate(const Range& range) {
  if (cache_) cache_->invalidate(range);
}

RegistrarCounters Registrar::counters() const {
  RegistrarCounters counters = counters_;
  counters.queries = memory_.queries();
  counters.query_us = memory_.query_us();
  return counters;
}

std::vector<Group> Registrar::first_groups(std::span<const Range> sorted) const {
  if (options_.strategy == Strategy::individual) return one_by_one(sorted);
  if (options_.strategy == Strategy::ogr)
    return group(sorted, domain_.model().most_hole_pages(), capabilities_.most_bytes);
  Group all{sorted.front(), 0, sorted.size()};
  for (const Range& piece : sorted) all.pages.end = std::max(all.pages.end, piece.end);
  return {all};
}

/// Registers all groups, or leaves nothing registered.
Registrar::Failed Registrar::try_all(std::span<const Range> sorted, std::span<const Group> groups, Taken& taken) {
  for (const Group& each : groups) {
    const Failed failed = take_group(sorted, each, taken);
    if (!failed) continue;
    give_back(taken.regions);
    taken = {};
    return failed;
  }
  return {};
}

Registrar::Failed Registrar::try_with_flush(std::span<const Range> sorted, std::span<const Group> groups,
                                            Taken& taken) {
  const Failed failed = try_all(sorted, groups, taken);
  if (!failed || failed->outcome == Outcome::fault || !cache_ || !cache_->flush()) return failed;
  ++counters_.flushes;
  return try_all(sorted, groups, taken);
}

/// Groups without holes pin less; single pieces are the smallest that can be asked for.
Registrar::Failed Registrar::shrink(std::span<const Range> sorted, Failure failure, Taken& taken) {
  ++counters_.shrinks;
  Failed failed = failure;
  for (const auto& groups : {group(sorted, 0, capabilities_.most_bytes), one_by_one(sorted)}) {
    failed = try_with_flush(sorted, groups, taken);
    if (!failed || failed->outcome != Outcome::no_memory) break;
  }
  return failed;
}

Registrar::Failed Registrar::take_group(std::span<const Range> sorted, const Group& whole, Taken& taken) {
  const Failed failed = take(whole.pages, taken);
  if (!failed) {
    taken.hole_pages += holes_in(sorted, whole);
    return {};
  }
  if (failed->outcome != Outcome::fault || options_.strategy != Strategy::ogr) return failed;
  return take_parts(sorted, whole, taken);
}

/// After a fault: what the kernel says is there. Where it is wrong, as with files that end early, piece by piece.
Registrar::Failed Registrar::take_parts(std::span<const Range> sorted, const Group& whole, Taken& taken) {
  ++counters_.cuts;
  const Cut cut = cut_holes(sorted, whole, memory_.accessible(whole.pages, capabilities_.access));
  if (!cut.complete) return Failure{Outcome::fault, sorted[cut.missing]};
  for (const Group& part : cut.groups) {
    const Failed failed = take(part.pages, taken);
    if (!failed) {
      taken.hole_pages += holes_in(sorted, part);
      continue;
    }
    if (failed->outcome != Outcome::fault) return failed;
    for (std::size_t i = part.first; i < part.last; ++i)
      if (const Failed missing = take(sorted[i], taken)) return missing;
  }
  return {};
}

/// Registers `pages`, in as many regions as their size demands, all of them or none.
Registrar::Failed Registrar::take(const Range& pages, Taken& taken) {
  const std::uintptr_t step = capabilities_.most_bytes & ~(page_bytes() - 1);
  const std::size_t before = taken.regions.size();
  for (std::uintptr_t begin = pages.begin; begin < pages.end;) {
    const Range part{begin, pages.end - begin > step ? begin + step : pages.end};
    const Domain::Result result = take_region(part);
    if (result.outcome != Outcome::registered) {
      give_back(std::span(taken.regions).subspan(before));
      taken.regions.resize(before);
      return Failure{result.outcome, pages};
    }
    taken.regions.push_back(result.region);
    begin = part.end;
  }
  return {};
}

Domain::Result Registrar::take_region(const Range& pages) {
  if (!cache_) return domain_.register_range(pages);
  if (const auto known = cache_->find(pages)) return {Outcome::registered, *known};
  return cache_->add(pages);
}

void Registrar::give_back(std::span<const Region> regions) {
  for (const Region& region : regions) {
    if (cache_) cache_->release(region);
    else domain_.deregister(region);
  }
}

Registration Registrar::refuse(const Failure& failure, std::size_t pieces) {
  const std::string what = std::string(domain_.name()) + ": " + text_of(failure.where) + " of " +
                           std::to_string(pieces) + " pieces could not be registered (" +
                           std::string(name_of(options_.strategy)) + "): ";
  switch (failure.outcome) {
    case Outcome::fault:
      if (options_.strategy == Strategy::single)
        return {Verdict::fault,
                {},
                what + "bad address: there are holes between the pieces; use strategy ogr or individual"};
      return {Verdict::fault, {}, what + "bad address: a piece is not mapped or not writable; check the pieces"};
    case Outcome::no_region:
      ++counters_.packs;
      return {Verdict::pack, {}, what + "no region is free; use fewer, larger pieces, or strategy ogr"};
    default:
      ++counters_.packs;
      return {Verdict::pack, {}, what + "the limit of locked memory is too low; raise it (ulimit -l)"};
  }
}

}  // namespace strider::listio
