#include "measure/counter_sources.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "foundation/descriptor.hpp"
#include "measure/recorded_tree.hpp"
#include "measure/text_scan.hpp"

namespace strider {
namespace {

const CounterGroup& group_of(const CounterGroups& groups, std::string_view source, std::string_view instance = "") {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const CounterGroup& group) {
    return group.source == source && group.instance == instance;
  });
  static const CounterGroup none;
  EXPECT_NE(found, groups.end()) << source << ' ' << instance;
  return found == groups.end() ? none : *found;
}

/// A TCP connection of this process with itself.
class Loopback {
 public:
  Loopback() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), plain, length), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), plain, &length), 0);
    port_ = ntohs(address.sin_port);
    client_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client_.get(), plain, length), 0);
    server_ = Descriptor(::accept(listener.get(), nullptr, nullptr));
  }
  std::uint16_t port() const { return port_; }
  /// Returns when all has arrived.
  void send_to_port(std::size_t bytes) const {
    const std::string text(bytes, 'x');
    std::string received(bytes, ' ');
    ASSERT_EQ(::send(client_.get(), text.data(), bytes, 0), static_cast<ssize_t>(bytes));
    ASSERT_EQ(::recv(server_.get(), received.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
  }

 private:
  Descriptor client_, server_;
  std::uint16_t port_ = 0;
};

std::uint64_t start_of_this_process() {
  const std::string text = read_small_file("/proc/self/stat").value_or("");
  constexpr std::size_t start = 22 - 3;
  return number_of(words_of(std::string_view(text).substr(text.rfind(')') + 1)).at(start)).value_or(0);
}

constexpr std::string_view stat_text =
    "cpu  1834607 1016860 661029 1126015 32252 7 9583 3553 0 0\n"
    "cpu0 909450 508809 310695 597546 12564 0 1311 1739 0 0\n"
    "cpu1 925157 508050 350334 528469 19688 7 8272 1814 0 0\n"
    "intr 39106832 0 0 18 4702 1584\n"
    "ctxt 103013158\n"
    "btime 1763700000\n"
    "processes 512345\n"
    "procs_running 17\n"
    "procs_blocked 0\n"
    "softirq 27399302 0 1685566 78\n";

TEST(CounterSources, ReadsProcessorsAndKernel) {
  const RecordedTree tree;
  tree.file("/proc/stat", stat_text);
  tree.file("/proc/vmstat", "nr_free_pages 12\npgpgin 5\npswpin 3\npswpout 4\npgfault 544281503\npgmajfault 37019\n");
  CounterGroups groups;
  read_processors(tree.root(), groups);
  const CounterGroup& cpu = group_of(groups, "cpu");
  const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(cpu.value("user_s"), 1834607 * (1'000'000'000 / ticks));
  EXPECT_EQ(cpu.value("system_s"), 661029 * (1'000'000'000 / ticks));
  EXPECT_EQ(cpu.value("iowait_s"), 32252 * (1'000'000'000 / ticks));
  EXPECT_EQ(cpu.value("steal_s"), 3553 * (1'000'000'000 / ticks));
  EXPECT_EQ(cpu.value("cores"), 2);
  const CounterGroup& kernel = group_of(groups, "kernel");
  EXPECT_EQ(kernel.value("context_switches"), 103013158);
  EXPECT_EQ(kernel.value("interrupts"), 39106832);
  EXPECT_EQ(kernel.value("soft_interrupts"), 27399302);
  EXPECT_EQ(kernel.value("forks"), 512345);
  EXPECT_EQ(kernel.value("page_faults"), 544281503);
  EXPECT_EQ(kernel.value("major_page_faults"), 37019);
  EXPECT_EQ(kernel.value("pages_swapped_in"), 3);
  EXPECT_EQ(kernel.value("pages_swapped_out"), 4);
}

TEST(CounterSources, ReadsMemoryInBytes) {
  const RecordedTree tree;
  tree.file("/proc/meminfo",
            "MemTotal:       24684092 kB\nMemFree:          812000 kB\nMemAvailable:   23000000 kB\n"
            "Buffers:            1234 kB\nCached:         19000000 kB\nSwapCached:            0 kB\n"
            "Dirty:               512 kB\nWriteback:            16 kB\n");
  CounterGroups groups;
  read_memory(tree.root(), groups);
  const CounterGroup& memory = group_of(groups, "memory");
  EXPECT_EQ(memory.value("total_bytes"), 24684092ULL * 1024);
  EXPECT_EQ(memory.value("available_bytes"), 23000000ULL * 1024);
  EXPECT_EQ(memory.value("cached_bytes"), 19000000ULL * 1024);
  EXPECT_EQ(memory.value("dirty_bytes"), 512 * 1024);
  EXPECT_EQ(memory.value("writeback_bytes"), 16 * 1024);
  EXPECT_EQ(memory.counters.size(), 6);
  EXPECT_EQ(memory.counters[0].kind, CounterKind::level);
}

TEST(CounterSources, ReadsWholeBlockDevicesThatWereUsed) {
  const RecordedTree tree;
  tree.file("/proc/diskstats",
            "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
            "   8       0 sda 1000 5 80000 1500 200 7 4096 900 0 1200 2400 0 0 0 0 3 4\n"
            "   8       1 sda1 900 5 70000 1400 200 7 4096 900 0 1100 2300\n"
            " 259       0 nvme0n1 10 0 80 3 0 0 0 0 0 2 3\n");
  tree.file("/sys/class/block/sda1/partition", "1\n");
  CounterGroups groups;
  read_block_devices(tree.root(), groups);
  ASSERT_EQ(groups.size(), 2);
  const CounterGroup& disk = group_of(groups, "block", "sda");
  EXPECT_EQ(disk.value("reads"), 1000);
  EXPECT_EQ(disk.value("read_bytes"), 80000 * 512);
  EXPECT_EQ(disk.value("read_s"), 1'500'000'000);
  EXPECT_EQ(disk.value("writes"), 200);
  EXPECT_EQ(disk.value("written_bytes"), 4096 * 512);
  EXPECT_EQ(disk.value("write_s"), 900'000'000);
  EXPECT_EQ(disk.value("busy_s"), 1'200'000'000);
  EXPECT_EQ(group_of(groups, "block", "nvme0n1").value("read_bytes"), 80 * 512);
}

TEST(CounterSources, ReadsNetworkInterfacesButNotThoseOnTopOfOthers) {
  const RecordedTree tree;
  tree.file(
      "/proc/net/dev",
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
      "carrier compressed\n"
      "    lo: 13325585647  691507    0    0    0     0          0         0 13325585647  691507    0    0    0 "
      "    0       0          0\n"
      "  eth0:5625614276  214807    1    2    0     0          0         0 10038385  108555    3    4    0     0  "
      "     0          0\n"
      " bond0: 5625614276  214807    0    0    0     0          0         0 10038385  108555    0    0    0     0 "
      "      0          0\n");
  tree.file("/sys/class/net/bond0/lower_eth0/ifindex", "2\n");
  tree.file("/proc/net/snmp",
            "Ip: Forwarding DefaultTTL\nIp: 2 64\n"
            "Tcp: RtoAlgorithm InSegs OutSegs RetransSegs InErrs\nTcp: 1 900866 795097 439 0\n"
            "Udp: InDatagrams\nUdp: 5\n");
  tree.file("/proc/net/netstat", "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 0 12\nIpExt: InNoRoutes\nIpExt: 0\n");
  CounterGroups groups;
  read_network(tree.root(), groups);
  ASSERT_EQ(groups.size(), 3);
  const CounterGroup& eth = group_of(groups, "network", "eth0");
  EXPECT_EQ(eth.value("received_bytes"), 5625614276);
  EXPECT_EQ(eth.value("received_packets"), 214807);
  EXPECT_EQ(eth.value("receive_errors"), 1);
  EXPECT_EQ(eth.value("receive_drops"), 2);
  EXPECT_EQ(eth.value("sent_bytes"), 10038385);
  EXPECT_EQ(eth.value("sent_packets"), 108555);
  EXPECT_EQ(eth.value("send_errors"), 3);
  EXPECT_EQ(eth.value("send_drops"), 4);
  EXPECT_EQ(group_of(groups, "network", "lo").value("sent_packets"), 691507);
  const CounterGroup& tcp = group_of(groups, "tcp");
  EXPECT_EQ(tcp.value("received_segments"), 900866);
  EXPECT_EQ(tcp.value("sent_segments"), 795097);
  EXPECT_EQ(tcp.value("retransmitted_segments"), 439);
  EXPECT_EQ(tcp.value("timeouts"), 12);
}

// proves measuring: counters, counters-kinds
TEST(CounterSources, ReadsInfiniBandPortsAsPerfqueryDoes) {
  const RecordedTree tree;
  const std::string port = "/sys/class/infiniband/mlx5_0/ports/1";
  tree.file(port + "/counters/port_rcv_data", "2500\n");
  tree.file(port + "/counters/port_xmit_data", "1000\n");
  tree.file(port + "/counters/port_rcv_packets", "70\n");
  tree.file(port + "/counters/port_xmit_packets", "30\n");
  tree.file(port + "/counters/port_xmit_wait", "9\n");
  tree.file(port + "/counters/symbol_error", "0\n");
  tree.file(port + "/hw_counters/local_ack_timeout_err", "2\n");
  tree.file("/sys/class/infiniband/hfi1_0/ports/1/state", "4: ACTIVE\n");
  CounterGroups groups;
  read_infiniband(tree.root(), groups);
  ASSERT_EQ(groups.size(), 1);
  const CounterGroup& counters = group_of(groups, "infiniband", "mlx5_0/1");
  EXPECT_EQ(counters.value("received_bytes"), 10000);  // the counters are of words of 4 bytes
  EXPECT_EQ(counters.value("sent_bytes"), 4000);
  EXPECT_EQ(counters.value("received_packets"), 70);
  EXPECT_EQ(counters.value("sent_packets"), 30);
  EXPECT_EQ(counters.value("send_waits"), 9);
  EXPECT_EQ(counters.value("acknowledge_timeouts"), 2);
}

constexpr std::string_view llite_stats =
    "snapshot_time             1763700000.123456789 secs.nsecs\n"
    "start_time                1763600000.000000000 secs.nsecs\n"
    "elapsed_time              100000.123456789 secs.nsecs\n"
    "read_bytes                500 samples [bytes] 4096 1048576 209715200 99999999\n"
    "write_bytes               64 samples [bytes] 1048576 1048576 67108864\n"
    "open                      12 samples [usecs] 5 900 3000 12345\n"
    "getattr                   7 samples [reqs]\n";

std::string osc_stats(int read_sum) {
  return "req_waittime 100 samples [usec] 50 900 40000 9999\nreq_active 100 samples [reqs] 1 3 120 200\n"
         "read_bytes 25 samples [bytes] 4096 4194304 " +
         std::to_string(read_sum) + " 123\nost_read 25 samples [usec] 90 1000 5000 77\n";
}

void expect_lustre(const std::string& place) {
  const RecordedTree tree;
  tree.file(place + "llite/scratch-ffff8b3e4c0d8000/stats", llite_stats);
  tree.file(place + "osc/scratch-OST0000-osc-ffff8b3e4c0d8000/stats", osc_stats(1000));
  tree.file(place + "osc/scratch-OST000a-osc-ffff8b3e4c0d8000/stats", osc_stats(30));
  CounterGroups groups;
  read_lustre(tree.root(), groups);
  ASSERT_EQ(groups.size(), 2);
  const CounterGroup& asked = group_of(groups, "lustre", "scratch/llite");
  EXPECT_EQ(asked.value("read_bytes"), 209715200);
  EXPECT_EQ(asked.value("read_calls"), 500);
  EXPECT_EQ(asked.value("write_bytes"), 67108864);
  EXPECT_EQ(asked.value("open_calls"), 12);
  EXPECT_EQ(asked.value("open_s"), 3'000'000);
  EXPECT_EQ(asked.value("getattr_calls"), 7);
  const CounterGroup& sent = group_of(groups, "lustre", "scratch/osc");
  EXPECT_EQ(sent.value("read_bytes"), 1030);  // of all storage targets
  EXPECT_EQ(sent.value("read_calls"), 50);
  EXPECT_EQ(sent.value("req_waittime_s"), 80'000'000);
  EXPECT_EQ(sent.value("req_active_calls"), 200);
}

TEST(CounterSources, ReadsLustreInProc) { expect_lustre("/proc/fs/lustre/"); }
TEST(CounterSources, ReadsLustreInDebugfs) { expect_lustre("/sys/kernel/debug/lustre/"); }

TEST(CounterSources, ReadsMountsOfNfs) {
  const RecordedTree tree;
  tree.file("/proc/self/mountstats",
            "device proc mounted on /proc with fstype proc\n"
            "device nas:/export mounted on /mnt/nfs with fstype nfs4 statvers=1.1\n"
            "\topts:\trw,vers=4.2,rsize=1048576\n"
            "\tage:\t1000\n"
            "\tevents:\t1 2 3 4\n"
            "\tbytes:\t2044 1108 7831 2961 1134 4071 285 99\n"
            "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
            "\txprt:\ttcp 1012 1 1 0 0 53 53 0 53 0 2 0 0\n"
            "\tper-op statistics\n"
            "\t        READ: 298 300 0 207680 1134399 61 280 343 0\n"
            "\t       WRITE: 10 10 0 4072 1200 5 30 36 0\n"
            "\n"
            "device tmpfs mounted on /run with fstype tmpfs\n");
  CounterGroups groups;
  read_nfs(tree.root(), groups);
  ASSERT_EQ(groups.size(), 1);
  const CounterGroup& nfs = group_of(groups, "nfs", "/mnt/nfs");
  EXPECT_EQ(nfs.value("read_bytes"), 2044 + 7831);  // through the cache and past it
  EXPECT_EQ(nfs.value("written_bytes"), 1108 + 2961);
  EXPECT_EQ(nfs.value("server_read_bytes"), 1134);
  EXPECT_EQ(nfs.value("server_written_bytes"), 4071);
  EXPECT_EQ(nfs.value("read_calls"), 298);
  EXPECT_EQ(nfs.value("read_resends"), 2);
  EXPECT_EQ(nfs.value("read_s"), 343'000'000);
  EXPECT_EQ(nfs.value("write_calls"), 10);
}

TEST(CounterSources, ReadsTheKernelsClientOfCeph) {
  const RecordedTree tree;
  tree.file("/sys/kernel/debug/ceph/2f1c.client4305/metrics/size",
            "item          total       avg_sz(bytes)   min_sz(bytes)   max_sz(bytes)  total_sz(bytes)\n"
            "----------------------------------------------------------------------------------------\n"
            "read          3           4194304         4194304         4194304         12582912\n"
            "write         5           4194304         4194304         4194304         20971520\n");
  CounterGroups groups;
  read_ceph(tree.root(), groups);
  const CounterGroup& ceph = group_of(groups, "ceph", "2f1c.client4305");
  EXPECT_EQ(ceph.value("read_calls"), 3);
  EXPECT_EQ(ceph.value("read_bytes"), 12582912);
  EXPECT_EQ(ceph.value("write_calls"), 5);
  EXPECT_EQ(ceph.value("written_bytes"), 20971520);
}

TEST(CounterSources, ReadsProcessesWithAllTheirThreads) {
  const RecordedTree tree;
  tree.file("/proc/77/stat", "77 (a (b) c) S 1 77 77 0 -1 4194560 9 0 0 0 250 130 0 0 20 0 2 0 4711 1 2\n");
  tree.file("/proc/77/task/77/status", "Name:\ta\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\n");
  tree.file("/proc/77/task/78/status", "Name:\ta\nvoluntary_ctxt_switches:\t30\nnonvoluntary_ctxt_switches:\t1\n");
  const std::vector<WatchedProcess> processes{{.name = "mount", .pid = 77, .start_ticks = 4711},
                                              {.name = "other start", .pid = 77, .start_ticks = 4712},
                                              {.name = "gone", .pid = 78, .start_ticks = 4711}};
  CounterGroups groups;
  read_processes(tree.root(), processes, groups);
  ASSERT_EQ(groups.size(), 1);
  const CounterGroup& mount = group_of(groups, "process", "mount");
  const auto tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(mount.value("user_s"), 250 * tick_ns);
  EXPECT_EQ(mount.value("system_s"), 130 * tick_ns);
  EXPECT_EQ(mount.value("voluntary_switches"), 35);
  EXPECT_EQ(mount.value("involuntary_switches"), 3);
}

TEST(CounterSources, CountsWhatPassesThroughAPort) {
  const Loopback loopback;
  const WatchedProcess self{"self", static_cast<std::uint64_t>(::getpid()), start_of_this_process(), loopback.port()};
  CounterGroups before, after;
  read_processes("", {{self}}, before);
  constexpr std::size_t bytes = 100'000;
  loopback.send_to_port(bytes);
  read_processes("", {{self}}, after);
  const CounterGroup passed = group_of(difference(before, after), "process", "self");
  EXPECT_EQ(passed.value("received_bytes"), bytes);
  EXPECT_GT(passed.value("received_packets"), 0);
  EXPECT_LE(passed.value("received_packets"), bytes);
  EXPECT_EQ(passed.value("sent_bytes"), 0);
}

TEST(CounterSources, ThereMayBeNothingToRead) {
  const RecordedTree tree;
  tree.file("/proc/stat", "nonsense\n");
  tree.file("/proc/diskstats", "8 0 sda what is this\n");
  tree.file("/proc/self/mountstats", "device\n");
  tree.file("/sys/kernel/debug/lustre/osc/odd/stats", "read_bytes x samples\n");
  for (const CounterGroup& group : CounterSources(CounterScope::all, tree.root()).read())
    EXPECT_TRUE(group.counters.empty()) << group.source;
}

// proves measuring: counters-basic
TEST(CounterSources, BasicLeavesOutWhatCanBeSlow) {
  const RecordedTree tree;
  tree.file("/proc/stat", stat_text);
  tree.file("/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "2500\n");
  EXPECT_EQ(CounterSources(CounterScope::basic, tree.root()).read().size(), 2);
  EXPECT_EQ(CounterSources(CounterScope::all, tree.root()).read().size(), 3);
  EXPECT_TRUE(CounterSources(CounterScope::none, tree.root()).read().empty());
}

TEST(CounterSources, ThisMachineCountsOn) {
  const CounterSources sources(CounterScope::all);
  const CounterGroups before = sources.read();
  for (int i = 0; i < 100; ++i) ::usleep(100);  // a context switch each
  const CounterGroups passed = difference(before, sources.read());
  EXPECT_GE(group_of(passed, "kernel").value("context_switches"), 100);
}

}  // namespace
}  // namespace strider
