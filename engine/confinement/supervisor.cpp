#include "confinement/supervisor.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "confinement/descendants.hpp"
#include "foundation/clock.hpp"
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

/// Ends a command whose caller has died: no other process would end a command that hangs.
class EndWithCaller {
 public:
  explicit EndWithCaller(pid_t caller) : caller_(caller) {}

  /// Time in milliseconds until `look` is due; -1: after a signal only.
  int due_ms() const {
    if (next_ns_ == 0) return -1;
    const std::int64_t left_ns = next_ns_ - static_cast<std::int64_t>(monotonic_ns());
    return static_cast<int>(std::max<std::int64_t>(0, left_ns) / 1'000'000 + 1);
  }

  /// Takes the next step, if it is due. The death of the caller has sent SIGTERM here, which is passed on.
  void look(pid_t command) {
    const auto now_ns = static_cast<std::int64_t>(monotonic_ns());
    if (next_ns_ == 0) {
      if (::getppid() != caller_) next_ns_ = now_ns + until_asked_again_ns;
    } else if (now_ns >= next_ns_) {
      if (asked_again_) kill_all(command);
      // MPICH's mpiexec loses a signal that arrives before it has started the ranks.
      ::kill(command, SIGTERM);
      asked_again_ = true;
      next_ns_ = now_ns + until_killed_ns;
    }
  }

 private:
  static constexpr std::int64_t until_asked_again_ns = 3'000'000'000, until_killed_ns = 2'000'000'000;

  static void kill_all(pid_t command) {
    kill_descendants(command);
    ::kill(command, SIGKILL);
  }

  pid_t caller_;
  bool asked_again_ = false;
  std::int64_t next_ns_ = 0;  ///< 0: the caller lives
};

}  // namespace

void supervise(const Supervised& work) {
  EndWithCaller end_with_caller(::getppid());
  sigset_t watched, before;
  ::sigemptyset(&watched);
  ::sigaddset(&watched, SIGCHLD);
  for (const int number : passed_on) ::sigaddset(&watched, number);
  ::sigprocmask(SIG_BLOCK, &watched, &before);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::signal(SIGCHLD, SIG_DFL);  // where it was ignored, children would leave no status
  const int signals = ::signalfd(-1, &watched, SFD_CLOEXEC);
  if (signals < 0) throw_errno("signalfd", "");
  const pid_t self = ::getpid();
  const pid_t command = ::fork();
  if (command < 0) throw_errno("fork", work.command[0]);
  if (command == 0) become(work, before, self);
  pollfd sources[] = {{signals, POLLIN, 0}, {work.watched, POLLIN, 0}};
  while (true) {
    const int ready = ::poll(sources, 2, end_with_caller.due_ms());
    end_with_caller.look(command);
    if (ready <= 0) continue;
    if ((sources[1].revents & POLLIN) != 0) work.readable();
    signalfd_siginfo arrived{};
    if ((sources[0].revents & POLLIN) == 0 || ::read(signals, &arrived, sizeof arrived) != sizeof arrived) continue;
    int status = 0;
    if (arrived.ssi_signo != SIGCHLD) ::kill(command, static_cast<int>(arrived.ssi_signo));
    else if (reap(command, status)) end_like(status);
  }
}

}  // namespace strider
