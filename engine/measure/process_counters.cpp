#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>

#include "foundation/descriptor.hpp"
#include "measure/counter_sources.hpp"
#include "measure/text_scan.hpp"

namespace strider {
namespace {

/// What the kernel counted for the connections of a port.
struct Traffic {
  std::uint64_t received_packets = 0, sent_packets = 0, received_bytes = 0, sent_bytes = 0;
};
using TrafficOfPorts = std::map<std::uint16_t, Traffic>;

constexpr std::size_t answer_bytes = 65536;

bool ask_for_connections(int socket) {
  struct {
    nlmsghdr head;
    inet_diag_req_v2 request;
  } question{};
  constexpr std::uint32_t established = 1U << 1;  // TCP_ESTABLISHED
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.request.sdiag_family = AF_INET;
  question.request.sdiag_protocol = IPPROTO_TCP;
  question.request.idiag_ext = 1U << (INET_DIAG_INFO - 1);
  question.request.idiag_states = established;
  return ::send(socket, &question, sizeof question, 0) == static_cast<ssize_t>(sizeof question);
}

void add_connection(const std::byte* message, std::size_t bytes, TrafficOfPorts& ports) {
  inet_diag_msg connection{};
  if (bytes < sizeof connection) return;
  std::memcpy(&connection, message, sizeof connection);
  const auto found = ports.find(ntohs(connection.id.idiag_sport));
  if (found == ports.end()) return;
  for (std::size_t at = NLMSG_ALIGN(sizeof connection); at + sizeof(nlattr) <= bytes;) {
    nlattr head{};
    std::memcpy(&head, message + at, sizeof head);
    if (head.nla_len < sizeof head || at + head.nla_len > bytes) return;
    if (head.nla_type == INET_DIAG_INFO) {
      tcp_info info{};  // an older kernel fills the first part
      std::memcpy(&info, message + at + sizeof head, std::min(sizeof info, head.nla_len - sizeof head));
      found->second.received_packets += info.tcpi_segs_in;
      found->second.sent_packets += info.tcpi_segs_out;
      found->second.received_bytes += info.tcpi_bytes_received;
      found->second.sent_bytes += info.tcpi_bytes_acked;
    }
    at += NLA_ALIGN(head.nla_len);
  }
}

/// Adds a part of the answer; whether more follows.
bool add_connections(const std::byte* answer, std::size_t bytes, TrafficOfPorts& ports) {
  for (std::size_t at = 0; at + sizeof(nlmsghdr) <= bytes;) {
    nlmsghdr head{};
    std::memcpy(&head, answer + at, sizeof head);
    if (head.nlmsg_len < sizeof head || at + head.nlmsg_len > bytes) return false;
    if (head.nlmsg_type == NLMSG_DONE || head.nlmsg_type == NLMSG_ERROR) return false;
    add_connection(answer + at + NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN, ports);
    at += NLMSG_ALIGN(head.nlmsg_len);
  }
  return bytes > 0;
}

/// By sock_diag(7), for which /proc has no file; whether the kernel has answered.
bool read_traffic(TrafficOfPorts& ports) {
  const Descriptor socket(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  constexpr timeval patience{1, 0};
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) return false;
  if (!ask_for_connections(socket.get())) return false;
  std::vector<std::byte> answer(answer_bytes);
  ssize_t bytes = 0;
  do bytes = ::recv(socket.get(), answer.data(), answer.size(), 0);
  while (bytes > 0 && add_connections(answer.data(), static_cast<std::size_t>(bytes), ports));
  return bytes > 0;
}

/// Times of a process in clock ticks; nothing of another one that has its number by now.
bool add_times(const std::string& directory, const WatchedProcess& process, CounterGroup& group) {
  const auto text = read_small_file(directory + "/stat");
  if (!text || text->rfind(')') == std::string::npos) return false;
  // The name, which ends in the last parenthesis, may have blanks; field 3 follows.
  const std::vector<std::string_view> words = words_of(std::string_view(*text).substr(text->rfind(')') + 1));
  constexpr std::size_t user = 14 - 3, system = 15 - 3, start = 22 - 3;
  if (words.size() <= start || number_of(words[start]) != process.start_ticks) return false;
  const auto tick_ns = std::uint64_t{1'000'000'000} / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  group.add("user_s", number_of(words[user]).value_or(0) * tick_ns, CounterKind::time_ns);
  group.add("system_s", number_of(words[system]).value_or(0) * tick_ns, CounterKind::time_ns);
  return true;
}

/// Of all threads that it has now.
void add_switches(const std::string& directory, CounterGroup& group) {
  std::uint64_t voluntary = 0, involuntary = 0;
  for (const std::string& thread : names_in(directory + "/task")) {
    const auto text = read_small_file(directory + "/task/" + thread + "/status");
    if (!text) continue;
    for (std::string_view line : lines_of(*text)) {
      const std::string_view name = take_word(line);
      if (name == "voluntary_ctxt_switches:") voluntary += number_of(take_word(line)).value_or(0);
      if (name == "nonvoluntary_ctxt_switches:") involuntary += number_of(take_word(line)).value_or(0);
    }
  }
  group.add("voluntary_switches", voluntary);
  group.add("involuntary_switches", involuntary);
}

}  // namespace

void read_processes(const std::string& root, std::span<const WatchedProcess> processes, CounterGroups& groups) {
  TrafficOfPorts ports;
  for (const WatchedProcess& process : processes)
    if (process.port != 0) ports.try_emplace(process.port);
  const bool is_known = !ports.empty() && root.empty() && read_traffic(ports);
  for (const WatchedProcess& process : processes) {
    const std::string directory = root + "/proc/" + std::to_string(process.pid);
    CounterGroup group{"process", process.name, {}};
    if (!add_times(directory, process, group)) continue;
    add_switches(directory, group);
    if (is_known && process.port != 0) {
      const Traffic& traffic = ports.at(process.port);
      group.add("received_packets", traffic.received_packets);
      group.add("sent_packets", traffic.sent_packets);
      group.add("received_bytes", traffic.received_bytes);
      group.add("sent_bytes", traffic.sent_bytes);
    }
    groups.push_back(std::move(group));
  }
}

}  // namespace strider
