#include "ranks/interrupt.hpp"

#include <signal.h>
#include <sys/prctl.h>

#include <atomic>

namespace strider {
namespace {

// The one mutable global: a signal handler can reach nothing else.
std::atomic<bool> interrupt_seen{false};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void note_interrupt(int) { interrupt_seen = true; }

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

void note_end_of_run() { interrupt_seen = true; }

bool interrupted() { return interrupt_seen; }

}  // namespace strider
