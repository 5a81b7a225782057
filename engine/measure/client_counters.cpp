#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "measure/counter_sources.hpp"
#include "measure/text_scan.hpp"

namespace strider {
namespace {

using Names = std::pair<std::string_view, std::string_view>;

/// A number in a file of its own.
void add_file(const std::string& path, std::string_view name, std::uint64_t scale, CounterGroup& group) {
  const auto text = read_small_file(path);
  if (!text) return;
  std::string_view line = *text;
  line = take_until(line, '\n');
  if (const auto value = number_of(take_word(line))) group.add(name, *value * scale);
}

void add_port(const std::string& port, CounterGroup& group) {
  constexpr std::uint64_t word_bytes = 4;  // port_*_data count words, as perfquery does
  add_file(port + "/counters/port_rcv_data", "received_bytes", word_bytes, group);
  add_file(port + "/counters/port_rcv_packets", "received_packets", 1, group);
  add_file(port + "/counters/port_xmit_data", "sent_bytes", word_bytes, group);
  add_file(port + "/counters/port_xmit_packets", "sent_packets", 1, group);
  constexpr std::array<Names, 6> others{{{"counters/port_xmit_wait", "send_waits"},
                                         {"counters/port_rcv_errors", "receive_errors"},
                                         {"counters/port_xmit_discards", "send_discards"},
                                         {"counters/symbol_error", "symbol_errors"},
                                         {"counters/link_downed", "link_downs"},
                                         {"hw_counters/local_ack_timeout_err", "acknowledge_timeouts"}}};
  for (const auto& [file, name] : others) add_file(port + '/' + std::string(file), name, 1, group);
}

/// The file system that a folder of Lustre's belongs to: "scratch-ffff8b3e…" and "scratch-OST0001-osc-ffff8b3e…".
std::string lustre_name(const std::string& folder) {
  const std::size_t target = folder.rfind("-OST");
  return folder.substr(0, target != std::string::npos ? target : folder.rfind('-'));
}

/// Lines of a Lustre stats file, "NAME N samples [UNIT] MIN MAX SUM …": how often, and the sum where it is bytes or
/// time.
void add_lustre_stats(std::string_view text, std::map<std::string, Counter>& sums) {
  const auto add = [&](const std::string& name, std::uint64_t value, CounterKind kind) {
    Counter& counter = sums.try_emplace(name, Counter{name, kind, 0}).first->second;
    counter.value += value;
  };
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 4 || words[2] != "samples") continue;
    const auto samples = number_of(words[1]);
    if (!samples) continue;
    constexpr std::size_t sum_word = 6;
    const std::uint64_t sum = words.size() > sum_word ? number_of(words[sum_word]).value_or(0) : 0;
    std::string name(words[0]);
    if (words[3] == "[bytes]") {
      add(name, sum, CounterKind::count);
      name.resize(name.rfind("_bytes") == std::string::npos ? name.size() : name.rfind("_bytes"));
    } else if (words[3] == "[usec]" || words[3] == "[usecs]") {
      add(name + "_s", sum * 1000, CounterKind::time_ns);
    }
    add(name + "_calls", *samples, CounterKind::count);
  }
}

/// /proc/self/mountstats, the lines of one mount: "bytes:", "events:" and the operations.
void add_mount_line(std::string_view line, CounterGroup& group) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.empty()) return;
  const auto field = [&](std::size_t word) { return word < words.size() ? number_of(words[word]).value_or(0) : 0; };
  if (words[0] == "bytes:") {
    group.add("read_bytes", field(1) + field(3));
    group.add("written_bytes", field(2) + field(4));
    group.add("server_read_bytes", field(5));
    group.add("server_written_bytes", field(6));
  }
  // Operations: how many, how often they were sent, …, the time until they were done.
  constexpr std::array<Names, 6> operations{{{"READ:", "read"},
                                             {"WRITE:", "write"},
                                             {"COMMIT:", "commit"},
                                             {"OPEN:", "open"},
                                             {"GETATTR:", "getattr"},
                                             {"LOOKUP:", "lookup"}}};
  constexpr std::size_t execution_word = 8;
  for (const auto& [theirs, ours] : operations) {
    if (words[0] != theirs || words.size() <= execution_word) continue;
    const std::string name(ours);
    group.add(name + "_calls", field(1));
    group.add(name + "_resends", field(2) > field(1) ? field(2) - field(1) : 0);
    group.add(name + "_s", field(execution_word) * 1'000'000, CounterKind::time_ns);
  }
}

}  // namespace

/// Ports of InfiniBand and RoCE adapters (Documentation/ABI/stable/sysfs-class-infiniband): what perfquery reads.
void read_infiniband(const std::string& root, CounterGroups& groups) {
  const std::string devices = root + "/sys/class/infiniband";
  for (const std::string& device : names_in(devices))
    for (const std::string& port : names_in(devices + '/' + device + "/ports")) {
      CounterGroup group{"infiniband", device + '/' + port, {}};
      add_port(devices + '/' + device + "/ports/" + port, group);
      if (!group.counters.empty()) groups.push_back(std::move(group));
    }
}

/// llite is what applications asked for, osc what went over the network, all storage targets together.
void read_lustre(const std::string& root, CounterGroups& groups) {
  for (const char* layer : {"llite", "osc"}) {
    std::map<std::string, std::map<std::string, Counter>> file_systems;
    // Older clients have them in /proc, newer ones where only root can read them.
    for (const char* place : {"/proc/fs/lustre/", "/sys/kernel/debug/lustre/"}) {
      const std::string folder = root + place + layer;
      for (const std::string& name : names_in(folder))
        if (const auto text = read_small_file(folder + '/' + name + "/stats"))
          add_lustre_stats(*text, file_systems[lustre_name(name)]);
      if (!file_systems.empty()) break;
    }
    for (const auto& [name, counters] : file_systems) {
      CounterGroup group{"lustre", name + '/' + layer, {}};
      for (const auto& [key, counter] : counters) group.counters.push_back(counter);
      groups.push_back(std::move(group));
    }
  }
}

void read_nfs(const std::string& root, CounterGroups& groups) {
  const auto text = read_small_file(root + "/proc/self/mountstats");
  if (!text) return;
  bool within = false;
  for (const std::string_view line : lines_of(*text)) {
    if (!line.starts_with("device ")) {
      if (within) add_mount_line(line, groups.back());
      continue;
    }
    // device SERVER:/EXPORT mounted on PLACE with fstype nfs4 statvers=1.1
    const std::vector<std::string_view> words = words_of(line);
    within = words.size() > 7 && (words[7] == "nfs" || words[7] == "nfs4");
    if (within) groups.push_back({"nfs", std::string(words[4]), {}});
  }
}

/// The kernel's client of CephFS, since Linux 5.14; only root can read it.
void read_ceph(const std::string& root, CounterGroups& groups) {
  const std::string folder = root + "/sys/kernel/debug/ceph";
  for (const std::string& client : names_in(folder)) {
    const auto text = read_small_file(folder + '/' + client + "/metrics/size");
    if (!text) continue;
    CounterGroup& group = groups.emplace_back(CounterGroup{"ceph", client, {}});
    for (const std::string_view line : lines_of(*text)) {
      // item, total, avg_sz(bytes), min_sz(bytes), max_sz(bytes), total_sz(bytes)
      const std::vector<std::string_view> words = words_of(line);
      if (words.size() != 6 || (words[0] != "read" && words[0] != "write")) continue;
      const bool reads = words[0] == "read";
      group.add(reads ? "read_calls" : "write_calls", number_of(words[1]).value_or(0));
      group.add(reads ? "read_bytes" : "written_bytes", number_of(words[5]).value_or(0));
    }
  }
}

}  // namespace strider
