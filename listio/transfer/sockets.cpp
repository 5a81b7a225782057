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
#include <memory>
#include <system_error>

#include "foundation/error.hpp"

namespace strider::listio {
namespace {

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

[[noreturn]] void refuse(const char* call, const std::string& where, const std::string& why) {
  throw IoError({call, where}, where + ": " + why,
                "check that the server runs and that its host and port can be reached");
}

/// host:port, and [host]:port for IPv6.
Addresses resolve(const std::string& where, int flags) {
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == where.size())
    throw InputError("address", "'" + where + "' is not an address", "write host:port, such as 127.0.0.1:0");
  std::string host = where.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  const int failed = ::getaddrinfo(host.c_str(), where.c_str() + colon + 1, &hints, &found);
  if (failed != 0)
    throw InputError("address", "'" + where + "': " + ::gai_strerror(failed), "write host:port, such as 127.0.0.1:0");
  return {found, ::freeaddrinfo};
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
  const Addresses addresses = resolve(where, AI_PASSIVE);
  Descriptor socket(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  if (socket && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      ::bind(socket.get(), addresses->ai_addr, addresses->ai_addrlen) == 0 && ::listen(socket.get(), SOMAXCONN) == 0)
    return socket;
  throw InputError("listen", "cannot listen on " + where + ": " + std::generic_category().message(errno),
                   "choose an address of this host and a free port, or port 0 for any");
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
  const Addresses addresses = resolve(where, 0);
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
