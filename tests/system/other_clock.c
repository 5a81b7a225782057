/* Preloaded into the ranks of a test: makes one machine stand in for several with clocks of their own.
 *
 * Ranks 0 .. n-1 are the first node, the next n the second one and so on (OTHER_CLOCK_RANKS_PER_NODE). On node k the monotonic
 * clock is k * OTHER_CLOCK_SHIFT seconds ahead and runs k * OTHER_CLOCK_DRIFT seconds too fast in each second since
 * OTHER_CLOCK_SINCE, its time of day is k * OTHER_CLOCK_DAY seconds ahead, and the host is called nodek. A reading takes OTHER_CLOCK_DELAY seconds; message number OTHER_CLOCK_HANGS_AT
 * with which the ranks of nodes other than the first compare clocks is never sent. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double number(const char *name) {
  const char *text = getenv(name);
  return text != NULL ? atof(text) : 0;
}

/* Counted from 0; -1 in a process that is no rank. */
static int node(void) {
  static int known = -2;
  if (known != -2) return known;
  const char *rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  const double ranks = number("OTHER_CLOCK_RANKS_PER_NODE");
  known = rank != NULL && ranks >= 1 ? atoi(rank) / (int)ranks : -1;
  return known;
}

static double seconds(const struct timespec *time) { return (double)time->tv_sec + 1e-9 * (double)time->tv_nsec; }

int clock_gettime(clockid_t clock, struct timespec *time) {
  const int failed = (int)syscall(SYS_clock_gettime, clock, time);
  if (failed == 0 && clock == CLOCK_REALTIME && node() > 0) time->tv_sec += (time_t)(node() * number("OTHER_CLOCK_DAY"));
  if (failed != 0 || clock != CLOCK_MONOTONIC || node() < 0) return failed;
  const double delay = number("OTHER_CLOCK_DELAY");
  if (delay > 0) usleep((useconds_t)(delay * 1e6));
  if (node() == 0) return 0;
  const double since = seconds(time) - number("OTHER_CLOCK_SINCE");
  const double ahead = node() * (number("OTHER_CLOCK_SHIFT") + number("OTHER_CLOCK_DRIFT") * since);
  const int64_t ns = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + (int64_t)(ahead * 1e9);
  time->tv_sec = (time_t)(ns / 1000000000);
  time->tv_nsec = (long)(ns % 1000000000);
  return 0;
}

int gethostname(char *name, size_t size) {
  if (node() < 0) {
    int (*original)(char *, size_t) = (int (*)(char *, size_t))dlsym(RTLD_NEXT, "gethostname");
    return original(name, size);
  }
  snprintf(name, size, "node%d", node());
  return 0;
}

/* Handles are integers in some MPIs and pointers in others; in registers both are alike. */
int PMPI_Isend(const void *data, int count, intptr_t type, int to, int tag, intptr_t communicator, void *request);
int MPI_Isend(const void *data, int count, intptr_t type, int to, int tag, intptr_t communicator, void *request) {
  static const int clock_tag = 912;
  static double compared = 0;
  const char *hangs_at = getenv("OTHER_CLOCK_HANGS_AT");
  if (node() > 0 && tag == clock_tag && hangs_at != NULL && compared++ >= atof(hangs_at)) pause();
  return PMPI_Isend(data, count, type, to, tag, communicator, request);
}
