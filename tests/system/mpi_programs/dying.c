/* A rank dies at some moment of collective calls. The others get an error from the call in which they wait.
 *
 *   dying FILE MILLISECONDS atomic|default REPORT
 *
 * Rank 1 is killed so long after the file was opened. The others write REPORT.0, REPORT.2 and so on. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS = 20000, STEPS = 6, MICROSECONDS = 1000 };

static int rank, ranks;
static int mine[NUMBERS], found[NUMBERS];

static void require(int error, const char* what) {
  if (error == MPI_SUCCESS) return;
  fprintf(stderr, "rank %d: %s failed with code %d\n", rank, what, error);
  _exit(2);
}

static void* die(void* milliseconds) {
  usleep((useconds_t)(*(int*)milliseconds * MICROSECONDS));
  kill(getpid(), SIGKILL);
  return NULL;
}

static MPI_File open_file(const char* name, int is_atomic) {
  MPI_File f;
  MPI_Info hints;
  MPI_Datatype view;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "listio_rank_timeout", "2");
  MPI_Info_set(hints, "romio_cb_write", "enable");
  MPI_Info_set(hints, "romio_cb_read", "enable");
  require(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &f), "MPI_File_open");
  MPI_Info_free(&hints);
  require(MPI_File_set_atomicity(f, is_atomic), "MPI_File_set_atomicity");
  MPI_Type_create_resized(MPI_INT, 0, ranks * (MPI_Aint)sizeof(int), &view);
  MPI_Type_commit(&view);
  require(MPI_File_set_view(f, rank * (MPI_Offset)sizeof(int), MPI_INT, view, "native", MPI_INFO_NULL),
          "MPI_File_set_view");
  MPI_Type_free(&view);
  return f;
}

static int next_call(MPI_File f, int step) {
  MPI_Status status;
  int code;
  switch (step % STEPS) {
    case 0: return MPI_File_write_at_all(f, 0, mine, NUMBERS, MPI_INT, &status);
    case 1: return MPI_File_read_at_all(f, 0, found, NUMBERS, MPI_INT, &status);
    case 2: return MPI_File_write_ordered(f, mine, 100, MPI_INT, &status);
    case 3: return MPI_File_sync(f);
    case 4: return MPI_File_preallocate(f, 1000);
    default:
      code = MPI_File_write_at_all_begin(f, 0, mine, NUMBERS, MPI_INT);
      return code != MPI_SUCCESS ? code : MPI_File_write_at_all_end(f, mine, &status);
  }
}

/* Independent calls, and collective ones of a file of this rank alone, do not need the dead. */
static void go_on_alone(MPI_File f, const char* name) {
  MPI_Status status;
  MPI_File own;
  char own_name[4096];
  snprintf(own_name, sizeof own_name, "%s-%d", name, rank);
  require(MPI_File_write_at(f, 0, mine, 1, MPI_INT, &status), "MPI_File_write_at");
  require(MPI_File_open(MPI_COMM_SELF, own_name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &own),
          "MPI_File_open");
  require(MPI_File_write_at_all(own, 0, mine, 1, MPI_INT, &status), "MPI_File_write_at_all");
  require(MPI_File_close(&own), "MPI_File_close");
}

static void report(const char* prefix) {
  char name[4096];
  FILE* file;
  snprintf(name, sizeof name, "%s.%d", prefix, rank);
  file = fopen(name, "w");
  if (file == NULL || fclose(file) != 0) require(MPI_ERR_OTHER, name);
}

int main(int count, char** words) {
  int code = MPI_SUCCESS, error_class, milliseconds;
  pthread_t killer;
  MPI_File f;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  milliseconds = atoi(words[2]);
  f = open_file(words[1], strcmp(words[3], "atomic") == 0);
  if (rank == 1) pthread_create(&killer, NULL, die, &milliseconds);
  for (int step = 0; code == MPI_SUCCESS; step++) code = next_call(f, step);
  MPI_Error_class(code, &error_class);
  if (error_class != MPI_ERR_IO) require(code, "a collective call, not with MPI_ERR_IO,");
  if (MPI_File_sync(f) == MPI_SUCCESS) require(MPI_ERR_OTHER, "a later collective call");
  go_on_alone(f, words[1]);
  if (MPI_File_close(&f) == MPI_SUCCESS) require(MPI_ERR_OTHER, "MPI_File_close");
  report(words[4]);
  _exit(0); /* MPI_Finalize would wait for the dead */
}
