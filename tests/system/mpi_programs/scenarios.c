/* Runs scenarios of MPI-IO (mpi_scenarios.py), and writes what every call returned and read.
 *
 *   scenarios SCENARIOS TARGET REPORT
 *
 * A file NAME of a scenario is opened as TARGETNAME, so that TARGET is a prefix or a folder. Rank R writes REPORT.R:
 * records of seven 64-bit integers (scenario, step, call, error, moved, value, length), and `length` bytes of memory.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 8, MOST_RANKS = 16, MOST_NUMBERS = 4096 };
enum { ASK = -1, OFFSET = -2, OPEN = -3, OTHER = -4, CHANGED = -5 };

static FILE *input, *report;
static int rank, ranks;
static long long scenario, step;

static void fail(const char* format, ...) {
  va_list words;
  va_start(words, format);
  fprintf(stderr, "rank %d, scenario %lld, step %lld: ", rank, scenario, step);
  vfprintf(stderr, format, words);
  fprintf(stderr, "\n");
  va_end(words);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static const char* word(void) {
  static char text[64];
  if (fscanf(input, "%63s", text) != 1) fail("the scenarios end too early");
  return text;
}

static long long number(void) {
  char* end;
  const char* text = word();
  long long found = strtoll(text, &end, 10);
  if (*end != 0) fail("not a number: %s", text);
  return found;
}

/* --- datatypes ------------------------------------------------------------------------------------------------------
 */

struct numbers {
  int n;
  int narrow[MOST_NUMBERS];
  MPI_Aint wide[MOST_NUMBERS];
  MPI_Count large[MOST_NUMBERS];
};

static void put(struct numbers* list, long long value) {
  list->narrow[list->n] = (int)value;
  list->wide[list->n] = value;
  list->large[list->n++] = value;
}

static struct numbers* row(int n) {
  struct numbers* list = malloc(sizeof *list);
  list->n = 0;
  for (int i = 0; i < n; i++) put(list, number());
  return list;
}

static int order(void) { return strcmp(word(), "fortran") == 0 ? MPI_ORDER_FORTRAN : MPI_ORDER_C; }

static int distribution(void) {
  const char* name = word();
  return strcmp(name, "block") == 0    ? MPI_DISTRIBUTE_BLOCK
         : strcmp(name, "cyclic") == 0 ? MPI_DISTRIBUTE_CYCLIC
                                       : MPI_DISTRIBUTE_NONE;
}

#if MPI_VERSION >= 4
#define MAKE(narrow, large_) ((large) ? (large_) : (narrow))
#else
#define MAKE(narrow, large_) ((void)(large), (narrow))
#endif

static MPI_Datatype type(void);

static int is_named(MPI_Datatype t) {
  static const MPI_Datatype all[] = {MPI_BYTE,   MPI_SHORT,     MPI_INT,       MPI_FLOAT,
                                     MPI_DOUBLE, MPI_SHORT_INT, MPI_DOUBLE_INT};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i] == t) return 1;
  return 0;
}

static void drop(MPI_Datatype* t) {
  if (!is_named(*t)) MPI_Type_free(t);
}

static MPI_Datatype named(const char* name) {
  static const char* names[] = {"byte", "short", "int", "float", "double", "short_int", "double_int"};
  static const MPI_Datatype all[] = {MPI_BYTE,   MPI_SHORT,     MPI_INT,       MPI_FLOAT,
                                     MPI_DOUBLE, MPI_SHORT_INT, MPI_DOUBLE_INT};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (strcmp(names[i], name) == 0) return all[i];
  return MPI_DATATYPE_NULL;
}

static MPI_Datatype of_blocks(const char* name, int large) {
  MPI_Datatype made, parts[64];
  struct numbers *blocks, *places;
  int is_equal = strcmp(name, "indexed_block") == 0 || strcmp(name, "hindexed_block") == 0, block = 0, n, i, kinds = 1;
  if (is_equal) block = (int)number();
  n = (int)number();
  blocks = is_equal ? NULL : row(n);
  places = row(n);
  if (strcmp(name, "struct") == 0) kinds = n;
  for (i = 0; i < kinds; i++) parts[i] = type();
  if (strcmp(name, "indexed") == 0)
    MAKE(MPI_Type_indexed(n, blocks->narrow, places->narrow, parts[0], &made),
         MPI_Type_indexed_c(n, blocks->large, places->large, parts[0], &made));
  else if (strcmp(name, "hindexed") == 0)
    MAKE(MPI_Type_create_hindexed(n, blocks->narrow, places->wide, parts[0], &made),
         MPI_Type_create_hindexed_c(n, blocks->large, places->large, parts[0], &made));
  else if (strcmp(name, "indexed_block") == 0)
    MAKE(MPI_Type_create_indexed_block(n, block, places->narrow, parts[0], &made),
         MPI_Type_create_indexed_block_c(n, block, places->large, parts[0], &made));
  else if (strcmp(name, "hindexed_block") == 0)
    MAKE(MPI_Type_create_hindexed_block(n, block, places->wide, parts[0], &made),
         MPI_Type_create_hindexed_block_c(n, block, places->large, parts[0], &made));
  else
    MAKE(MPI_Type_create_struct(n, blocks->narrow, places->wide, parts, &made),
         MPI_Type_create_struct_c(n, blocks->large, places->large, parts, &made));
  for (i = 0; i < kinds; i++) drop(&parts[i]);
  free(blocks);
  free(places);
  return made;
}

static MPI_Datatype of_array(const char* name, int large) {
  MPI_Datatype made, part;
  if (strcmp(name, "subarray") == 0) {
    int n = (int)number();
    struct numbers *sizes = row(n), *lengths = row(n), *starts = row(n);
    int how = order();
    part = type();
    MAKE(MPI_Type_create_subarray(n, sizes->narrow, lengths->narrow, starts->narrow, how, part, &made),
         MPI_Type_create_subarray_c(n, sizes->large, lengths->large, starts->large, how, part, &made));
    free(sizes);
    free(lengths);
    free(starts);
  } else {
    int processes = (int)number(), own = (int)number(), n = (int)number(), kinds[8], i, how;
    struct numbers *sizes = row(n), *arguments, *grid;
    for (i = 0; i < n; i++) kinds[i] = distribution();
    arguments = row(n);
    for (i = 0; i < n; i++)
      if (arguments->narrow[i] == -1) arguments->narrow[i] = MPI_DISTRIBUTE_DFLT_DARG;
    grid = row(n);
    how = order();
    part = type();
    MAKE(MPI_Type_create_darray(processes, own, n, sizes->narrow, kinds, arguments->narrow, grid->narrow, how, part,
                                &made),
         MPI_Type_create_darray_c(processes, own, n, sizes->large, kinds, arguments->narrow, grid->narrow, how, part,
                                  &made));
    free(sizes);
    free(arguments);
    free(grid);
  }
  drop(&part);
  return made;
}

/* A derived type over one other, by up to three numbers. */
static MPI_Datatype of_numbers(const char* name, int large) {
  MPI_Datatype made = MPI_DATATYPE_NULL, part;
  long long a[3] = {0};
  int n = strcmp(name, "dup") == 0 ? 0 : strcmp(name, "contiguous") == 0 ? 1 : strcmp(name, "resized") == 0 ? 2 : 3;
  for (int i = 0; i < n; i++) a[i] = number();
  part = type();
  if (n == 0) MPI_Type_dup(part, &made);
  else if (n == 1) MAKE(MPI_Type_contiguous((int)a[0], part, &made), MPI_Type_contiguous_c(a[0], part, &made));
  else if (n == 2)
    MAKE(MPI_Type_create_resized(part, a[0], a[1], &made), MPI_Type_create_resized_c(part, a[0], a[1], &made));
  else if (strcmp(name, "vector") == 0)
    MAKE(MPI_Type_vector((int)a[0], (int)a[1], (int)a[2], part, &made),
         MPI_Type_vector_c(a[0], a[1], a[2], part, &made));
  else if (strcmp(name, "hvector") == 0)
    MAKE(MPI_Type_create_hvector((int)a[0], (int)a[1], a[2], part, &made),
         MPI_Type_create_hvector_c(a[0], a[1], a[2], part, &made));
  else fail("unknown type %s", name);
  drop(&part);
  return made;
}

static MPI_Datatype type(void) {
  char name[64];
  size_t length;
  int large;
  MPI_Datatype found;
  strcpy(name, word());
  found = named(name);
  if (found != MPI_DATATYPE_NULL) return found;
  length = strlen(name);
  large = length > 2 && strcmp(name + length - 2, "_c") == 0;
  if (large) name[length - 2] = 0;
  if (strstr(name, "indexed") != NULL || strcmp(name, "struct") == 0) return of_blocks(name, large);
  if (strcmp(name, "subarray") == 0 || strcmp(name, "darray") == 0) return of_array(name, large);
  return of_numbers(name, large);
}

/* A committed type, which has to be as the scenario says. */
static MPI_Datatype checked_type(void) {
  long long size = number(), lower = number(), extent = number();
  MPI_Datatype t = type();
  MPI_Aint lower_found, extent_found;
  int size_found;
  MPI_Type_size(t, &size_found);
  MPI_Type_get_extent(t, &lower_found, &extent_found);
  if (size != size_found || lower != lower_found || extent != extent_found)
    fail("a type has size %d, lower bound %ld, extent %ld in this MPI, not %lld, %lld, %lld", size_found,
         (long)lower_found, (long)extent_found, size, lower, extent);
  if (!is_named(t)) MPI_Type_commit(&t);
  return t;
}

/* --- access ---------------------------------------------------------------------------------------------------------
 */

struct call {
  MPI_Offset offset;
  int count, error;
  int64_t seed, bytes;
  unsigned char *memory, *address;
  MPI_Datatype type;
  MPI_Request request;
  MPI_Status status;
};

struct move {
  char pointer[16], how[16];
  int together, writes, large, n;
  struct call calls[MOST_CALLS];
};

static unsigned char pattern(int64_t seed, int64_t j) { return (unsigned char)(j * 31 + (j >> 8) * 7 + seed * 17); }

static void read_call(struct call* c) {
  int64_t low, high;
  memset(c, 0, sizeof *c);
  c->offset = number();
  c->count = (int)number();
  c->seed = number();
  low = number();
  high = number();
  c->bytes = high - low;
  c->memory = malloc((size_t)c->bytes + 1);
  for (int64_t j = 0; j < c->bytes; j++) c->memory[j] = pattern(c->seed, j);
  c->address = c->memory - low;
  c->type = checked_type();
  c->request = MPI_REQUEST_NULL;
}

#if MPI_VERSION >= 4
#define CALL(name, ...) (m->large ? MPI_File_##name##_c(__VA_ARGS__) : MPI_File_##name(__VA_ARGS__))
#else
#define CALL(name, ...) MPI_File_##name(__VA_ARGS__)
#endif
#define EACH(prefix, suffix, ...) \
  (m->writes ? CALL(prefix##write##suffix, __VA_ARGS__) : CALL(prefix##read##suffix, __VA_ARGS__))
#define MEMORY c->address, c->count, c->type

static int start_at(const struct move* m, MPI_File f, struct call* c) {
  if (strcmp(m->how, "split") == 0) return EACH(, _at_all_begin, f, c->offset, MEMORY);
  if (strcmp(m->how, "nonblocking") == 0)
    return m->together ? EACH(i, _at_all, f, c->offset, MEMORY, &c->request)
                       : EACH(i, _at, f, c->offset, MEMORY, &c->request);
  return m->together ? EACH(, _at_all, f, c->offset, MEMORY, &c->status)
                     : EACH(, _at, f, c->offset, MEMORY, &c->status);
}

static int start_own(const struct move* m, MPI_File f, struct call* c) {
  if (strcmp(m->how, "split") == 0) return EACH(, _all_begin, f, MEMORY);
  if (strcmp(m->how, "nonblocking") == 0)
    return m->together ? EACH(i, _all, f, MEMORY, &c->request) : EACH(i, , f, MEMORY, &c->request);
  return m->together ? EACH(, _all, f, MEMORY, &c->status) : EACH(, , f, MEMORY, &c->status);
}

static int start_shared(const struct move* m, MPI_File f, struct call* c) {
  if (strcmp(m->how, "split") == 0) return EACH(, _ordered_begin, f, MEMORY);
  if (strcmp(m->how, "nonblocking") == 0) return EACH(i, _shared, f, MEMORY, &c->request);
  return m->together ? EACH(, _ordered, f, MEMORY, &c->status) : EACH(, _shared, f, MEMORY, &c->status);
}

static int end_split(const struct move* m, MPI_File f, struct call* c) {
  void* b = c->address;
  if (strcmp(m->pointer, "explicit") == 0)
    return m->writes ? MPI_File_write_at_all_end(f, b, &c->status) : MPI_File_read_at_all_end(f, b, &c->status);
  if (strcmp(m->pointer, "own") == 0)
    return m->writes ? MPI_File_write_all_end(f, b, &c->status) : MPI_File_read_all_end(f, b, &c->status);
  return m->writes ? MPI_File_write_ordered_end(f, b, &c->status) : MPI_File_read_ordered_end(f, b, &c->status);
}

static void record(int64_t which, int64_t error, int64_t moved, int64_t value, const void* memory, int64_t length) {
  int64_t head[7] = {scenario, step, which, error, moved, value, length};
  fwrite(head, sizeof head, 1, report);
  if (length > 0) fwrite(memory, 1, (size_t)length, report);
}

static int class_of(int code) {
  int found = 0;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
  return found;
}

static void run_calls(struct move* m, MPI_File f) {
  int shared = strcmp(m->pointer, "shared") == 0, own = strcmp(m->pointer, "own") == 0, i;
  for (i = 0; i < m->n; i++) {
    struct call* c = &m->calls[i];
    c->error = shared ? start_shared(m, f, c) : own ? start_own(m, f, c) : start_at(m, f, c);
    if (strcmp(m->how, "split") == 0 && c->error == MPI_SUCCESS) c->error = end_split(m, f, c);
  }
  if (strcmp(m->how, "nonblocking") == 0) {
    MPI_Request requests[MOST_CALLS];
    MPI_Status statuses[MOST_CALLS];
    for (i = 0; i < m->n; i++) requests[i] = m->calls[i].request;
    if (MPI_Waitall(m->n, requests, statuses) == MPI_ERR_IN_STATUS)
      for (i = 0; i < m->n; i++) m->calls[i].error = statuses[i].MPI_ERROR;
    for (i = 0; i < m->n; i++) m->calls[i].status = statuses[i];
  }
}

static void report_calls(struct move* m, MPI_File f) {
  MPI_Offset place = 0;
  if (strcmp(m->pointer, "shared") == 0) MPI_File_get_position_shared(f, &place);
  else MPI_File_get_position(f, &place);
  for (int i = 0; i < m->n; i++) {
    struct call* c = &m->calls[i];
    int moved = 0;
    if (c->error == MPI_SUCCESS) MPI_Get_count(&c->status, MPI_BYTE, &moved);
    if (m->writes)
      for (int64_t j = 0; j < c->bytes; j++)
        if (c->memory[j] != pattern(c->seed, j)) {
          record(CHANGED, 0, i, j, NULL, 0);
          break;
        }
    record(i, class_of(c->error), moved, place, c->memory, m->writes ? 0 : c->bytes);
  }
}

static void move(MPI_File f) {
  static struct move all[MOST_RANKS];
  int takes_turns;
  strcpy(all[0].pointer, word());
  all[0].together = (int)number();
  strcpy(all[0].how, word());
  all[0].writes = (int)number();
  all[0].large = (int)number();
  for (int r = 0; r < ranks; r++) {
    all[r] = all[0];
    all[r].n = (int)number();
    for (int i = 0; i < all[r].n; i++) read_call(&all[r].calls[i]);
  }
  takes_turns = strcmp(all[0].pointer, "shared") == 0 && !all[0].together;
  for (int turn = 0; turn < (takes_turns ? ranks : 1); turn++) {
    if (!takes_turns || turn == rank) run_calls(&all[rank], f);
    if (takes_turns) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  report_calls(&all[rank], f);
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < all[r].n; i++) {
      free(all[r].calls[i].memory);
      drop(&all[r].calls[i].type);
    }
}

/* --- other steps ----------------------------------------------------------------------------------------------------
 */

static void require(int error, const char* what) {
  if (error != MPI_SUCCESS)
    record(OTHER, class_of(error), 0, 0, NULL, 0), fail("%s failed with class %d", what, class_of(error));
}

static void set_view(MPI_File f) {
  for (int r = 0; r < ranks; r++) {
    MPI_Offset displacement = number();
    MPI_Datatype etype = checked_type(), filetype = checked_type();
    if (r == rank)
      require(MPI_File_set_view(f, displacement, etype, filetype, "native", MPI_INFO_NULL), "MPI_File_set_view");
    drop(&etype);
    drop(&filetype);
  }
}

static void seek(MPI_File f) {
  const char* name = word();
  int whence = strcmp(name, "set") == 0 ? MPI_SEEK_SET : strcmp(name, "cur") == 0 ? MPI_SEEK_CUR : MPI_SEEK_END;
  for (int r = 0; r < ranks; r++) {
    MPI_Offset offset = number();
    if (r == rank) require(MPI_File_seek(f, offset, whence), "MPI_File_seek");
  }
}

static void synchronise(MPI_File f) {
  require(MPI_File_sync(f), "MPI_File_sync");
  MPI_Barrier(MPI_COMM_WORLD);
  require(MPI_File_sync(f), "MPI_File_sync");
}

static void ask(MPI_File f, MPI_Offset position) {
  MPI_Offset size = 0, end = 0, place = 0;
  require(MPI_File_get_size(f, &size), "MPI_File_get_size");
  require(MPI_File_get_byte_offset(f, position, &place), "MPI_File_get_byte_offset");
  require(MPI_File_seek(f, 0, MPI_SEEK_END), "MPI_File_seek");
  MPI_File_get_position(f, &end);
  record(ASK, 0, size, end, NULL, 0);
  record(OFFSET, 0, 0, place, NULL, 0);
}

static void command(MPI_File f, const char* name) {
  long long value = number();
  if (strcmp(name, "seek_shared") == 0) require(MPI_File_seek_shared(f, value, MPI_SEEK_SET), name);
  else if (strcmp(name, "set_size") == 0) require(MPI_File_set_size(f, value), name);
  else if (strcmp(name, "preallocate") == 0) require(MPI_File_preallocate(f, value), name);
  else if (strcmp(name, "atomicity") == 0) require(MPI_File_set_atomicity(f, (int)value), name);
  else if (strcmp(name, "sync") == 0) synchronise(f);
  else if (strcmp(name, "ask") == 0) ask(f, value);
  else fail("unknown step %s", name);
}

/* Prints whether the layer serves the file. */
static int is_by_layer(MPI_File f) {
  MPI_Info info;
  char value[64];
  int found = 0;
  MPI_File_get_info(f, &info);
  if (info == MPI_INFO_NULL) return 0;
  MPI_Info_get(info, "listio_layer", 63, value, &found);
  MPI_Info_free(&info);
  return found;
}

static void run_scenario(const char* target) {
  char name[512], next[64];
  MPI_File f;
  int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  step = -1;
  scenario = number();
  snprintf(name, sizeof name, "%s%s", target, word());
  if (number() != 0) mode |= MPI_MODE_APPEND;
  require(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &f), "MPI_File_open");
  record(OPEN, 0, 0, is_by_layer(f), NULL, 0);
  for (step = 0;; step++) {
    strcpy(next, word());
    if (strcmp(next, "end") == 0) break;
    if (strcmp(next, "view") == 0) set_view(f);
    else if (strcmp(next, "move") == 0) move(f);
    else if (strcmp(next, "seek") == 0) seek(f);
    else command(f, next);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  require(MPI_File_close(&f), "MPI_File_close");
}

int main(int count, char** words) {
  char name[512];
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count != 4 || ranks > MOST_RANKS)
    fail("usage: scenarios SCENARIOS TARGET REPORT, with at most %d ranks", MOST_RANKS);
  input = fopen(words[1], "r");
  snprintf(name, sizeof name, "%s.%d", words[3], rank);
  report = fopen(name, "wb");
  if (input == NULL || report == NULL) fail("%s or %s cannot be opened", words[1], name);
  while (fscanf(input, "%63s", name) == 1 && strcmp(name, "scenario") == 0) run_scenario(words[2]);
  fclose(report);
  MPI_Finalize();
  return 0;
}
