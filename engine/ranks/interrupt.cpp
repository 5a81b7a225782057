#include "ranks/interrupt.hpp"

#include <signal.h>
#include <sys/prctl.h>

namespace strider {
namespace {

// The one mutable global: a signal handler can reach nothing else.
volatile sig_atomic_t interrupt_seen = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void note_interrupt(int) { interrupt_seen = 1; }

}  // namespace

void note_interrupts() {
  struct sigaction action{};
  action.sa_handler = note_interrupt;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

void watch_for_interrupts() {
  note_interrupts();
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not become larger is an error of the call
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

bool interrupted() { return interrupt_seen != 0; }

}  // namespace strider
