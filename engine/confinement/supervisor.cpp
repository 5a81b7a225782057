#include "confinement/supervisor.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "foundation/error.hpp"

namespace strider {
namespace {

constexpr int passed_on[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr int cannot_run = 126;  ///< as a shell says it

[[noreturn]] void become(const Supervised& work, const sigset_t& mask, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(cannot_run);  // it died before that call
  try {
    work.before_command();
  } catch (const IoError& error) {
    std::cerr << "strider-confine: " << error.details().call << ' ' << error.details().file << ": " << error.what()
              << '\n';
    ::_exit(cannot_run);
  }
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvp(work.command[0], work.command);
  std::cerr << "strider-confine: " << work.command[0] << ": " << std::generic_category().message(errno) << '\n';
  ::_exit(cannot_run);
}

[[noreturn]] void end_like(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);  // one core file is enough
  const int number = WTERMSIG(status);
  std::signal(number, SIG_DFL);
  sigset_t open;
  ::sigemptyset(&open);
  ::sigprocmask(SIG_SETMASK, &open, nullptr);
  ::raise(number);
  ::_exit(128 + number);
}

/// Whether the command has ended, with its status. Other children did errands.
bool reap(pid_t command, int& status) {
  int found = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, &found, WNOHANG)) > 0) {
    if (ended != command) continue;
    status = found;
    return true;
  }
  return false;
}

}  // namespace

void supervise(const Supervised& work) {
  sigset_t watched, before;
  ::sigemptyset(&watched);
  ::sigaddset(&watched, SIGCHLD);
  for (const int number : passed_on) ::sigaddset(&watched, number);
  ::sigprocmask(SIG_BLOCK, &watched, &before);
  std::signal(SIGCHLD, SIG_DFL);  // where it was ignored, children would leave no status
  const int signals = ::signalfd(-1, &watched, SFD_CLOEXEC);
  if (signals < 0) throw_errno("signalfd", "");
  const pid_t self = ::getpid();
  const pid_t command = ::fork();
  if (command < 0) throw_errno("fork", work.command[0]);
  if (command == 0) become(work, before, self);
  pollfd sources[] = {{signals, POLLIN, 0}, {work.watched, POLLIN, 0}};
  while (true) {
    if (::poll(sources, 2, -1) < 0) continue;
    if ((sources[1].revents & POLLIN) != 0) work.readable();
    signalfd_siginfo arrived{};
    if ((sources[0].revents & POLLIN) == 0 || ::read(signals, &arrived, sizeof arrived) != sizeof arrived) continue;
    int status = 0;
    if (arrived.ssi_signo != SIGCHLD) ::kill(command, static_cast<int>(arrived.ssi_signo));
    else if (reap(command, status)) end_like(status);
  }
}

}  // namespace strider
