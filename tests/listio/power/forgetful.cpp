#include "power/forgetful.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "foundation/descriptor.hpp"

namespace strider::listio {

std::string Forgetful::command(const std::string& text) const {
  const Descriptor connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_.c_str(), sizeof address.sun_path - 1);
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot connect to " + socket_);
  const std::string line = text + "\n";
  if (::write(connection.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("cannot write to " + socket_);
  std::string answer(4096, 0);
  std::string all;
  for (ssize_t count = 0; (count = ::read(connection.get(), answer.data(), answer.size())) > 0;)
    all.append(answer, 0, static_cast<std::size_t>(count));
  if (!all.ends_with("ok\n")) throw std::runtime_error(text + ": " + all);
  return all;
}

}  // namespace strider::listio
