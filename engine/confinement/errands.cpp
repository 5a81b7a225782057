#include "confinement/errands.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <optional>

#include "foundation/error.hpp"
#include "foundation/whole_transfer.hpp"

namespace strider {
namespace {

constexpr std::size_t longest_request = 64, longest_answer = 1024;
constexpr unsigned patience_s = 10;  ///< for a request to arrive

const char* word_of(Errand errand) { return errand == Errand::remount ? "remount" : "drop_caches"; }

std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
  std::strcpy(address.sun_path, path.c_str());
  return address;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

/// Up to the end of the stream or of what is expected.
std::string receive_all(int connection, std::size_t most) {
  std::string text;
  read_to_end(connection, text, most);
  return text;
}

void send_all(int connection, const std::string& text) {
  transfer_whole(text.size(), [&](std::uint64_t done) {
    return moved_or_error(::send(connection, text.data() + done, text.size() - done, MSG_NOSIGNAL));
  });
}

bool is_from_this_user(int connection) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == ::geteuid();
}

/// The answer's lines: "done", or "refused" with message and remedy.
std::string answer(const std::string& request, const Errands& errands, const void* context) {
  const std::size_t space = request.find(' ');
  const std::string word = request.substr(0, space);
  for (const auto& [errand, action] : errands) {
    if (word != word_of(errand)) continue;
    try {
      action(context, space == std::string::npos ? "" : request.substr(space + 1));
      return "done\n\n\n";
    } catch (const IoError& error) {
      return "refused\n" + std::string(error.what()) + "\n" + error.remedy() + "\n";
    } catch (const std::exception& error) {
      return "refused\n" + std::string(error.what()) + "\n\n";
    }
  }
  return "refused\nunknown errand\n\n";
}

std::string take_line(std::string& text) {
  const std::size_t end = text.find('\n');
  const std::string line = text.substr(0, end);
  text.erase(0, end == std::string::npos ? end : end + 1);
  return line;
}

}  // namespace

ErrandResult ask_errand(const std::string& socket, Errand errand, const std::string& argument) {
  const auto address = address_of(socket);
  if (!address) return {};
  const Descriptor connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!connection || ::connect(connection.get(), generic(*address), sizeof *address) != 0) return {};
  send_all(connection.get(), word_of(errand) + (argument.empty() ? "" : " " + argument));
  ::shutdown(connection.get(), SHUT_WR);
  std::string text = receive_all(connection.get(), longest_answer);
  const std::string state = take_line(text);
  ErrandResult result{state == "done" ? ErrandResult::State::done : ErrandResult::State::refused, "", ""};
  result.message = text.empty() ? "the helper process outside of the confinement has ended" : take_line(text);
  result.remedy = take_line(text);
  return result;
}

ErrandSocket::ErrandSocket(const std::string& path) : descriptor_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  constexpr int most_waiting = 128;
  const auto address = address_of(path);
  if (!address) errno = ENAMETOOLONG;
  if (!descriptor_ || !address || ::bind(get(), generic(*address), sizeof *address) != 0 ||
      ::listen(get(), most_waiting) != 0)
    throw_errno("bind", path);
}

void ErrandSocket::serve(const Errands& errands, const void* context) const {
  const Descriptor connection(::accept4(get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection) return;
  // A remount takes up to minutes, and signals are to be passed on meanwhile.
  const pid_t child = is_from_this_user(connection.get()) ? ::fork() : -1;
  if (child != 0) return;
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::alarm(patience_s);
  const std::string request = receive_all(connection.get(), longest_request);
  ::alarm(0);
  send_all(connection.get(), answer(request, errands, context));
  ::_exit(0);
}

}  // namespace strider
