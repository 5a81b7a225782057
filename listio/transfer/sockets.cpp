#include "listio/transfer/sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "foundation/error.hpp"

namespace strider::listio {
namespace {

/// Of the name of an address to listen on.
constexpr std::chrono::seconds longest_look_up{10}, longest_port_wait{5};
constexpr std::chrono::milliseconds port_pause{100};

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

[[noreturn]] void refuse(const char* call, const std::string& where, const std::string& why) {
  throw IoError({call, where}, where + ": " + why,
                "check that the server runs and that its host and port can be reached");
}

/// The answer of getaddrinfo, and the thread that waits for it: the call has no time limit of its own.
struct Answer {
  std::mutex mutex;
  std::condition_variable arrived;
  bool done = false;
  int failed = 0;
  Addresses addresses{nullptr, ::freeaddrinfo};
};

/// 0 with the addresses, or the error number of getaddrinfo; nothing if it has not answered by the deadline. Its thread
/// ends later, with what it found.
std::optional<int> ask_resolver(const std::string& host, const std::string& port, const addrinfo& hints,
                                const Deadline& deadline, Addresses& found) {
  const auto answer = std::make_shared<Answer>();
  std::thread([answer, host, port, hints] {
    addrinfo* all = nullptr;
    const int failed = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &all);
    const std::lock_guard lock(answer->mutex);
    answer->failed = failed;
    if (failed == 0) answer->addresses.reset(all);
    answer->done = true;
    answer->arrived.notify_one();
  }).detach();
  std::unique_lock lock(answer->mutex);
  if (!answer->arrived.wait_until(lock, deadline, [&] { return answer->done; })) return std::nullopt;
  found = std::move(answer->addresses);
  return answer->failed;
}

/// An address in numbers needs no resolver, and no thread.
std::optional<int> look_up(const std::string& host, const std::string& port, addrinfo hints, const Deadline& deadline,
                           Addresses& found) {
  addrinfo numeric = hints, *all = nullptr;
  numeric.ai_flags |= AI_NUMERICHOST;
  if (::getaddrinfo(host.c_str(), port.c_str(), &numeric, &all) == 0) {
    found.reset(all);
    return 0;
  }
  return ask_resolver(host, port, hints, deadline, found);
}

/// host:port, and [host]:port for IPv6.
Addresses resolve(const std::string& where, int flags, const Deadline& deadline) {
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == where.size())
    throw InputError("address", "'" + where + "' is not an address", "write host:port, such as 127.0.0.1:0");
  std::string host = where.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  Addresses found{nullptr, ::freeaddrinfo};
  const std::optional<int> failed = look_up(host, where.substr(colon + 1), hints, deadline, found);
  if (!failed)
    throw IoError({"getaddrinfo", where}, where + ": the name service did not answer for " + host + " in time",
                  "check /etc/resolv.conf and the name servers of this host, or write the address in numbers");
  if (*failed != 0)
    throw InputError("address", "'" + where + "': " + ::gai_strerror(*failed), "write host:port, such as 127.0.0.1:0");
  return found;
}

/// 0, or the error number.
int connect_one(int socket, const addrinfo& address, const Deadline& deadline) {
  if (::connect(socket, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd wanted{socket, POLLOUT, 0};
  while (::poll(&wanted, 1, static_cast<int>(until(deadline).count())) <= 0)
    if (has_passed(deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

}  // namespace

Descriptor listen_on(const std::string& where) {
  const Addresses addresses = resolve(where, AI_PASSIVE, std::chrono::steady_clock::now() + longest_look_up);
  // Of a server that is started again, a connection of this host may have the port for a moment.
  for (const Deadline deadline = in(longest_port_wait);; std::this_thread::sleep_for(port_pause)) {
    Descriptor socket(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int yes = 1;
    if (socket && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        ::bind(socket.get(), addresses->ai_addr, addresses->ai_addrlen) == 0 && ::listen(socket.get(), SOMAXCONN) == 0)
      return socket;
    if (errno != EADDRINUSE || has_passed(deadline))
      throw InputError("listen", "cannot listen on " + where + ": " + std::generic_category().message(errno),
                       "choose an address of this host and a free port, or port 0 for any");
  }
}

std::string address_of(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::system_error(errno, std::generic_category(), "getsockname");
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const int failed = ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host.data(), host.size(),
                                   port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  if (failed != 0) throw std::system_error(EINVAL, std::generic_category(), ::gai_strerror(failed));
  const std::string name = host.data();
  return (name.find(':') == std::string::npos ? name : "[" + name + "]") + ":" + port.data();
}

Descriptor connect_to(const std::string& where, const Deadline& deadline) {
  const Addresses addresses = resolve(where, 0, deadline);
  int error = 0;
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    Descriptor socket(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) throw std::system_error(errno, std::generic_category(), "socket");
    error = connect_one(socket.get(), *each, deadline);
    if (error == 0) return socket;
  }
  refuse("connect", where, std::generic_category().message(error));
}

void tune(int socket) {
  const int yes = 1, idle_s = 3, interval_s = 1, probes = 5;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

bool host_is_gone(int socket) {
  constexpr unsigned most_silence_ms = 8000;
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  return info.tcpi_retransmits > 0 && info.tcpi_probes == 0 && info.tcpi_last_ack_recv > most_silence_ms;
}

}  // namespace strider::listio
