/* Preloaded into the ranks of a test: MPICH on UCX sleeps while it waits for a message.
 *
 * It spins otherwise, and where ranks outnumber processors keeps one from the very rank that it waits for until the kernel
 * takes it away, some milliseconds a message. Open MPI has a setting for this, mpi_yield_when_idle. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

typedef unsigned Progress(void *worker);

/* UCX's own. Behind this library for programs linked with MPI; Python loads MPI, and UCX with it, for itself alone. */
static Progress *ucx_progress(void) {
  void *next = dlsym(RTLD_NEXT, "ucp_worker_progress");
  if (next == NULL) next = dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
  return (Progress *)next;
}

enum { polls_before_sleep = 20, sleep_ns = 20000 };

unsigned ucp_worker_progress(void *worker) {
  static Progress *original;
  static __thread unsigned idle_polls;
  if (original == NULL) original = ucx_progress();
  const unsigned found = original(worker);
  idle_polls = found > 0 ? 0 : idle_polls + 1;
  if (idle_polls > polls_before_sleep) nanosleep(&(struct timespec){0, sleep_ns}, NULL);
  return found;
}
