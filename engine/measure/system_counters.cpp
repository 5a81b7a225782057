#include <unistd.h>

#include <array>
#include <span>
#include <utility>

#include "measure/counter_sources.hpp"
#include "measure/text_scan.hpp"

namespace strider {
namespace {

constexpr std::uint64_t sector_bytes = 512;  // in /proc/diskstats, whatever the device's are
constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr std::uint64_t bytes_per_kib = 1024;

std::uint64_t number_or_0(std::string_view word) { return number_of(word).value_or(0); }

/// The line `cpu` of /proc/stat (proc_stat(5)), in clock ticks.
void add_processor_times(std::string_view line, std::size_t cores, CounterGroups& groups) {
  constexpr std::array names{"user_s", "nice_s", "system_s", "idle_s", "iowait_s", "irq_s", "softirq_s", "steal_s"};
  const auto tick_ns = std::uint64_t{1'000'000'000} / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  CounterGroup& group = groups.emplace_back(CounterGroup{"cpu", "", {}});
  for (const char* name : names) {
    const auto ticks = number_of(take_word(line));
    if (ticks) group.add(name, *ticks * tick_ns, CounterKind::time_ns);
  }
  group.add("cores", cores, CounterKind::level);
}

/// Lines "NAME VALUE …" whose names are in a table of pairs; NAME may end in a colon.
template <std::size_t size>
void add_named(std::string_view text, const std::array<std::pair<std::string_view, std::string_view>, size>& table,
               CounterKind kind, std::uint64_t scale, CounterGroup& group) {
  std::size_t missing = size;
  while (!text.empty() && missing > 0) {
    std::string_view line = take_until(text, '\n');
    const std::string_view name = take_word(line);
    for (const auto& [theirs, ours] : table) {
      if (theirs != name) continue;
      group.add(ours, number_or_0(take_word(line)) * scale, kind);
      --missing;
    }
  }
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// Whether its traffic is counted a second time by the interfaces below: a bond, a bridge, a VLAN.
bool is_stacked(const std::string& root, const std::string& interface) {
  for (const std::string& name : names_in(root + "/sys/class/net/" + interface))
    if (name.starts_with("lower_")) return true;
  return false;
}

/// The values of a protocol in /proc/net/snmp or netstat: a line of names, then a line of numbers.
void add_protocol(const std::string& path, std::string_view protocol,
                  std::span<const std::pair<std::string_view, std::string_view>> table, CounterGroup& group) {
  const auto text = read_small_file(path);
  if (!text) return;
  std::vector<std::string_view> names;
  for (const std::string_view line : lines_of(*text)) {
    if (!line.starts_with(protocol)) continue;
    const std::vector<std::string_view> words = words_of(line);
    if (names.empty()) {
      names = words;
      continue;
    }
    for (std::size_t i = 1; i < words.size() && i < names.size(); ++i)
      for (const auto& [theirs, ours] : table)
        if (theirs == names[i]) group.add(ours, number_or_0(words[i]));
    return;
  }
}

}  // namespace

void read_processors(const std::string& root, CounterGroups& groups) {
  const auto stat = read_small_file(root + "/proc/stat");
  if (!stat) return;
  std::string_view rest = *stat;
  std::string_view first = take_until(rest, '\n');
  if (take_word(first) != "cpu") return;
  std::size_t cores = 0;
  while (rest.starts_with("cpu")) ++cores, take_until(rest, '\n');
  add_processor_times(first, cores, groups);
  CounterGroup& kernel = groups.emplace_back(CounterGroup{"kernel", "", {}});
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> of_stat{{{"ctxt", "context_switches"},
                                                                                 {"intr", "interrupts"},
                                                                                 {"softirq", "soft_interrupts"},
                                                                                 {"processes", "forks"}}};
  add_named(rest, of_stat, CounterKind::count, 1, kernel);
  const auto vmstat = read_small_file(root + "/proc/vmstat");
  if (!vmstat) return;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> of_vmstat{
      {{"pgfault", "page_faults"}, {"pgmajfault", "major_page_faults"}, {"pswpin", "pages_swapped_in"},
       {"pswpout", "pages_swapped_out"}}};
  add_named(*vmstat, of_vmstat, CounterKind::count, 1, kernel);
}

void read_memory(const std::string& root, CounterGroups& groups) {
  const auto text = read_small_file(root + "/proc/meminfo");
  if (!text) return;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> table{{{"MemTotal:", "total_bytes"},
                                                                               {"MemFree:", "free_bytes"},
                                                                               {"MemAvailable:", "available_bytes"},
                                                                               {"Cached:", "cached_bytes"},
                                                                               {"Dirty:", "dirty_bytes"},
                                                                               {"Writeback:", "writeback_bytes"}}};
  add_named(*text, table, CounterKind::level, bytes_per_kib, groups.emplace_back(CounterGroup{"memory", "", {}}));
}

/// /proc/diskstats (Documentation/admin-guide/iostats.rst); whole devices only.
void read_block_devices(const std::string& root, CounterGroups& groups) {
  const auto text = read_small_file(root + "/proc/diskstats");
  if (!text) return;
  for (const std::string_view line : lines_of(*text)) {
    const std::vector<std::string_view> words = words_of(line);
    constexpr std::size_t busy_word = 12;
    if (words.size() <= busy_word) continue;
    const std::string name(words[2]);
    const auto field = [&](std::size_t word) { return number_or_0(words[word]); };
    // A device that has never done anything is one of many that the kernel holds ready.
    if (field(3) + field(7) == 0 || exists(root + "/sys/class/block/" + name + "/partition")) continue;
    CounterGroup& group = groups.emplace_back(CounterGroup{"block", name, {}});
    group.add("reads", field(3));
    group.add("read_bytes", field(5) * sector_bytes);
    group.add("read_s", field(6) * ns_per_ms, CounterKind::time_ns);
    group.add("writes", field(7));
    group.add("written_bytes", field(9) * sector_bytes);
    group.add("write_s", field(10) * ns_per_ms, CounterKind::time_ns);
    group.add("busy_s", field(busy_word) * ns_per_ms, CounterKind::time_ns);
  }
}

/// /proc/net/dev, and TCP's own counters. All of the network namespace that the process is in.
void read_network(const std::string& root, CounterGroups& groups) {
  const auto text = read_small_file(root + "/proc/net/dev");
  if (!text) return;
  for (std::string_view line : lines_of(*text)) {
    if (line.find(':') == std::string_view::npos) continue;  // one of the two lines of headings
    std::string_view name = take_until(line, ':');
    name = take_word(name);
    const std::vector<std::string_view> words = words_of(line);
    constexpr std::size_t columns = 16;
    if (words.size() < columns || is_stacked(root, std::string(name))) continue;
    const auto field = [&](std::size_t word) { return number_or_0(words[word]); };
    CounterGroup& group = groups.emplace_back(CounterGroup{"network", std::string(name), {}});
    group.add("received_bytes", field(0));
    group.add("received_packets", field(1));
    group.add("receive_errors", field(2));
    group.add("receive_drops", field(3));
    group.add("sent_bytes", field(8));
    group.add("sent_packets", field(9));
    group.add("send_errors", field(10));
    group.add("send_drops", field(11));
  }
  CounterGroup& tcp = groups.emplace_back(CounterGroup{"tcp", "", {}});
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> segments{
      {{"InSegs", "received_segments"}, {"OutSegs", "sent_segments"}, {"RetransSegs", "retransmitted_segments"}}};
  add_protocol(root + "/proc/net/snmp", "Tcp:", segments, tcp);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 1> timeouts{{{"TCPTimeouts", "timeouts"}}};
  add_protocol(root + "/proc/net/netstat", "TcpExt:", timeouts, tcp);
}

}  // namespace strider
