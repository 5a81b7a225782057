#include "ranks/interrupt.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>

namespace strider {
namespace {

// The only mutable globals: a signal handler can reach nothing else.
std::atomic<bool> interrupt_seen{false};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<int> foreign_signal{0};       // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<int> foreign_sender{0};       // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler sets them");

void note_interrupt(int number, siginfo_t* info, void*) {
  if (info->si_code <= 0 && info->si_pid != ::getppid()) {  // the launcher is the parent
    foreign_sender = info->si_pid;
    foreign_signal = number;
  }
  interrupt_seen = true;
}

}  // namespace

void note_interrupts() {
  struct sigaction action{};
  action.sa_sigaction = note_interrupt;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

void watch_for_interrupts() {
  note_interrupts();
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not become larger is an error of the call
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void note_end_of_run() { interrupt_seen = true; }

bool interrupted() { return interrupt_seen; }

std::string foreign_interrupt() {
  const int number = foreign_signal;
  if (number == 0) return "";
  return std::string(number == SIGINT ? "SIGINT" : "SIGTERM") + " from process " + std::to_string(foreign_sender);
}

}  // namespace strider
