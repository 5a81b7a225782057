#include "measure/counters.hpp"

#include <algorithm>

#include "measure/text_scan.hpp"

namespace strider {
namespace {

const CounterGroup* find_group(const CounterGroups& groups, const CounterGroup& like) {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const CounterGroup& group) {
    return group.source == like.source && group.instance == like.instance;
  });
  return found == groups.end() ? nullptr : &*found;
}

const Counter* find_counter(const CounterGroup& group, std::string_view name) {
  const auto found = std::find_if(group.counters.begin(), group.counters.end(),
                                  [&](const Counter& counter) { return counter.name == name; });
  return found == group.counters.end() ? nullptr : &*found;
}

/// Of one instance; the counters keep their order, so that each is usually found where it is looked for first.
CounterGroup passed(const CounterGroup& before, const CounterGroup& after) {
  CounterGroup result{after.source, after.instance, {}};
  for (std::size_t i = 0; i < after.counters.size(); ++i) {
    const Counter& now = after.counters[i];
    if (now.kind == CounterKind::level) {
      result.counters.push_back(now);
      continue;
    }
    const bool in_place = i < before.counters.size() && before.counters[i].name == now.name;
    const Counter* then = in_place ? &before.counters[i] : find_counter(before, now.name);
    if (then != nullptr && then->value <= now.value) result.add(now.name, now.value - then->value, now.kind);
  }
  return result;
}

bool idle(const CounterGroup& group) {
  return std::all_of(group.counters.begin(), group.counters.end(),
                     [](const Counter& counter) { return counter.value == 0; });
}

constexpr const char* block = "block";

const CounterGroup* busiest_device(const CounterGroups& groups) {
  const auto moved = [](const CounterGroup& group) {
    return group.source == block ? group.value("read_bytes") + group.value("written_bytes") + 1 : 0;
  };
  const auto found = std::ranges::max_element(groups, {}, moved);
  return found == groups.end() || found->source != block ? nullptr : &*found;
}

void add_group(CounterGroups& sum, const CounterGroup& group) {
  const auto found = std::ranges::find_if(
      sum, [&](const CounterGroup& one) { return one.source == group.source && one.instance == group.instance; });
  if (found == sum.end()) return sum.push_back(group);
  for (const Counter& counter : group.counters) {
    const auto same = std::ranges::find(found->counters, counter.name, &Counter::name);
    if (same == found->counters.end()) found->counters.push_back(counter);
    else same->value += counter.value;
  }
}

}  // namespace

std::uint64_t CounterGroup::value(std::string_view name) const {
  const Counter* found = find_counter(*this, name);
  return found == nullptr ? 0 : found->value;
}

CounterGroups difference(const CounterGroups& before, const CounterGroups& after) {
  CounterGroups result;
  for (const CounterGroup& now : after) {
    const CounterGroup* then = find_group(before, now);
    if (then == nullptr) continue;
    CounterGroup group = passed(*then, now);
    if (!idle(group)) result.push_back(std::move(group));
  }
  return result;
}

void add_node(CounterGroups& sum, const CounterGroups& node) {
  const CounterGroup* const busiest = busiest_device(node);
  for (const CounterGroup& group : node)
    if (group.source != block) add_group(sum, group);
  if (busiest != nullptr) add_group(sum, {block, "busiest", busiest->counters});
}

std::uint64_t sum_of(const CounterGroups& groups, std::string_view source, std::string_view counter) {
  std::uint64_t sum = 0;
  for (const CounterGroup& group : groups)
    if (group.source == source) sum += group.value(counter);
  return sum;
}

std::uint64_t largest_of(const CounterGroups& groups, std::string_view source, std::string_view counter) {
  std::uint64_t largest = 0;
  for (const CounterGroup& group : groups)
    if (group.source == source) largest = std::max(largest, group.value(counter));
  return largest;
}

std::string to_text(const CounterGroups& groups) {
  std::string text;
  for (const CounterGroup& group : groups) {
    text += group.source + '\t' + group.instance + '\n';
    for (const Counter& counter : group.counters)
      text += '\t' + std::string(1, static_cast<char>(counter.kind)) + counter.name + '\t' +
              std::to_string(counter.value) + '\n';
  }
  return text;
}

CounterGroups counters_from_text(std::string_view text) {
  CounterGroups groups;
  for (std::string_view line : lines_of(text)) {
    const std::string_view first = take_until(line, '\t');
    if (!first.empty()) {
      groups.push_back({std::string(first), std::string(line), {}});
      continue;
    }
    const std::string_view name = take_until(line, '\t');
    const auto value = number_of(line);
    if (groups.empty() || name.empty() || !value) continue;
    groups.back().add(name.substr(1), *value, static_cast<CounterKind>(name[0]));
  }
  return groups;
}

}  // namespace strider
