#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strider {

enum class CounterKind : char {
  count = 'c',    ///< events or bytes since the machine started
  time_ns = 't',  ///< time since then; its name ends in _s
  level = 'l',    ///< how much there is at the moment
};

struct Counter {
  std::string name;
  CounterKind kind = CounterKind::count;
  std::uint64_t value = 0;
  bool operator==(const Counter&) const = default;
};

/// Counters of one thing: the processors, a block device, a network interface, a mount.
struct CounterGroup {
  std::string source;    ///< cpu, kernel, memory, block, network, tcp, process, infiniband, lustre, nfs, ceph
  std::string instance;  ///< which of them; empty where there is one of a kind
  std::vector<Counter> counters;

  void add(std::string_view name, std::uint64_t value, CounterKind kind = CounterKind::count) {
    counters.push_back({std::string(name), kind, value});
  }
  /// The value of a counter, 0 where there is none of that name.
  std::uint64_t value(std::string_view name) const;
  bool operator==(const CounterGroup&) const = default;
};

using CounterGroups = std::vector<CounterGroup>;

/// What passed between two readings; of levels, the later one. Left out is what was not there before, what went
/// backwards because somebody reset it, and instances on which nothing happened.
CounterGroups difference(const CounterGroups& before, const CounterGroups& after);

/// Adds what other nodes counted: each counter to that of the same source and instance. Of the block devices of a node,
/// which may be stacked, only the busiest counts, as instance `busiest`; `sum` has been made so from nothing.
void add_node(CounterGroups& sum, const CounterGroups& node);

/// The sum of a counter over all instances of a source.
std::uint64_t sum_of(const CounterGroups& groups, std::string_view source, std::string_view counter);
/// The largest value of a counter of any instance of a source.
std::uint64_t largest_of(const CounterGroups& groups, std::string_view source, std::string_view counter);

/// For the way from one rank to another.
std::string to_text(const CounterGroups& groups);
CounterGroups counters_from_text(std::string_view text);

}  // namespace strider
