/* Ranks that access the same bytes of a file, and the guarantees of MPI.
 *
 *   overlaps FILE TRIALS SEED
 *
 * A trial has one or two calls of each rank, through views of its own. Rank 0 compares the read data, and the
 * file, with a serial model. Prints a line for each kind of trial: its name, and the numbers of trials, of those where
 * calls conflict, and of those that nothing explains.
 *
 *   atomic     atomic mode, all ranks at once: as in some order of the calls, which keeps the order of each rank
 *   ordered    default mode, one call after the other, sync-barrier-sync between them: as in this order
 *   disjoint   default mode, all ranks at once, different bytes: all bytes are there
 *   undefined  default mode, all ranks at once, the same bytes: MPI promises nothing. It shows that the other kinds
 *              could fail here
 *
 * Ends with 1 if a trial of the first three kinds is wrong, and names it on standard error. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 8192, MOST_RANKS = 4, MOST_CALLS = 2 };
enum { ATOMIC, ORDERED, DISJOINT, UNDEFINED, KINDS };
enum { AT, POINTER, NONBLOCKING, AT_ALL, ALL, SPLIT, WAYS };

static const char* const kinds[KINDS] = {"atomic", "ordered", "disjoint", "undefined"};

struct view {
  int displacement, block, stride; /* blocks of data in the file */
};
struct call {
  int writes, offset, bytes, piece, gap; /* pieces of data in memory */
};

static int rank, ranks, calls, way;
static struct view views[MOST_RANKS];
static struct call all[MOST_RANKS][MOST_CALLS];
static unsigned char before[BYTES], after[BYTES], found[MOST_RANKS][MOST_CALLS][BYTES];
static uint64_t state;

static void require(int error, const char* what) {
  if (error == MPI_SUCCESS) return;
  fprintf(stderr, "rank %d: %s failed with code %d\n", rank, what, error);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The same numbers on all ranks. */
static int below(int end) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int)(state % (uint64_t)end);
}

/* --- trials ------------------------------------------------------------------------------------------------------- */

static unsigned char datum(int r, int number, int i) { return (unsigned char)(r * 61 + number * 29 + i * 3 + 1); }

static int place(const struct view* v, int i) { return v->displacement + i / v->block * v->stride + i % v->block; }

static int is_collective(void) { return way >= AT_ALL; }

/* Bytes of data in the view. */
static int data_of(const struct view* v) { return (BYTES - v->displacement) / v->stride * v->block; }

static void choose_views(int kind) {
  int block = 1 + below(300);
  for (int r = 0; r < ranks; r++) {
    struct view* v = &views[r];
    if (kind == DISJOINT) *v = (struct view){r * block, block, ranks * block};
    else {
      v->displacement = below(1000);
      v->block = 1 + below(400);
      v->stride = v->block + below(2) * below(400);
    }
  }
}

static void choose_call(int r, int number, int writes) {
  struct call* c = &all[r][number];
  int data = data_of(&views[r]);
  c->writes = writes;
  c->offset = below(data / 2);
  c->bytes = 1 + below(data - c->offset);
  c->piece = below(2) ? c->bytes : 1 + below(64);
  c->gap = 1 + below(5);
  c->bytes -= c->bytes % c->piece;
}

static void choose_calls(int kind) {
  choose_views(kind);
  way = below(WAYS);
  calls = 1 + below(MOST_CALLS);
  for (int number = 0; number < calls; number++) {
    int together = kind == DISJOINT || below(3) > 0;
    for (int r = 0; r < ranks; r++) choose_call(r, number, is_collective() || r == 0 ? together : below(3) > 0);
  }
}

/* Whether two ranks access a byte, which one of them writes. */
static int conflicts(void) {
  static unsigned char users[BYTES], writers[BYTES];
  memset(users, 0, sizeof users);
  memset(writers, 0, sizeof writers);
  for (int r = 0; r < ranks; r++)
    for (int number = 0; number < calls; number++) {
      const struct call* c = &all[r][number];
      for (int i = 0; i < c->bytes; i++) {
        int at = place(&views[r], c->offset + i);
        users[at] |= (unsigned char)(1 << r);
        if (c->writes) writers[at] |= (unsigned char)(1 << r);
      }
    }
  for (int at = 0; at < BYTES; at++)
    if (writers[at] != 0 && (users[at] & (users[at] - 1)) != 0) return 1;
  return 0;
}

/* --- the serial model --------------------------------------------------------------------------------------------- */

/* Executes a call on a file; returns whether a read returned the data of the file. */
static int apply(int r, int number, unsigned char* file) {
  const struct call* c = &all[r][number];
  for (int i = 0; i < c->bytes; i++) {
    unsigned char* byte = &file[place(&views[r], c->offset + i)];
    if (c->writes) *byte = datum(r, number, i);
    else if (*byte != found[r][number][i]) return 0;
  }
  return 1;
}

/* Whether some order of the calls that are not done explains all that was found. */
static int is_explained(const unsigned char* file, int* done) {
  unsigned char next[BYTES];
  int left = 0;
  for (int r = 0; r < ranks; r++) {
    if (done[r] == calls) continue;
    left = 1;
    memcpy(next, file, BYTES);
    if (!apply(r, done[r], next)) continue;
    done[r]++;
    if (is_explained(next, done)) return 1;
    done[r]--;
  }
  return !left && memcmp(file, after, BYTES) == 0;
}

static int is_explained_by_turns(const int* order) {
  for (int number = 0; number < calls; number++)
    for (int turn = 0; turn < ranks; turn++)
      if (!apply(order[turn], number, before)) return 0;
  return memcmp(before, after, BYTES) == 0;
}

/* --- MPI ---------------------------------------------------------------------------------------------------------- */

static void synchronise(MPI_File f) {
  require(MPI_File_sync(f), "MPI_File_sync");
  MPI_Barrier(MPI_COMM_WORLD);
  require(MPI_File_sync(f), "MPI_File_sync");
}

static MPI_Datatype blocks(int block, int extent) {
  MPI_Datatype part, made;
  MPI_Type_contiguous(block, MPI_BYTE, &part);
  MPI_Type_create_resized(part, 0, extent, &made);
  MPI_Type_commit(&made);
  MPI_Type_free(&part);
  return made;
}

static void set_view(MPI_File f, int displacement, int block, int stride) {
  MPI_Datatype type = blocks(block, stride);
  require(MPI_File_set_view(f, displacement, MPI_BYTE, type, "native", MPI_INFO_NULL), "MPI_File_set_view");
  MPI_Type_free(&type);
}

static int access_by(MPI_File f, int writes, int offset, void* memory, int count, MPI_Datatype type) {
  MPI_Request request;
  MPI_Status status;
  int error;
  switch (way) {
    case POINTER:
    case ALL: require(MPI_File_seek(f, offset, MPI_SEEK_SET), "MPI_File_seek");
  }
  switch (way) {
    case AT:
      return writes ? MPI_File_write_at(f, offset, memory, count, type, &status)
                    : MPI_File_read_at(f, offset, memory, count, type, &status);
    case POINTER:
      return writes ? MPI_File_write(f, memory, count, type, &status) : MPI_File_read(f, memory, count, type, &status);
    case NONBLOCKING:
      error = writes ? MPI_File_iwrite_at(f, offset, memory, count, type, &request)
                     : MPI_File_iread_at(f, offset, memory, count, type, &request);
      return error != MPI_SUCCESS ? error : MPI_Wait(&request, &status);
    case AT_ALL:
      return writes ? MPI_File_write_at_all(f, offset, memory, count, type, &status)
                    : MPI_File_read_at_all(f, offset, memory, count, type, &status);
    case ALL:
      return writes ? MPI_File_write_all(f, memory, count, type, &status)
                    : MPI_File_read_all(f, memory, count, type, &status);
    default:
      error = writes ? MPI_File_write_at_all_begin(f, offset, memory, count, type)
                     : MPI_File_read_at_all_begin(f, offset, memory, count, type);
      if (error != MPI_SUCCESS) return error;
      return writes ? MPI_File_write_at_all_end(f, memory, &status) : MPI_File_read_at_all_end(f, memory, &status);
  }
}

/* A call of this rank; with `takes_part` 0, one that moves nothing. */
static void run_call(MPI_File f, int number, int takes_part) {
  const struct call* c = &all[rank][number];
  int extent = c->piece + c->gap, pieces = c->bytes / c->piece;
  unsigned char* memory = calloc((size_t)(pieces * extent) + 1, 1);
  MPI_Datatype type = blocks(c->piece, extent);
  for (int i = 0; c->writes && i < c->bytes; i++)
    memory[i / c->piece * extent + i % c->piece] = datum(rank, number, i);
  require(access_by(f, c->writes, c->offset, memory, takes_part ? pieces : 0, type), "an access");
  for (int i = 0; takes_part && !c->writes && i < c->bytes; i++)
    found[rank][number][i] = memory[i / c->piece * extent + i % c->piece];
  MPI_Type_free(&type);
  free(memory);
}

static void run_calls(MPI_File f, int kind, const int* order) {
  for (int number = 0; number < calls; number++) {
    if (kind != ORDERED) {
      run_call(f, number, 1);
      continue;
    }
    for (int turn = 0; turn < ranks; turn++) {
      /* In a collective call the others give no bytes. Reads and writes are different calls. */
      if (order[turn] == rank || is_collective()) run_call(f, number, order[turn] == rank);
      synchronise(f);
    }
  }
}

static void set_hints(MPI_File f) {
  static const char* const methods[] = {"hybrid", "multiple", "pack", "gather"};
  static const char* const aggregations[] = {"automatic", "enable", "disable"};
  MPI_Info info;
  const char* aggregation = aggregations[below(3)];
  MPI_Info_create(&info);
  MPI_Info_set(info, "listio_method", methods[below(4)]);
  MPI_Info_set(info, "romio_cb_write", aggregation);
  MPI_Info_set(info, "romio_cb_read", aggregation);
  require(MPI_File_set_info(f, info), "MPI_File_set_info");
  MPI_Info_free(&info);
}

static void read_back(MPI_File f) {
  MPI_Status status;
  set_view(f, 0, 1, 1);
  if (rank == 0) require(MPI_File_read_at(f, 0, after, BYTES, MPI_BYTE, &status), "MPI_File_read_at");
  MPI_Gather(rank == 0 ? MPI_IN_PLACE : found[rank], (int)sizeof found[0], MPI_BYTE, found, (int)sizeof found[0],
             MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* On rank 0: whether the result is one that MPI allows. */
static int run_trial(MPI_File f, int kind) {
  int order[MOST_RANKS], done[MOST_RANKS] = {0}, first;
  choose_calls(kind);
  first = below(ranks);
  for (int turn = 0; turn < ranks; turn++) order[turn] = (first + turn) % ranks;
  set_hints(f);
  require(MPI_File_set_atomicity(f, kind == ATOMIC), "MPI_File_set_atomicity");
  set_view(f, views[rank].displacement, views[rank].block, views[rank].stride);
  MPI_Barrier(MPI_COMM_WORLD);
  run_calls(f, kind, order);
  synchronise(f);
  read_back(f);
  if (rank != 0) return 1;
  return kind == ORDERED ? is_explained_by_turns(order) : is_explained(before, done);
}

static void show_layer(MPI_File file) {
  MPI_Info info;
  char value[64];
  int found_layer = 0;
  MPI_File_get_info(file, &info);
  if (info != MPI_INFO_NULL) {
    MPI_Info_get(info, "listio_layer", 63, value, &found_layer);
    MPI_Info_free(&info);
  }
  if (rank == 0) printf("layer %d\n", found_layer);
}

int main(int count, char** words) {
  MPI_File f;
  int trials, wrong[KINDS] = {0}, conflicting[KINDS] = {0};
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count != 4 || ranks > MOST_RANKS) require(MPI_ERR_ARG, "overlaps FILE TRIALS SEED, on 1 to 4 ranks,");
  trials = atoi(words[2]);
  state = 88172645463325252U ^ (strtoull(words[3], NULL, 10) << 20);
  require(MPI_File_open(MPI_COMM_WORLD, words[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &f),
          "MPI_File_open");
  require(MPI_File_set_size(f, BYTES), "MPI_File_set_size");
  show_layer(f);
  for (int trial = 0; trial < trials; trial++)
    for (int kind = 0; kind < KINDS; kind++) {
      int right = run_trial(f, kind);
      conflicting[kind] += conflicts();
      wrong[kind] += !right;
      if (!right && kind != UNDEFINED) fprintf(stderr, "trial %d of seed %s: %s is wrong\n", trial, words[3], kinds[kind]);
      memcpy(before, after, BYTES);
    }
  require(MPI_File_close(&f), "MPI_File_close");
  for (int kind = 0; rank == 0 && kind < KINDS; kind++)
    printf("%s %d %d %d\n", kinds[kind], trials, conflicting[kind], wrong[kind]);
  MPI_Finalize();
  return rank == 0 && wrong[ATOMIC] + wrong[ORDERED] + wrong[DISJOINT] > 0;
}
